package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

// plan is what a call does: what was asked, and what follows from it, from the task, and from what the Restorer keeps.
type plan struct {
	task       task
	asked      request
	device     backend.Device
	kept       *networks.Kept
	choice     *networks.Choice
	coarse     func() (*networks.Choice, error) // the denoiser for coarse noise; nil: choice
	mosaic     func() (*networks.Choice, error) // that for mosaics; nil: choice
	sigma      float64
	sigmaGiven bool
	boundary   deblur.Boundary
}

// choosing are the options that choose a denoiser: if a call has one, those of New do not count.
var choosing = []string{"Method", "Weights", "Network", "Prior", "PriorFunc", "AveragedPriorFunc"}

// plan makes the plan of a call with the Restorer's options and its own.
func (r *Restorer) plan(t task, options []Option) (plan, error) {
	c := r.defaults
	if slices.ContainsFunc(options, func(o Option) bool { return o != nil && slices.Contains(choosing, o.name()) }) {
		c.method, c.weights, c.network, c.coarse, c.prior = "", nil, nil, nil, nil
	}
	if err := c.apply(options); err != nil {
		return plan{}, err
	}
	if err := t.check(options); err != nil {
		return plan{}, err
	}
	p := plan{task: t, asked: c, device: r.device, kept: &r.kept, sigma: c.sigma, sigmaGiven: c.sigmaGiven, boundary: c.boundary}
	switch {
	case (t == taskInpaint || t == taskSolve) && !c.sigmaAsked: // exact measurements
		p.sigma, p.sigmaGiven = 0, true
	case t == taskUpscale && !c.beyond:
		p.boundary = deblur.Reflect
	}
	if err := p.choose(); err != nil {
		return plan{}, err
	}
	switch {
	case t != taskDeblur || p.choice.Guided():
	case c.domain == linearLight:
		return plan{}, &OptionError{Option: "LinearLight", Value: p.choice.Method, Want: "a network with a guide"}
	default:
		p.asked.domain = storedSamples
	}
	return p, nil
}

// choose chooses the denoiser: the one that was asked for, or that of the task. It returns an error unless method and
// weights fit each other.
func (p *plan) choose() error {
	c := &p.asked
	p.choice = p.network(c.network, c.weights)
	p.choice.Method = c.method
	if c.prior != nil && p.task != taskCheck {
		return p.choosePrior()
	}
	p.device = p.choice.Device(p.device)
	if c.coarse != nil {
		p.coarse = func() (*networks.Choice, error) { return p.choiceOf(c.coarse) }
	}
	card, given, err := p.choice.Card()
	switch {
	case err != nil:
		return err
	case given:
		method, err := networks.MethodOf(card)
		if err != nil {
			return err
		}
		if c.method != "" && c.method != method {
			return fmt.Errorf("restore: %w %q for the weights %q, which are of method %q", ErrMethod, c.method, card.Name, method)
		}
		p.choice.Method = method
		return nil
	case c.method == "":
		p.choice.Method = p.task.method()
		if c.coarse == nil && slices.Contains(weights.Embedded(), weights.Camera) {
			p.coarse = func() (*networks.Choice, error) { return p.embedded(weights.Camera) }
		}
		if slices.Contains(weights.Embedded(), weights.Raw) {
			p.mosaic = func() (*networks.Choice, error) { return p.embedded(weights.Raw) }
		}
	}
	switch method := p.choice.Method; {
	case method == networks.TV:
		return nil
	case !slices.Contains(weights.Embedded(), method):
		return fmt.Errorf("restore: method %q: %w; give some (Weights), or use method %q", method, errNoWeights, p.task.method())
	default:
		p.choice, err = p.embedded(method)
		return err
	}
}

// network is the choice of a network or a weight file.
func (p *plan) network(n *denoise.Network, f *weights.File) *networks.Choice {
	return &networks.Choice{
		Loaded: n, File: f, Tile: p.asked.tile, Kept: p.kept,
		Prove: p.task == taskCheck, // what Check says of a network it has proven itself
	}
}

// embedded is the choice of the embedded network of a method.
func (p *plan) embedded(method string) (*networks.Choice, error) {
	f, err := p.kept.Open(method)
	if err != nil {
		return nil, fmt.Errorf("restore: method %q: %w", method, err)
	}
	c := p.network(nil, f)
	c.Method = method
	return c, nil
}

// choiceOf is the choice of a network that the caller has loaded.
func (p *plan) choiceOf(n *denoise.Network) (*networks.Choice, error) {
	c := p.network(n, nil)
	card, _, err := c.Card()
	if err == nil {
		c.Method, err = networks.MethodOf(card)
	}
	return c, err
}

// method is the one that a task uses where none is named.
func (t task) method() string {
	switch t {
	case taskDenoise, taskDenoiseRaw:
		return networks.DefaultMethod()
	default:
		return networks.DefaultPrior()
	}
}

// choosePrior chooses a denoiser of the caller's own. It returns an error where something is chosen besides it, or said
// of its strength.
func (p *plan) choosePrior() error {
	c := &p.asked
	for _, other := range []struct {
		option string
		given  bool
	}{
		{"Method", c.method != ""}, {"Weights", c.weights != nil}, {"Network", c.network != nil}, {"Strength", c.strength != 1},
	} {
		if other.given {
			return &OptionError{Option: other.option, Task: string(p.task) + " with a Prior", Want: "the methods of the library"}
		}
	}
	p.choice = &networks.Choice{Method: networks.Own, Prior: c.prior}
	if own, ok := c.prior.(*hostPrior); ok {
		onDevice := *own
		onDevice.dev = p.device
		p.choice.Prior = &onDevice
	}
	return nil
}

// hostPrior is a function as a denoiser on a device.
type hostPrior struct {
	f      func(ctx context.Context, dst, src *Planar) error
	alpha  float64
	proven bool
	dev    backend.Device
}

func (p *hostPrior) Averagedness() (alpha float64, proven bool) { return p.alpha, p.proven }

func (p *hostPrior) Apply(ctx context.Context, dst, src backend.Buffer) error {
	s := src.Shape()
	from, to := NewPlanar(s.C, s.H, s.W), NewPlanar(s.C, s.H, s.W)
	if err := p.dev.Download(from.Pix, src); err != nil {
		return err
	}
	if err := p.f(ctx, to, from); err != nil {
		return err
	}
	if err := to.Check(); err != nil {
		return fmt.Errorf("restore: the result of the prior: %v", err) // no ErrImage: the caller's image is another one
	}
	return p.dev.Upload(dst, to.Pix)
}

// iteration are the options of an iteration.
func (p *plan) iteration() inverse.Options {
	c := &p.asked
	return inverse.Options{
		Strength: c.strength, Iterations: c.iterations, Tolerance: c.tolerance, Step: c.step, Constraint: c.constraint,
		Contraction: c.pull, Progress: p.asked.progress,
	}
}

// denoising is the job of Denoise.
func (p *plan) denoising() denoising.Job {
	c := &p.asked
	return denoising.Job{
		Device: p.device, Choice: p.choice, Coarse: p.coarse, Strength: c.strength, Adapt: c.adapt, Shadows: c.shadows,
		Iterations: c.iterations, Tolerance: c.tolerance, Progress: p.asked.progress,
	}
}

// deblurring is the job of Deblur.
func (p *plan) deblurring() deblurring.Job {
	return deblurring.Job{
		Options: p.iteration(), Device: p.device, Choice: p.choice, Adapt: p.asked.adapt, Boundary: p.boundary,
		Start: p.asked.start,
	}
}

// measuring finds the noise of an image.
type measuring func(denoising.Meter, context.Context, *imageplanes.Planes) (outcome.Estimate, error)

// underBlur measures the noise of a blurred image.
func underBlur(b deblurring.Blur) measuring {
	return func(m denoising.Meter, ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
		return b.Noise(ctx, p, m.Device.Description().Threads)
	}
}

// findNoise puts the noise level that was given, or the estimate, into the report; where there is neither, measure finds
// it in p.
func (p *plan) findNoise(ctx context.Context, report *outcome.Report, seen *imageplanes.Planes, measure measuring) error {
	noise := &report.Noise
	noise.Sigma = p.sigma
	if p.sigmaGiven {
		noise.Given = p.sigma
		return nil
	}
	var e outcome.Estimate
	if known := p.asked.noise; known != nil {
		e = known.inside()
	} else {
		var err error
		if e, err = measure(denoising.Meter{Kept: p.kept, Device: p.device}, ctx, seen); err != nil {
			return err
		}
	}
	if least := strength.CodingLevel(p.asked.compressed.Noise); p.task == taskUpscale && e.Sigma < least {
		e = outcome.Estimate{Kind: outcome.WhiteNoise, Sigma: least, Reliable: true}
	}
	noise.Sigma, noise.Estimate = e.Sigma, &e
	if !e.Reliable && e.Note != "" {
		report.Doubts = append(report.Doubts, outcome.Doubt{Kind: outcome.NoiseDoubt, Text: "sigma: " + e.Note})
	}
	return nil
}

// task is what a call is to do: the name of its function.
type task string

const (
	taskDenoise task = "Denoise"
	taskDeblur  task = "Deblur"
	taskInpaint task = "Inpaint"
	taskUpscale task = "Upscale"
	taskSolve   task = "Solve"
	taskCheck   task = "Check"
	// taskDenoiseRaw measures the noise by itself.
	taskDenoiseRaw task = "DenoiseRaw"
	// taskEstimateKernel has an option of its own, and few of the others.
	taskEstimateKernel task = "EstimateKernel"
	// taskNew is not one: the options that concern what a Restorer keeps.
	taskNew task = "New"
)

// belongs says which tasks an option belongs to; those that it does not list belong to all.
var belongs = map[string][]task{
	"Tolerance":         {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve, taskDenoiseRaw},
	"Sigma":             {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck},
	"SigmaAuto":         {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskCheck},
	"Noise":             {taskDenoise},
	"Adaptation":        {taskDenoise, taskDeblur},
	"CoarseNetwork":     {taskDenoise},
	"Shadows":           {taskDenoise},
	"Prior":             {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"PriorFunc":         {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"AveragedPriorFunc": {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"StepSize":          {taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck},
	"Constraint":        {taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck},
	"Contraction":       {taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"Boundary":          {taskDeblur, taskInpaint, taskUpscale, taskCheck},
	"Kernel":            {taskInpaint, taskUpscale},
	"Compressed":        {taskDeblur, taskInpaint, taskUpscale},
	"LinearLight":       {taskDeblur},
	"StoredSamples":     {taskDeblur},
	"Antialias":         {taskUpscale},
	"Device":            {taskNew},
	"Threads":           {taskNew},
	"MemoryLimit":       {taskNew},
	"KernelSize":        {taskEstimateKernel},
}

// check returns an *OptionError about the first option that does not belong to one of the
// tasks.
func (t task) check(options []Option, besides ...task) error {
	for _, o := range options {
		if o == nil {
			continue
		}
		of, some := belongs[o.name()]
		if !some || slices.Contains(of, t) || slices.ContainsFunc(besides, func(b task) bool { return slices.Contains(of, b) }) {
			continue
		}
		var names []string
		for _, t := range of {
			names = append(names, string(t))
		}
		return &OptionError{Option: o.name(), Want: strings.Join(names, ", "), Task: string(t)}
	}
	return nil
}
