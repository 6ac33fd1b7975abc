package restore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/upscale"
	"github.com/averaged/imaging/weights"
)

// An Option sets one property of a restoration. It has no state: it can be used again, and from several goroutines. A
// later option replaces an earlier one, and nil is ignored.
//
// A task takes the options below, and refuses others with an *OptionError:
//
//	Strength, Iterations, Method, Weights, Network,
//	Tile, Progress                                            all
//	Tolerance                                                 all but Check
//	Sigma                                                     all but DenoiseRaw
//	Device, Threads, MemoryLimit                              New, and all functions
//	SigmaAuto                                                 all but DenoiseRaw and Solve
//	Noise, Shadows, CoarseNetwork                             Denoise
//	Adaptation                                                Denoise, Deblur
//	Prior, PriorFunc, AveragedPriorFunc                       all but Check and DenoiseRaw
//	StepSize, Constraint                                      all but Denoise and DenoiseRaw
//	Contraction                                               all but Denoise, DenoiseRaw and Check
//	Boundary                                                  Deblur, Inpaint, Upscale, Check
//	Kernel                                                    Inpaint, Upscale
//	Compressed                                                Deblur, Inpaint, Upscale
//	LinearLight, StoredSamples                                Deblur
//	Antialias                                                 Upscale
//	KernelSize                                                EstimateKernel
//
// DeblurVarying and DeblurBlind take the options of Deblur. EstimateKernel, EstimateBlur, EstimateGrid and CheckKernel take Sigma,
// SigmaAuto, Compressed, LinearLight, StoredSamples, Threads and Progress besides KernelSize, and EstimateBlur takes Boundary.
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
	noise      *NoiseEstimate // in place of measuring it, or nil
	sigmaAsked bool           // by an option, to be given or estimated
	method     string         // empty: the default
	weights    *weights.File
	network    *denoise.Network
	coarse     *denoise.Network // for coarse noise, in place of network; or nil
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
	domain     domain         // what was blurred
	compressed Compression    // of estimates of a blur, Inpaint and Upscale
	kernelSize int            // of EstimateKernel; 0: its default
	device     backend.Device
	threads    int
	memory     int64 // bytes, 0: no limit
	progress   backend.ProgressFunc
}

// Sigma sets the standard deviation of the noise in units of the full intensity range: 0.1 is 25.5 of 255. It must be
// finite and above 0. Without it the noise level is estimated.
func Sigma(s float64) Option {
	return option{"Sigma", func(c *request) error {
		if !(s > 0) || math.IsInf(s, 0) {
			return &OptionError{Option: "Sigma", Value: s, Want: "a finite standard deviation above 0"}
		}
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = s, true, true, nil
		return nil
	}}
}

// SigmaAuto estimates the standard deviation of the noise from the image. That is the default, except for Inpaint and
// Solve, whose default is no noise.
func SigmaAuto() Option {
	return option{"SigmaAuto", func(c *request) error {
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = 0, false, true, nil
		return nil
	}}
}

// Noise sets the result of an earlier EstimateNoise of the same image, so that the noise is not estimated again. For
// a part of an image it takes NoiseEstimate.Part. Its Sigma must be finite and 0 or more. Its Levels may be a map of the
// caller's own, for the size of the image.
func Noise(e NoiseEstimate) Option {
	return option{"Noise", func(c *request) error {
		if !(e.Sigma >= 0) || math.IsInf(e.Sigma, 0) {
			return &OptionError{Option: "Noise", Value: e.Sigma, Want: "an estimate whose Sigma is finite and 0 or more"}
		}
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = 0, false, true, &e
		return nil
	}}
}

// Strength multiplies the strength that follows from the noise level and from Adaptation: a factor below 1 keeps more
// texture and noise, one above 1 smooths more. For method "tv" it multiplies the weight. For a network it multiplies
// the noise level, so Strength(2) removes noise of twice the standard deviation. For a network with a guide it
// multiplies the radii; the certificate holds for any radii. The default is 1. factor must be above 0, and at most
// 1e6.
func Strength(factor float64) Option {
	return option{"Strength", func(c *request) error {
		if !(factor > 0) || factor > maxStrength {
			return &OptionError{Option: "Strength", Value: factor, Want: fmt.Sprintf("a number above 0, at most %.0e", maxStrength)}
		}
		c.strength = factor
		return nil
	}}
}

// maxStrength leaves a uniform image of any sigma.
const maxStrength = 1e6

// Iterations sets the max number of iterations, 1 or more. The default is the method's own; for Deblur, Inpaint,
// Upscale and Solve it is 300.
func Iterations(n int) Option {
	return option{"Iterations", func(c *request) error {
		if n < 1 {
			return &OptionError{Option: "Iterations", Value: n, Want: "1 or more"}
		}
		c.iterations = n
		return nil
	}}
}

// Tolerance sets when an iteration ends, between 0 and 1. In Denoise with "tv" it limits the relative duality gap
// (default 1e-4). In Denoise with "backward-euler" it limits the root mean square error of the result (default
// denoise.DefaultInnerError). In Deblur it limits the relative residual (default 1.5e-4, half of that if samples are
// clipped; with "tv" 0.003·sigma, at least 4e-5 and at most 1.5e-4). In Inpaint, Upscale and Solve it limits the relative residual too (default 5e-5;
// with a guide 1e-4). Other networks denoise by a formula and have no tolerance.
func Tolerance(t float64) Option {
	return option{"Tolerance", func(c *request) error {
		if !(t > 0) || t >= 1 {
			return &OptionError{Option: "Tolerance", Value: t, Want: "a number between 0 and 1"}
		}
		c.tolerance = t
		return nil
	}}
}

// Boundary says what is assumed beyond the frame of the image. The default is deblur.Unknown, as for a photograph;
// for Upscale it is deblur.Reflect.
func Boundary(b deblur.Boundary) Option {
	return option{"Boundary", func(c *request) error {
		if b > deblur.Reflect {
			return &OptionError{Option: "Boundary", Value: b, Want: "deblur.Unknown, Circular, Zero or Reflect"}
		}
		c.boundary, c.beyond = b, true
		return nil
	}}
}

// StepSize sets the step size τ > 0. In Deblur with "tv" the default is 1/‖K‖², and τ must be below 2/‖K‖². In Deblur
// with networks the default is 10/‖K‖², or less for strong noise if they have a guide. Any τ is allowed, and the
// noise level of the network is proportional to √τ. Inpaint, Upscale and Solve take gradient steps: the default is
// 1/‖K‖², and τ must be below 2/‖K‖².
func StepSize(tau float64) Option {
	return option{"StepSize", func(c *request) error {
		if !(tau > 0) || math.IsInf(tau, 0) {
			return &OptionError{Option: "StepSize", Value: tau, Want: "a finite number above 0"}
		}
		c.step = tau
		return nil
	}}
}

// Constraint sets the convex set to which the iterates of Deblur, Inpaint, Upscale and Solve are projected. The
// default, pnp.UnitBox, makes the guarantee of convergence unconditional.
func Constraint(set pnp.Constraint) Option {
	return option{"Constraint", func(c *request) error {
		if set > pnp.Unconstrained {
			return &OptionError{Option: "Constraint", Value: set, Want: "pnp.UnitBox or pnp.Unconstrained"}
		}
		c.constraint = set
		return nil
	}}
}

// Contraction replaces the map T of an iteration by (1−q)·x₀ + q·T(x), where x₀ is its start and 0 < q < 1. That is a
// contraction with the constant q (pnp.Options.Contraction): it has exactly one fixed point, and
// Report.Iteration.Run.ErrorBar bounds the distance of the result from it. For a second run, or one after annealed
// steps, x₀ is the result of what came before. A q near 1 draws the result less towards x₀, and makes the error bar
// wider.
func Contraction(q float64) Option {
	return option{"Contraction", func(c *request) error {
		if !(q > 0 && q < 1) {
			return &OptionError{Option: "Contraction", Value: q, Want: "a number between 0 and 1, such as 0.98"}
		}
		c.pull = q
		return nil
	}}
}

// Device sets the device to compute on, which stays open and belongs to the caller. The default is the host's
// processor. With Network the device is the network's. Device is an option of New and of the functions, not of a
// Restorer's methods.
func Device(d backend.Device) Option {
	return option{"Device", func(c *request) error {
		if err := arguments.CheckDevice("restore", d); err != nil {
			return err
		}
		c.device = d
		return nil
	}}
}

// Threads sets the number of threads of the host's processor. 0, the default, means all. The result does not depend
// on it. It has no effect with Device, and is an option where Device is one.
func Threads(n int) Option {
	return option{"Threads", func(c *request) error {
		if n < 0 {
			return &OptionError{Option: "Threads", Value: n, Want: "0 (all) or more"}
		}
		c.threads = n
		return nil
	}}
}

// MemoryLimit sets how many bytes the host's processor may use for buffers and networks in all calls together, not
// counting the images. 0, the default, means no limit. Networks use smaller tiles to stay below it, which does not
// change the result. If that is not enough, a call returns an error that wraps backend.ErrOutOfMemory, also if it is other
// calls that have the memory: calls do not wait for each other. Denoise with "guided" needs 200 MB for a small image and
// up to 700 MB for 12 megapixels, with "fast" 40 and up to 300 MB; calls at the same time need as much each. It has no effect with
// Device, and is an option where Device is one.
func MemoryLimit(bytes int64) Option {
	return option{"MemoryLimit", func(c *request) error {
		if bytes < 0 {
			return &OptionError{Option: "MemoryLimit", Value: bytes, Want: "0 (no limit) or more"}
		}
		c.memory = bytes
		return nil
	}}
}

// Progress calls f during the work, in the goroutine that called the restoration. An error from f stops the work and
// is returned.
func Progress(f backend.ProgressFunc) Option {
	return option{"Progress", func(c *request) error {
		c.progress = f
		return nil
	}}
}

// Weights chooses the network of a weight file, and with it the method. A call with this option loads the network and
// verifies its certificate (denoise.Load), which takes most of a second for the paper's network. A Restorer that New
// gave the option does so once. The file must not change meanwhile. A file whose weights do not match their
// certificate is refused.
func Weights(f *weights.File) Option {
	return option{"Weights", func(c *request) error {
		if f == nil {
			return errors.New("restore: the weight file is nil")
		}
		c.weights, c.network = f, nil
		return nil
	}}
}

// Network chooses a network loaded by denoise.Load, and with it the method. Load has options of its own, such as
// denoise.WorkLimit. The call computes on the network's device, whatever Device says. The caller frees the network
// after the last call. Several calls may use it at the same time.
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

// Tile sets the height and width in pixels of the tiles in which networks are computed, at most denoise.LargestTile.
// 0, the default, is automatic (denoise.Tile). It changes memory and time, not the result. It has no effect with
// Network, whose tiles were set when it was loaded, or with total variation, which has no tiles.
func Tile(n int) Option {
	return option{"Tile", func(c *request) error {
		if n < 0 || n > denoise.LargestTile {
			return &OptionError{Option: "Tile", Value: n, Want: fmt.Sprintf("1 to %d pixels, or 0 for automatic", denoise.LargestTile)}
		}
		c.tile = n
		return nil
	}}
}

// CoarseNetwork sets a network that replaces the one given by Network if the estimated noise is coarse. The caller
// frees it after the last call.
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

// Method chooses the denoiser by name, one of Methods. The default is the method of the weights, if some are given,
// or else that of the task. A network needs weights that are embedded or given. A function loads embedded ones in
// every call, which takes some milliseconds (denoise.Load); a Restorer loads them once. An unknown name is an error
// that wraps ErrMethod.
func Method(name string) Option {
	return option{"Method", func(c *request) error {
		switch {
		case slices.ContainsFunc(Methods(), func(m MethodInfo) bool { return m.Name == name }):
		case slices.Contains(weights.Names(), name):
			return fmt.Errorf("restore: method %q: %w; there is: %s", name, errNoWeights, builtInMethods())
		default:
			return fmt.Errorf("restore: %w %q, there is: %s", ErrMethod, name, builtInMethods())
		}
		c.method = name
		return nil
	}}
}

// Prior sets a denoiser of the caller's own. It has its own strength: the noise level, Strength and Adaptation have
// no effect on it. In Deblur it follows a proximal step; the documentation of Deblur and of Solve says for what noise
// level it should be. The certificate of an iteration follows from the constant that Averagedness returns, which is
// believed if it is above 0 and at most 1; another one that is said to be proven is an error. Report.Method is
// "prior".
//
// The denoiser computes on Device; PriorFunc and AveragedPriorFunc take one on plain numbers. It must allow as many calls
// at a time as the caller makes.
func Prior(d pnp.Denoiser) Option {
	return option{"Prior", func(c *request) error {
		if d == nil {
			return errors.New("restore: the prior is nil")
		}
		if alpha, proven := d.Averagedness(); proven && !(alpha > 0 && alpha <= 1) {
			return &OptionError{Option: "Prior", Value: alpha, Want: "a proven averagedness above 0, at most 1"}
		}
		c.prior = d
		return nil
	}}
}

// PriorFunc is Prior for a function on plain numbers, which sets the samples of dst to src denoised. dst and src have
// the same size and channels. f must not write to src, and must not keep either. Nothing is proven of f, or of an
// iteration with it: AveragedPriorFunc is for a function with a proof.
func PriorFunc(f func(ctx context.Context, dst, src *Planar) error) Option {
	return option{"PriorFunc", func(c *request) error {
		if f == nil {
			return errors.New("restore: the prior is nil")
		}
		c.prior = &hostPrior{f: f, alpha: 1}
		return nil
	}}
}

// AveragedPriorFunc is PriorFunc for a function of which the caller has proven that it is alpha-averaged, 0 < alpha ≤ 1:
// (1−alpha) times the identity plus alpha times a map that never increases the Euclidean distance between two images. 1 is
// nonexpansive. The certificate of an iteration follows from alpha, which is believed.
func AveragedPriorFunc(alpha float64, f func(ctx context.Context, dst, src *Planar) error) Option {
	return option{"AveragedPriorFunc", func(c *request) error {
		if f == nil {
			return errors.New("restore: the prior is nil")
		}
		if !(alpha > 0 && alpha <= 1) {
			return &OptionError{Option: "AveragedPriorFunc", Value: alpha, Want: "a proven averagedness above 0, at most 1"}
		}
		c.prior = &hostPrior{f: f, alpha: alpha, proven: true}
		return nil
	}}
}

// Adaptation says whether the strength of a network follows the image as well as its noise, in Denoise and in the
// second run of Deblur. The default is true: an image with much fine detail is smoothed less, one with few sharp
// edges more. Photographs gain 0.04 to 0.11 dB on average. Report.Network.Adaptation is the factor on the noise
// level, 0.67 to 1.49.
//
// The certificates of the network and of an iteration hold for each strength, which is fixed during an iteration.
// They do not cover the choice of the strength: the map from image to result is the network alone only with
// Adaptation(false) and a given noise level. Adaptation has no effect on total variation, on uncertified networks, and
// on networks with a guide, which follow the image by themselves.
func Adaptation(on bool) Option {
	return option{"Adaptation", func(c *request) error {
		c.adapt = on
		return nil
	}}
}

// Shadows says whether Denoise brightens shadows that noise has darkened. The default is true. It needs an estimated
// noise level, and a denoiser of the library.
//
// A camera's tone curve is concave, so noise of the sensor makes the developed photograph darker, by a tenth in the
// shadows. A denoiser keeps that. If the removed noise is skewed as such noise is, a curve for each channel brightens
// the result by as much (Report.Noise.ShadowsRaised). White noise added to a finished picture is not skewed, and
// changes nothing.
//
// The certificate does not cover the curve, which follows the network. Shadows(false), or a given noise level, leaves
// it out.
func Shadows(on bool) Option {
	return option{"Shadows", func(c *request) error {
		c.shadows = on
		return nil
	}}
}

// Kernel says that the image was blurred before pixels went missing (Inpaint) or before it was scaled down (Upscale).
// The blur is removed too. The kernel is in pixels of the result. The default is no blur. Deblur takes its kernel as
// an argument.
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

// OptionError says that an option has an invalid value, or was given to a task that does not take it.
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
	return fmt.Sprintf("restore: %s %v: want %s", e.Option, e.Value, e.Want)
}

// Validate returns the error of the first option with an invalid value, which any call with these options would
// return. It is an *OptionError, or an error about a method or weights. It needs no image, so a program can refuse
// what a user entered before it reads anything.
func Validate(options ...Option) error {
	_, err := apply(options)
	return err
}
