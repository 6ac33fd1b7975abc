package restore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/upscale"
	"github.com/averaged/imaging/weights"
)

// Option sets one thing about a restoration: it is what the functions make that have the name
// of that thing. Options are values without state: the same one can be used again and from several
// goroutines. Later ones take the place of earlier ones, and nil is none.
//
// An option belongs to some of the tasks, and is refused by the others with an *OptionError:
//
//	Strength, Iterations, Tolerance, Method, Weights,
//	Network, Tile, Progress                                   all
//	Sigma                                                     all but DenoiseRaw
//	Device, Threads, MemoryLimit                              New, and all functions
//	SigmaAuto                                                 all but DenoiseRaw and Solve
//	Noise, Shadows                                            Denoise
//	CoarseNetwork                                             Denoise, DenoiseRaw
//	Adaptation                                                Denoise, Deblur
//	Prior, PriorFunc                                          all but Check and DenoiseRaw
//	StepSize, Constraint                                      all but Denoise and DenoiseRaw
//	Contraction                                               all but Denoise, DenoiseRaw and Check
//	Boundary                                                  Deblur, Inpaint, Upscale, Check
//	Kernel                                                    Inpaint, Upscale
//	Antialias                                                 Upscale
//	KernelSize                                                EstimateKernel
//
// EstimateKernel and CheckKernel take Sigma, SigmaAuto, Threads and Progress, and no other of these.
type Option interface {
	change(c *request) error
	name() string
}

// option is the only kind of Option.
type option struct {
	called string // the function that made it
	set    func(*request) error
}

func (o option) change(c *request) error { return o.set(c) }
func (o option) name() string            { return o.called }

// request is what the options ask for. Nothing changes it after the last option: what is done about it is a plan.
type request struct {
	sigma      float64 // standard deviation of the noise
	sigmaGiven bool
	noise      *NoiseEstimate // in the place of measuring it, or nil
	sigmaAsked bool           // by an option, to be given or estimated
	method     string         // empty: the default
	weights    *weights.File
	network    *denoise.Network
	coarse     *denoise.Network // for coarse noise, in the place of network; or nil
	prior      pnp.Denoiser     // of the caller's own
	tile       int
	strength   float64
	adapt      bool
	shadows    bool
	iterations int
	tolerance  float64
	step       float64
	boundary   deblur.Boundary
	beyond     bool // boundary was given
	constraint pnp.Constraint
	pull       float64                  // Contraction
	start      deblurring.StartingPoint // the Wiener estimate; tests take others
	antialias  upscale.Antialias
	kernel     *deblur.Kernel // of Inpaint and Upscale; nil: no blur
	kernelSize int            // of EstimateKernel; 0: its default
	device     backend.Device
	threads    int
	memory     int64 // bytes, 0: no limit
	progress   backend.ProgressFunc
}

// Sigma sets the standard deviation of the noise in units of the full intensity
// range: 0.1 is 25.5 of 255. It must be positive and finite. The default is to
// estimate it from the image.
func Sigma(s float64) Option {
	return option{"Sigma", func(c *request) error {
		if !(s > 0) || math.IsInf(s, 0) {
			return &OptionError{Option: "Sigma", Value: s, Want: "a finite standard deviation above 0"}
		}
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = s, true, true, nil
		return nil
	}}
}

// SigmaAuto estimates the standard deviation of the noise from the image: the
// default.
func SigmaAuto() Option {
	return option{"SigmaAuto", func(c *request) error {
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = 0, false, true, nil
		return nil
	}}
}

// Noise gives what EstimateNoise has made of the image, or of a larger one that it is a part of, so that
// it is not measured again: all is done as if it had been found here. Its Sigma must be finite and 0 or
// more. Of a part of an image it is NoiseEstimate.Part.
func Noise(e NoiseEstimate) Option {
	return option{"Noise", func(c *request) error {
		if !(e.Sigma >= 0) || math.IsInf(e.Sigma, 0) {
			return &OptionError{Option: "Noise", Value: e.Sigma, Want: "an estimate whose Sigma is finite and 0 or more"}
		}
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = 0, false, true, &e
		return nil
	}}
}

// Strength multiplies the strength that follows from the noise level: below 1
// keeps more texture and more noise, above 1 smooths more. Of method "tv" that is
// the weight, of a network the noise level that it is taken to (Report.Network):
// with Strength(2) it removes noise of twice the standard deviation. It comes on top of what
// follows from the image (Adaptation). Of a network with a guide it is a factor on the radii that the
// guide chooses, for any of which the same is proven. The default is 1. It must be positive and at most 1e6.
func Strength(factor float64) Option {
	return option{"Strength", func(c *request) error {
		if !(factor > 0) || factor > mostStrength {
			return &OptionError{Option: "Strength", Value: factor, Want: fmt.Sprintf("a number above 0, at most %.0e", mostStrength)}
		}
		c.strength = factor
		return nil
	}}
}

// mostStrength leaves a uniform image of any sigma.
const mostStrength = 1e6

// Iterations sets how many iterations are made at most; the default is the
// method's own, for Deblur, Inpaint and Upscale 300.
func Iterations(n int) Option {
	return option{"Iterations", func(c *request) error {
		if n < 1 {
			return &OptionError{Option: "Iterations", Value: n, Want: "1 or more"}
		}
		c.iterations = n
		return nil
	}}
}

// Tolerance sets when an iteration ends: for Denoise with method "tv" the relative
// duality gap (default 1e-4), with "backward-euler" the root mean square error of the
// result (default denoise.DefaultInnerError); for Deblur the relative residual (default 1.5e-4; with
// method "tv" 0.003·sigma, within 4e-5 and 1.5e-4), and for Inpaint and Upscale (default 5e-5, with a guide 1e-4). Denoising by
// other networks is a formula and has none.
func Tolerance(t float64) Option {
	return option{"Tolerance", func(c *request) error {
		if !(t > 0) || t >= 1 {
			return &OptionError{Option: "Tolerance", Value: t, Want: "a number between 0 and 1"}
		}
		c.tolerance = t
		return nil
	}}
}

// Boundary says what is assumed beyond the image's frame. The default of Deblur, and of
// Inpaint with a Kernel, is deblur.Unknown, which is what a photograph has; that of Upscale is
// deblur.Reflect.
func Boundary(b deblur.Boundary) Option {
	return option{"Boundary", func(c *request) error {
		if b > deblur.Reflect {
			return &OptionError{Option: "Boundary", Value: b, Want: "deblur.Unknown, Circular, Zero or Reflect"}
		}
		c.boundary, c.beyond = b, true
		return nil
	}}
}

// StepSize sets τ of Deblur's iteration. With total variation the default is 1/‖K‖², and it
// must be below 2/‖K‖²; with networks it is 10/‖K‖², less for strong noise if they have a guide, and
// any number above 0 is allowed: the noise level of the network follows as √τ. Inpaint and Upscale
// make gradient steps with either: 1/‖K‖², below 2/‖K‖².
func StepSize(tau float64) Option {
	return option{"StepSize", func(c *request) error {
		if !(tau > 0) || math.IsInf(tau, 0) {
			return &OptionError{Option: "StepSize", Value: tau, Want: "a finite number above 0"}
		}
		c.step = tau
		return nil
	}}
}

// Constraint sets the convex set that the iterates of Deblur, Inpaint and Upscale stay in; the default is
// pnp.UnitBox, which makes the guarantee of convergence unconditional.
func Constraint(set pnp.Constraint) Option {
	return option{"Constraint", func(c *request) error {
		if set > pnp.Unconstrained {
			return &OptionError{Option: "Constraint", Value: set, Want: "pnp.UnitBox or pnp.Unconstrained"}
		}
		c.constraint = set
		return nil
	}}
}

// Contraction has the iteration of Deblur, Inpaint and Upscale go to (1−q)·x₀ + q·T(x) in the
// place of T(x), x₀ where it starts from and 0 < q < 1, which is a contraction with the constant
// q (pnp.Options.Contraction): there is one fixed point and no other, and
// Report.Iteration.Run.ErrorBar bounds how far from it the result is. x₀ is the initial estimate,
// or of a network, which makes two runs, or steps and a run, the result of what comes before
// the last. The nearer q is to 1 the less the result is drawn to x₀, and the wider is the error
// bar.
func Contraction(q float64) Option {
	return option{"Contraction", func(c *request) error {
		if !(q > 0 && q < 1) {
			return &OptionError{Option: "Contraction", Value: q, Want: "a number between 0 and 1, such as 0.98"}
		}
		c.pull = q
		return nil
	}}
}

// Device computes on the given device, which the caller closes. The default is
// the host's processor. With Network the device is the network's. It is an option of New, and of
// the functions that are no methods.
func Device(d backend.Device) Option {
	return option{"Device", func(c *request) error {
		if d == nil {
			return errors.New("restore: the device is nil")
		}
		c.device = d
		return nil
	}}
}

// Threads sets how many threads the host's processor uses; 0, the default, is
// all. The result does not depend on it. It has no effect with Device, and belongs where that
// does.
func Threads(n int) Option {
	return option{"Threads", func(c *request) error {
		if n < 0 {
			return &OptionError{Option: "Threads", Value: n, Want: "0 (all) or more"}
		}
		c.threads = n
		return nil
	}}
}

// MemoryLimit sets how many bytes the host's processor may take for buffers and networks beside the
// images themselves, in all calls together; 0, the default, is no limit. Where it is too little for a
// network the tiles become smaller, which changes no bit of the result; what does not fit all the
// same is an error that wraps backend.ErrOutOfMemory. It has no effect with Device, and belongs where
// that does.
func MemoryLimit(bytes int64) Option {
	return option{"MemoryLimit", func(c *request) error {
		if bytes < 0 {
			return &OptionError{Option: "MemoryLimit", Value: bytes, Want: "0 (no limit) or more"}
		}
		c.memory = bytes
		return nil
	}}
}

// Progress calls f as the work goes on, from the goroutine that called the
// restoration; an error from f stops it and is returned.
func Progress(f backend.ProgressFunc) Option {
	return option{"Progress", func(c *request) error {
		c.progress = f
		return nil
	}}
}

// Weights chooses the network of a weight file, and with it the method. A call that is given it
// loads it and verifies its certificate (denoise.Load), which for the paper's network takes most of
// a second; a Restorer that is given it by New does so once. The file must not change meanwhile. One
// whose weights were changed after they were certified is refused.
func Weights(f *weights.File) Option {
	return option{"Weights", func(c *request) error {
		if f == nil {
			return errors.New("restore: the weight file is nil")
		}
		c.weights, c.network = f, nil
		return nil
	}}
}

// Network chooses a network that denoise.Load has loaded, and with it the method. Load has more options, such as
// denoise.WorkLimit. It
// is computed on the network's device, whatever Device says, and stays the caller's,
// who frees it after the last call. Calls may run at the same time.
func Network(n *denoise.Network) Option {
	return option{"Network", func(c *request) error {
		if n == nil {
			return errors.New("restore: the network is nil")
		}
		if _, ok := n.Card(); !ok {
			return errors.New("restore: the network has no card, which says what noise it is for: load it from a weight file (denoise.Load)")
		}
		c.network, c.weights = n, nil
		return nil
	}}
}

// Tile sets the height and width in pixels of the tiles in which networks are computed;
// 0, the default, is automatic (denoise.Tile); at most denoise.LargestTile. It changes
// memory and time, but no bit of the result. It has no effect with Network, whose tiles
// were set when it was loaded, and on total variation, which is computed as a whole.
func Tile(n int) Option {
	return option{"Tile", func(c *request) error {
		if n < 0 || n > denoise.LargestTile {
			return &OptionError{Option: "Tile", Value: n, Want: fmt.Sprintf("1 to %d pixels, or 0 for automatic", denoise.LargestTile)}
		}
		c.tile = n
		return nil
	}}
}

// CoarseNetwork has Denoise use a network in the place of the one given by Network where the noise is
// found to be coarse. It stays the caller's, as that of Network does.
func CoarseNetwork(n *denoise.Network) Option {
	return option{"CoarseNetwork", func(c *request) error {
		if n == nil {
			return errors.New("restore: the network for coarse noise is nil")
		}
		if _, ok := n.Card(); !ok {
			return errors.New("restore: the network for coarse noise has no card, which says what noise it is for: load it from a weight file (denoise.Load)")
		}
		c.coarse = n
		return nil
	}}
}

// Method chooses the denoiser by name, one of Methods. The default is the method of
// the weights, if some are given, or else the one that Denoise, Deblur and the others
// name. A network needs weights, embedded ones or others that are given. The
// embedded ones are loaded in every call of a function, which takes some milliseconds
// (denoise.Load), and once by a Restorer.
func Method(name string) Option {
	return option{"Method", func(c *request) error {
		switch {
		case slices.ContainsFunc(Methods(), func(m MethodInfo) bool { return m.Name == name }):
		case slices.Contains(weights.Names(), name):
			return fmt.Errorf("restore: method %q: %w; there is: %s", name, errNoWeights, ready())
		default:
			return fmt.Errorf("restore: %w %q, there is: %s", ErrMethod, name, ready())
		}
		c.method = name
		return nil
	}}
}

// Prior chooses a denoiser of the caller's own, which is used as a network is, but with the strength
// that it has: Strength and Adaptation do not apply, nor does the noise level. In Deblur it follows
// a proximal step, so it should be for noise as strong as Deblur says of networks; in Solve as Solve says.
// Report.Method is "prior". What Averagedness says is proven is taken for that, and the certificate
// of an iteration follows from it.
//
// It computes on Device; one that works on plain numbers is a PriorFunc. It must be safe for as
// many calls at a time as the caller makes.
func Prior(d pnp.Denoiser) Option {
	return option{"Prior", func(c *request) error {
		if d == nil {
			return errors.New("restore: the prior is nil")
		}
		c.prior = d
		return nil
	}}
}

// PriorFunc is Prior for a function that sets the samples of dst to src denoised: images of the same
// size and channels, to be written to and to be read, and not to be kept. It needs to know nothing of
// devices. Nothing is proven of it, and so nothing of an iteration with it.
func PriorFunc(f func(ctx context.Context, dst, src *Planar) error) Option {
	return option{"PriorFunc", func(c *request) error {
		if f == nil {
			return errors.New("restore: the prior is nil")
		}
		c.prior = &hostPrior{f: f}
		return nil
	}}
}

// Adaptation says whether the strength of a network follows the image as well as its noise, in
// Denoise and in the second run of Deblur. It does by default: an image of much fine detail is
// smoothed less, one of few sharp edges more. A network that is proven never to move two images
// apart cannot make that difference by itself; photographs gain 0.04 to 0.11 dB by it on average.
// Report.Network.Adaptation is the factor, 0.67 to 1.49, on the noise level that the network is used for.
//
// The network "camera" is tried on a part of a photograph first, where its noise is measured and coarse, and "guided" on a
// part of a grey one, where it is measured: what it takes there tells texture, such as that of gravel or of the sea, from
// noise. Report.Network.Adaptation is the factor on the strength then, 0.1 to 2.
//
// What is proven of the network is proven for each strength, and so is what is proven of an
// iteration, during which the strength is fixed. The map from image to result, the choice of the
// strength included, is not the network any more: that needs Adaptation(false), and a noise level that is
// given. Adaptation has no effect on total variation, on a network of which nothing is proven, and, but for that trial, on
// one with a guide, which follows the image by itself.
func Adaptation(on bool) Option {
	return option{"Adaptation", func(c *request) error {
		c.adapt = on
		return nil
	}}
}

// Shadows says whether Denoise mends the shadows of photographs, where it estimates the noise level itself and
// the denoiser is not the caller's own (Prior, PriorFunc). It does by default.
//
// The noise of a sensor goes through the camera's tone curve, which is concave, and what comes out is
// darker than without noise: in the shadows of a noisy photograph by a tenth. A denoiser keeps that. Where
// the noise that was taken away shows it by its skewness, a curve for each channel raises the result by as
// much (Report.Noise.Shadows). White noise that was added to a finished picture is not skewed, and nothing
// changes.
//
// The curve comes after the network, and is not part of what is proven of it: Shadows(false), or a noise
// level that is given, leaves it out.
func Shadows(on bool) Option {
	return option{"Shadows", func(c *request) error {
		c.shadows = on
		return nil
	}}
}

// Kernel says that the image was blurred before pixels went missing (Inpaint) or before it
// was scaled down (Upscale): the blur is removed along with it. For Upscale the kernel is
// in pixels of the result. The default is no blur. Deblur has its kernel as an argument.
func Kernel(k deblur.Kernel) Option {
	return option{"Kernel", func(c *request) error {
		if err := k.Check(); err != nil {
			return err
		}
		c.kernel = &k
		return nil
	}}
}

// apply applies the options to the defaults.
func apply(options []Option) (request, error) {
	c := request{strength: 1, adapt: true, shadows: true}
	return c, c.apply(options)
}

// apply applies further options.
func (c *request) apply(options []Option) error {
	for _, o := range options {
		if o == nil {
			continue
		}
		if err := o.change(c); err != nil {
			return err
		}
	}
	return nil
}

// OptionError says that an option was given a value that it cannot have, or given to a task that
// it does not belong to.
type OptionError struct {
	Option string // the name of the function that makes the option, such as "Sigma"
	Value  any    // nil where the task is wrong
	Want   string // what would be right, such as "a number above 0"
	Task   string // the function that the option does not belong to; empty where the value is wrong
}

func (e *OptionError) Error() string {
	if e.Task != "" {
		return fmt.Sprintf("restore: %s is no option of %s, but of %s", e.Option, e.Task, e.Want)
	}
	return fmt.Sprintf("restore: %s %v: want %s", strings.ToLower(e.Option), e.Value, e.Want)
}

// Validate returns the error about the first option whose value is wrong in itself, which any
// call with these options would return: an *OptionError, or one about a method or weights. It
// needs no image, so what a user entered can be refused before anything is read.
func Validate(options ...Option) error {
	_, err := apply(options)
	return err
}
