package restore

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
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
//	WeightsFile, Network, Tile, WorkLimit, Progress           all
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
//	Start                                                     Deblur
//	Kernel                                                    Inpaint, Upscale
//	Antialias                                                 Upscale
//	KernelSize                                                EstimateKernel
//
// EstimateKernel and CheckKernel take Sigma, SigmaAuto, Threads and Progress, and no other of these.
type Option interface {
	change(c *settings) error
	name() string
}

// option is the only kind of Option.
type option struct {
	called string // the function that made it
	set    func(*settings) error
}

func (o option) change(c *settings) error { return o.set(c) }
func (o option) name() string             { return o.called }

// settings are what the options set; apply has the defaults.
type settings struct {
	sigma      float64 // standard deviation of the noise
	sigmaGiven bool
	noise      *NoiseEstimate // in the place of measuring it, or nil
	sigmaAsked bool           // by an option, to be given or estimated
	method     string         // empty until settle
	unnamed    bool           // method is the default of the task
	weights    *weights.File
	cards      *knownCards // of a call; nil remembers none
	network    *denoise.Network
	coarse     *denoise.Network // for coarse noise, in the place of network; or nil
	prior      pnp.Denoiser     // of the caller's own
	tile       int
	workLimit  float64 // of denoise.Load
	prove      bool    // the certificate of embedded weights too
	strength   float64
	adapt      bool
	shadows    bool
	iterations int
	tolerance  float64
	step       float64
	boundary   deblur.Boundary
	beyond     bool // boundary was given
	constraint pnp.Constraint
	pull       float64 // Contraction
	start      StartingPoint
	antialias  upscale.Antialias
	kernel     *deblur.Kernel // of Inpaint and Upscale; nil: no blur
	kernelSize int            // of EstimateKernel; 0: its default
	device     backend.Device
	threads    int
	memory     int64     // bytes, 0: no limit
	kept       *networks // of a Restorer, or nil
	progress   func(ProgressReport) error
}

// Sigma sets the standard deviation of the noise in units of the full intensity
// range: 0.1 is 25.5 of 255. It must be positive and finite. The default is to
// estimate it from the image.
func Sigma(s float64) Option {
	return option{"Sigma", func(c *settings) error {
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
	return option{"SigmaAuto", func(c *settings) error {
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = 0, false, true, nil
		return nil
	}}
}

// Noise gives what EstimateNoise has made of the image, or of a larger one that it is a part of, so that
// it is not measured again: all is done as if it had been found here. Its Sigma must be finite and 0 or
// more. Of a part of an image it is NoiseEstimate.Part.
func Noise(e NoiseEstimate) Option {
	return option{"Noise", func(c *settings) error {
		if !(e.Sigma >= 0) || math.IsInf(e.Sigma, 0) {
			return &OptionError{Option: "Noise", Value: e.Sigma, Want: "an estimate whose Sigma is finite and 0 or more"}
		}
		c.sigma, c.sigmaGiven, c.sigmaAsked, c.noise = 0, false, true, &e
		return nil
	}}
}

// Strength multiplies the strength that follows from the noise level: below 1
// keeps more texture and more noise, above 1 smooths more. Of method "tv" that is
// the weight, of a network the noise level that it is taken to (Report.Rescaling, Level):
// with Strength(2) it removes noise of twice the standard deviation. It comes on top of what
// follows from the image (Adaptation). Of a network with a guide it is a factor on the radii that the
// guide chooses, for any of which the same is proven. The default is 1. It must be positive and at most 1e6.
func Strength(factor float64) Option {
	return option{"Strength", func(c *settings) error {
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
// method's own (for Deblur, Inpaint and Upscale DefaultIterations).
func Iterations(n int) Option {
	return option{"Iterations", func(c *settings) error {
		if n < 1 {
			return &OptionError{Option: "Iterations", Value: n, Want: "1 or more"}
		}
		c.iterations = n
		return nil
	}}
}

// Tolerance sets when an iteration ends: for Denoise with method "tv" the relative
// duality gap (default 1e-4), with "backward-euler" the root mean square error of the
// result (default denoise.DefaultInnerError); for Deblur the relative residual (see
// DefaultTolerance, NetworkTolerance), and for Inpaint and Upscale (default 5e-5, with a guide 1e-4). Denoising by
// other networks is a formula and has none.
func Tolerance(t float64) Option {
	return option{"Tolerance", func(c *settings) error {
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
	return option{"Boundary", func(c *settings) error {
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
	return option{"StepSize", func(c *settings) error {
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
	return option{"Constraint", func(c *settings) error {
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
// Report.Iteration.ErrorBar bounds how far from it the result is. x₀ is the initial estimate,
// or of a network, which makes two runs, or steps and a run, the result of what comes before
// the last. The nearer q is to 1 the less the result is drawn to x₀, and the wider is the error
// bar.
func Contraction(q float64) Option {
	return option{"Contraction", func(c *settings) error {
		if !(q > 0 && q < 1) {
			return &OptionError{Option: "Contraction", Value: q, Want: "a number between 0 and 1, such as 0.98"}
		}
		c.pull = q
		return nil
	}}
}

// StartingPoint names the initial estimate of Deblur.
type StartingPoint uint8

const (
	// StartWiener starts from a Wiener estimate: the default.
	StartWiener StartingPoint = iota
	// StartImage starts from the blurred image itself.
	StartImage
	// StartConstant starts from uniform grey of half intensity.
	StartConstant
)

// Start chooses Deblur's initial estimate.
func Start(s StartingPoint) Option {
	return option{"Start", func(c *settings) error {
		if s > StartConstant {
			return &OptionError{Option: "Start", Value: s, Want: "StartWiener, StartImage or StartConstant"}
		}
		c.start = s
		return nil
	}}
}

// Device computes on the given device, which the caller closes. The default is
// the host's processor. With Network the device is the network's. It is an option of New, and of
// the functions that are no methods.
func Device(d backend.Device) Option {
	return option{"Device", func(c *settings) error {
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
	return option{"Threads", func(c *settings) error {
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
	return option{"MemoryLimit", func(c *settings) error {
		if bytes < 0 {
			return &OptionError{Option: "MemoryLimit", Value: bytes, Want: "0 (no limit) or more"}
		}
		c.memory = bytes
		return nil
	}}
}

// Progress calls f as the work goes on, from the goroutine that called the
// restoration; an error from f stops it and is returned.
func Progress(f func(ProgressReport) error) Option {
	return option{"Progress", func(c *settings) error {
		c.progress = f
		return nil
	}}
}

// ProgressReport is how far a restoration has come.
type ProgressReport struct {
	Fraction  float64 // an estimate of the work done, 0 to 1, never falling
	Iteration int     // iterations made
	Residual  float64 // what is compared with Tolerance
	Tolerance float64
}

// apply applies the options to the defaults.
func apply(options []Option) (settings, error) {
	c := settings{strength: 1, adapt: true, shadows: true, workLimit: denoise.DefaultWorkLimit}
	return c, c.apply(options)
}

// apply applies further options.
func (c *settings) apply(options []Option) error {
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
