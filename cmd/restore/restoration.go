package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// restoration holds the flags that denoise, deblur and check share, about the
// computation.
type restoration struct {
	sigma      sigmaFlag
	method     string
	flag       string // what the flag of method is called: --method or --prior
	weights    string // file of a network; empty for total variation and embedded ones
	strength   float64
	iterations int
	tolerance  float64
	pull       float64 // --contraction
	tile       string
	computing

	side        int              // of a tile, 0: automatic
	network     *denoise.Network // once loaded, nil for total variation
	uncertified bool             // the network is to be as its weights say, without a proof
	prove       bool             // the certificate of embedded weights too
}

func (r *restoration) bind(c *cobra.Command, flag, tolerance string) {
	f := c.Flags()
	r.sigma = sigmaFlag{auto: true}
	f.Var(&r.sigma, "sigma", "standard deviation of the noise, where 1 is white; 25/255 works too; auto: estimated from the image")
	r.flag = flag
	f.StringVar(&r.method, flag, r.defaultMethod(), "use the denoiser `NAME`: "+methodNames()+"; 'restore info' describes them")
	// Both commands take the name of the other for it.
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "prior" || name == "method" {
			name = flag
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&r.weights, "weights", "", "weight `FILE` (safetensors) of a network, in place of embedded ones; --"+flag+" then need not be given")
	f.Float64Var(&r.strength, "strength", 1, "multiply the strength that follows from sigma by `FACTOR`; above 1 smooths more.\nA network takes out noise of FACTOR·sigma, in an iteration FACTOR times what that needs")
	f.IntVar(&r.iterations, "iterations", 0, "stop after `N` iterations in any case; 0: the method's own limit")
	f.Float64Var(&r.tolerance, "tolerance", 0, "stop at `T`, "+tolerance)
	f.StringVar(&r.tile, "tile", "auto", "compute networks in tiles of `SIDE` pixels, or auto; the result does not depend on it. Total variation is not tiled")
	r.computing.bind(c)
	completeMethod(c, flag, restore.Methods())
	if err := c.MarkFlagFilename("weights", "safetensors"); err != nil {
		panic(err) // the flag was not defined: a mistake in this program, found by any test
	}
}

// completeMethod lets the shell complete the names of methods, with what they are.
func completeMethod(c *cobra.Command, flag string, methods []restore.Method) {
	var words []cobra.Completion
	for _, m := range methods {
		words = append(words, cobra.CompletionWithDesc(m.Name, m.Description))
	}
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // as above
	}
}

func methodNames() string {
	var names []string
	for _, m := range restore.Methods() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// settings checks the flags and turns them into options of package restore.
func (r *restoration) settings(a *app, c *cobra.Command) ([]restore.Option, error) {
	if err := r.checkMethod(c); err != nil {
		return nil, err
	}
	if r.tile != "auto" {
		n, err := strconv.ParseUint(r.tile, 10, 20)
		if err != nil || n < 1 {
			return nil, usagef("--tile %s: want auto, or a number of pixels from 1 to %d", oneLine(r.tile), 1<<20-1)
		}
		r.side = int(n)
		if !r.isNetwork() {
			a.note("note: --tile %s has no effect: total variation couples every pixel of the image with every other, so it is computed as a whole", r.tile)
		}
	}
	var opts []restore.Option
	if r.sigma.given {
		opts = append(opts, restore.Sigma(r.sigma.value))
	}
	const mostStrength = 1e6 // of any sigma it leaves a uniform image
	if !(r.strength > 0 && r.strength <= mostStrength) {
		return nil, usagef("--strength %v: want a number above 0, at most %.0e", r.strength, mostStrength)
	}
	opts = append(opts, restore.Strength(r.strength))
	if r.iterations < 0 {
		return nil, usagef("--iterations %d: want 1 or more, or 0 for the method's own limit", r.iterations)
	}
	if r.iterations > 0 {
		opts = append(opts, restore.Iterations(r.iterations))
	}
	if c.Flags().Changed("tolerance") {
		if !(r.tolerance > 0 && r.tolerance < 1) {
			return nil, usagef("--tolerance %v: want a number between 0 and 1", r.tolerance)
		}
		opts = append(opts, restore.Tolerance(r.tolerance))
	}
	if f := c.Flags().Lookup("contraction"); f != nil && f.Changed {
		if !(r.pull > 0 && r.pull < 1) {
			return nil, usagef("--contraction %v: want a number between 0 and 1, such as 0.98", r.pull)
		}
		opts = append(opts, restore.Contraction(r.pull))
	}
	return opts, nil
}

// checkMethod checks what can be known of --method and --weights without a file.
func (r *restoration) checkMethod(c *cobra.Command) error {
	if r.weights != "" && !c.Flags().Changed(r.flag) {
		r.method = "" // the file says
		return nil
	}
	methods := restore.Methods()
	i := slices.IndexFunc(methods, func(m restore.Method) bool { return m.Name == r.method })
	switch {
	case i < 0 && !slices.Contains(weights.Names(), r.method):
		return usagef("--%s %s: unknown method; there is: %s", r.flag, oneLine(r.method), methodNames())
	case i < 0:
		return usagef("--%s %s: this build does not ship that network; name its file with --weights FILE alone, or use --%s %s", r.flag, r.method, r.flag, r.defaultMethod())
	case methods[i].NeedsWeights && r.weights == "":
		return usagef("--%s %s: this build ships no weights for it; give some with --weights FILE, or use --%s %s", r.flag, r.method, r.flag, r.defaultMethod())
	case r.weights != "" && !methods[i].NeedsWeights && !methods[i].Embedded:
		return usagef("--%s %s takes no weights; leave out one of --%s and --weights", r.flag, r.method, r.flag)
	}
	return nil
}

// defaultMethod is the method that is used where none is named.
func (r *restoration) defaultMethod() string {
	if r.flag == "prior" {
		return restore.DefaultPrior()
	}
	return restore.DefaultMethod()
}

// embeddedNetworks says in a help text which networks need no file.
func embeddedNetworks() string {
	return "These are part of this program: " + strings.Join(weights.Embedded(), ", ") + "."
}

// exampleNetwork is the first embedded network, for examples that work in this build.
func exampleNetwork() string { return weights.Embedded()[0] }

// boundaryFlag is the flag about the world beyond the frame.
func bindBoundary(c *cobra.Command, b *choice, usage string) {
	*b = newChoice(deblur.Unknown.String(), deblur.Circular.String(), deblur.Zero.String(), deblur.Reflect.String())
	c.Flags().Var(b, "boundary", usage)
	completeChoice(c, "boundary", b)
}

// boundaryOf is the boundary of a flag, whose words are the names of boundaries.
func boundaryOf(b choice) deblur.Boundary {
	boundary, err := deblur.ParseBoundary(b.value)
	if err != nil {
		panic(err) // Set has taken no other word
	}
	return boundary
}

// readKernel reads a kernel from an image file.
func (a *app) readKernel(ctx context.Context, path string, r reading) (deblur.Kernel, error) {
	m, err := a.read(ctx, path, r)
	if err != nil {
		return deblur.Kernel{}, err
	}
	k, err := deblur.KernelFromPlanes(m.Pix, m.Channels, m.Height, m.Width)
	if err != nil {
		return deblur.Kernel{}, fileError{path, err}
	}
	return k, nil
}

// batchFlags are the flags of a command that restores many images.
type batchFlags struct {
	destination
	reading
	writing
	restoration
	reference string
}

func (b *batchFlags) bind(c *cobra.Command, flag, tolerance string) {
	b.destination.bind(c)
	b.restoration.bind(c, flag, tolerance)
	b.reading.bind(c)
	b.writing.bind(c)
	if flag == "prior" {
		c.Flags().Float64Var(&b.pull, "contraction", 0, "draw each iterate to where the iteration started, by 1−`Q`, 0 < Q < 1: then there is one fixed\npoint, and the distance of the result to it is bounded and printed; 0.98 cost deblurring 0.05 dB at most")
	}
	c.Flags().StringVar(&b.reference, "reference", "", "compare each result, before it is rounded for the file, with this image `FILE`, and print the PSNR")
}

// bindAdapt is the flag of commands in which the strength of networks can follow the image.
func bindAdapt(c *cobra.Command, adapt *bool) {
	c.Flags().BoolVar(adapt, "adapt", true, "let the strength of certified networks follow how much fine detail the image has\n(--adapt=false: the noise alone, so that the map is the network)")
}

// prepare checks all flags, and returns the options and the tasks.
func (b *batchFlags) prepare(a *app, c *cobra.Command, args []string) ([]restore.Option, []task, error) {
	opts, err := b.settings(a, c)
	if err != nil {
		return nil, nil, err
	}
	if err := readOnce(b.reference, b.weights); err != nil {
		return nil, nil, err
	}
	if err := b.reading.check(); err != nil {
		return nil, nil, err
	}
	if err := b.writing.check(b.output); err != nil {
		return nil, nil, err
	}
	tasks, err := b.plan(c.Context(), args)
	if err != nil {
		return nil, nil, err
	}
	return opts, tasks, b.protect(tasks, b.reference, b.weights)
}

// readOnce refuses to take two things from standard input.
func readOnce(files ...string) error {
	found := false
	for _, f := range files {
		if f == standardStream && found {
			return usagef("- (standard input) can be read once; name a file for the other")
		}
		found = found || f == standardStream
	}
	return nil
}

// protect refuses a result that would take the place of another file that the
// command reads.
func (d *destination) protect(tasks []task, files ...string) error {
	for _, f := range files {
		for _, t := range tasks {
			if f == standardStream && t.input == standardStream {
				return usagef("- (standard input) can be read once; name a file for the other")
			}
			if f != "" && t.output != standardStream && (identity(f) == identity(t.output) || sameFile(f, t.output)) {
				return usagef("%s: the result would take the place of this file, which is read too; write -o to another file", oneLine(f))
			}
		}
	}
	return nil
}

// compute is Denoise or Deblur with all but the image and the options given.
type compute func(ctx context.Context, img *restore.Planar, opts ...restore.Option) (*restore.Planar, *restore.Report, error)

// restore does one task: read, compute, write, compare.
func (b *batchFlags) restore(ctx context.Context, a *app, dev backend.Device, t task, opts []restore.Option, work compute) (*outcome, string, error) {
	return b.restoreInto(ctx, a, dev, t, opts, nil, work)
}

// restoreInto is restore for a result of another size, unless frame is nil: that makes of an
// image that was read one of the size of the result, with its transparency and any samples.
func (b *batchFlags) restoreInto(ctx context.Context, a *app, dev backend.Device, t task, opts []restore.Option, frame func(m *imagefile.Image) error, work compute) (*outcome, string, error) {
	began := time.Now()
	m, err := a.read(ctx, t.input, b.reading)
	if err != nil {
		return nil, "", err
	}
	img := planarOf(m)
	if frame != nil {
		if err := frame(m); err != nil {
			return nil, "", err
		}
	}
	opt := b.writing.options(m, t.output, b.force)
	if err := imagefile.CheckWrite(m, opt); err != nil {
		return nil, "", fileError{outputName(t.output), err}
	}
	m.Pix = nil // until they are those of the result
	// The reference waits in memory: what is wrong with it is said before the work.
	var reference []float32
	if b.reference != "" {
		if reference, err = a.readReference(ctx, b.reference, m, b.reading); err != nil {
			return nil, "", err
		}
	}
	bar := a.newProgress(t.input)
	defer bar.clear()
	bar.show(0, 0)
	options := append([]restore.Option{
		restore.OnDevice(dev),
		restore.WithProgress(func(p restore.Progress) error {
			bar.show(p.Fraction, p.Residual)
			return ctx.Err()
		}),
	}, opts...)
	out, report, err := work(ctx, img, options...)
	if err != nil {
		return nil, "", err
	}
	bar.clear()
	m.Pix = out.Pix
	if err := a.write(ctx, t.output, m, opt); err != nil {
		return nil, "", err
	}
	o := outcomeOf(m, report)
	o.Network = b.networkInfo()
	if reference != nil {
		if o.fidelity, err = fidelityOf(b.reference, reference, m.Pix); err != nil {
			return nil, "", err
		}
	}
	o.Seconds = number(time.Since(began).Seconds())
	a.remark(name(t.input), report)
	return o, summary(o), nil
}

func outcomeOf(m *imagefile.Image, r *restore.Report) *outcome {
	o := &outcome{
		Width: m.Width, Height: m.Height, Channels: m.Channels,
		Method: r.Method, Sigma: number(r.Sigma), Estimated: r.Estimate != nil,
		Weight: number(r.Weight), Rescaling: number(r.Rescaling), Level: number(r.Level),
		Adaptation: number(r.Adaptation), Certificate: certificateOf(r),
	}
	if r.Tolerance > 0 { // else it is a formula
		o.solver = &solver{
			Iterations: r.Iterations, Converged: r.Converged,
			Residual: number(r.Residual), Tolerance: number(r.Tolerance),
		}
		if r.Iteration != nil && !math.IsInf(r.Iteration.ErrorBar, 1) {
			o.ErrorBar = number(r.Iteration.ErrorBar / math.Sqrt(float64(len(m.Pix))))
		}
	}
	return o
}

// remark says what a person should know of a run besides its result.
func (a *app) remark(input string, r *restore.Report) {
	if r.Estimate != nil && r.Estimate.Note != "" {
		a.note("note: %s: sigma: %s", input, r.Estimate.Note)
	}
	switch {
	case r.Converged:
	case r.Iterations == 0:
		a.note("note: %s: the root mean square error of the result may be %.2g, above the tolerance of %.2g: float32 allows no better", input, r.Residual, r.Tolerance)
	default:
		a.note("note: %s: stopped after %d iterations at a residual of %.2g, above the tolerance of %.2g", input, r.Iterations, r.Residual, r.Tolerance)
	}
	if r.Network != nil {
		for _, w := range r.Network.Wrappers {
			a.detail("%s: %s", input, w.Name)
		}
	}
	if r.Iteration != nil {
		for _, line := range lines(r.Iteration.Certificate.String()) {
			a.detail("%s: %s", input, line)
		}
	}
}

// summary is the outcome in a line for people.
func summary(o *outcome) string {
	parts := []string{o.Method}
	sigma := fmt.Sprintf("sigma %.4g", o.Sigma)
	if o.Estimated {
		sigma += " (estimated)"
	}
	parts = append(parts, sigma)
	if o.Network != nil || o.Certificate.iterationCertificate != nil {
		parts = append(parts, claim(o.Certificate))
	}
	if o.solver != nil && (o.Iterations > 0 || o.Network == nil) {
		parts = append(parts, fmt.Sprintf("%d iterations", o.Iterations), fmt.Sprintf("residual %.1e", o.Residual))
		if o.ErrorBar > 0 {
			parts = append(parts, fmt.Sprintf("within %.1e of the fixed point", o.ErrorBar))
		}
	}
	if o.fidelity != nil {
		parts = append(parts, "PSNR "+decibels(float64(o.PSNR)))
	}
	return strings.Join(append(parts, fmt.Sprintf("%.1f s", o.Seconds)), ", ")
}

// claim is what a certificate proves, in a few words.
func claim(c *certificate) string {
	switch {
	case !c.Proven:
		return "nothing proven"
	case c.iterationCertificate != nil && c.Converges:
		return "convergence proven"
	case c.iterationCertificate != nil:
		return "convergence not proven"
	case c.Averagedness < 1:
		return fmt.Sprintf("%.6g-averaged", c.Averagedness)
	}
	return "nonexpansive"
}

// remarkProof says of an iteration with a network of which nothing is proven that it is
// one.
func (r *restoration) remarkProof(a *app) {
	if r.network == nil {
		return
	}
	if certificate := r.network.Certificate(); !certificate.Proven {
		a.note("note: %s: the iteration need not converge, and no claim is made: %s", name(r.source()), certificate.Reason)
	}
}

// remarkIterations says of flags for iterations that denoising by a network makes none.
func (r *restoration) remarkIterations(a *app) {
	if r.network == nil {
		return
	}
	if r.iterations > 0 {
		a.note("note: --iterations has no effect: %s is applied once", r.method)
	}
	if r.tolerance > 0 && r.method != rungekutta.BackwardEuler().Name {
		a.note("note: --tolerance has no effect: %s is computed by a formula", r.method)
	}
}

// decibels writes a PSNR, which is infinite for equal images.
func decibels(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite (the images are equal)"
	}
	return fmt.Sprintf("%.2f dB", v)
}

// readReference reads what the result of restoring m is compared with: a file of
// its size, or the middle of a larger one, because an image that was blurred
// beyond its frame is smaller than the original.
func (a *app) readReference(ctx context.Context, path string, m *imagefile.Image, r reading) ([]float32, error) {
	ref, err := a.read(ctx, path, r)
	if err != nil {
		return nil, err
	}
	if ref.Width < m.Width || ref.Height < m.Height {
		return nil, fileError{path, fmt.Errorf("the reference has %d×%d pixels and the result %d×%d; give one that is as large or larger",
			ref.Width, ref.Height, m.Width, m.Height)}
	}
	if ref.Channels != m.Channels {
		return nil, fileError{path, fmt.Errorf("the reference is %s and the result %s; give two of a kind", colours(ref.Channels), colours(m.Channels))}
	}
	crop(ref, m.Height, m.Width, (ref.Height-m.Height)/2, (ref.Width-m.Width)/2)
	return ref.Pix, nil
}

func colours(channels int) string {
	if channels == 1 {
		return "grey"
	}
	return "colour"
}

// fidelityOf returns both PSNR; the paper's is undefined for a reference that is
// black, or negative, throughout.
func fidelityOf(path string, reference, estimate []float32) (*fidelity, error) {
	psnr, err := quality.PSNR(reference, estimate, 1)
	if err != nil {
		return nil, fileError{path, err}
	}
	f := &fidelity{PSNR: number(psnr), PSNRPaper: number(math.NaN())}
	if peak := quality.Peak(reference); peak > 0 {
		paper, err := quality.PSNR(reference, estimate, peak)
		if err != nil {
			return nil, fileError{path, err}
		}
		f.PSNRPaper = number(paper)
	}
	return f, nil
}

// crop keeps h rows from top and w columns from left, in place.
func crop(m *imagefile.Image, h, w, top, left int) {
	if h == m.Height && w == m.Width {
		return
	}
	to := 0
	for c := range m.Channels {
		plane := m.Plane(c)
		for y := top; y < top+h; y++ {
			// The target never lies behind the source: it has less before it.
			to += copy(m.Pix[to:], plane[y*m.Width+left:y*m.Width+left+w])
		}
	}
	m.Pix = m.Pix[:to]
	if m.Alpha != nil {
		to = 0
		for y := top; y < top+h; y++ {
			to += copy(m.Alpha[to:], m.Alpha[y*m.Width+left:y*m.Width+left+w])
		}
		m.Alpha = m.Alpha[:to]
	}
	m.Height, m.Width = h, w
}
