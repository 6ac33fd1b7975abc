package restore

import (
	"context"
	"image"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/pnp"
)

// CheckReport is what Check found.
type CheckReport struct {
	// Method is the name of the denoiser, one of Methods.
	Method string
	// Denoiser explains what is proven of the denoiser, one line for each step of the proof.
	Denoiser string
	// Network is the certificate of a network; nil for other methods.
	Network *denoise.Certificate
	// Attack is the search for two images that contradict the network's constant, and AttackShape is their shape. They
	// are zero for other methods.
	Attack      *refute.AttackReport
	AttackShape backend.Shape
	// Repeated reports on the network applied to the image again and again. It is nil for other methods, and without
	// an image.
	Repeated *refute.RepeatReport
	// Certificate is what is proven of the iteration.
	Certificate pnp.Certificate
	// NetworkRounding bounds what float32 adds to the network's result, +Inf if no bound is known. MeasuredRounding
	// is what it added to one image of the shape AttackShape, NaN if that could not be measured. Both are root mean
	// squares, for images in [0, 1].
	NetworkRounding, MeasuredRounding float64
	// Rounding bounds what float32 adds to one application of the iteration. Floor is the residual down to which
	// convergence is proven with that rounding. Both are root mean squares.
	Rounding, Floor float64
	// Rows holds the measurements after each iteration of the two runs. It is empty without an image.
	Rows []pnp.CheckRow
	// Expansion is the largest ratio between the distance of the two runs after an iteration and their distance
	// before it.
	Expansion float64
	// Holds reports that something is proven and nothing contradicts it. Violations are the contradictions.
	Holds      bool
	Violations []string
}

// Check states what is proven of a method's denoiser and of the plug-and-play iteration with it. Given an image, it
// also tries to contradict the proof. img may be nil; then Check only makes the certificate. A kernel of zero value
// stands for a motion blur of 15 pixels at 30 degrees.
//
// Check runs the iteration twice for img as the blurred photograph: from img itself, and from uniform grey. It
// compares the residuals, and the distance between the two runs, with their proven bounds. The iteration is that of
// Deblur's first run, without acceleration.
//
// Check proves the certificate of a network again, also for embedded weights. A network given by the option Network
// keeps the certificate that it was loaded with (denoise.Prove).
//
// Check attacks a network, with or without an image: gradient ascent looks for two images that contradict its constant
// (refute.Attack). The attack uses the noise level that the network is for, since rescaling only scales the pair. A network for all noise levels is attacked at the level of the image, or without an image at that of its
// card. Given an image, Check also applies the network to it again and again, without clipping (refute.Repeat; Sherry
// et al., section 4.4).
//
// A network with a guide is frozen for the image first, as in Deblur. It is attacked with the radii that its guide
// chooses, with a checkerboard of radii 0 and +Inf, and with random radii. Attack reports the worst pair.
//
// Check takes the options of Deblur that concern a single run. Iterations is the length of each run, 100 by default.
// An error says that an option, the kernel or the image is invalid, or that the device failed. A contradiction is not
// an error: it is in CheckReport.Violations.
func Check(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (*CheckReport, error) {
	r, err := forOne(taskCheck, options)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.Check(ctx, img, kernel)
}

// Check is the function Check with the options of r.
func (r *Restorer) Check(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (*CheckReport, error) {
	c, done, err := r.begin(ctx, taskCheck, options)
	if err != nil {
		return nil, err
	}
	defer done()
	if kernel.Weights == nil {
		if kernel, err = deblur.Motion(15, 30); err != nil {
			return nil, err
		}
	}
	job, report := c.deblurring(), &outcome.Report{Method: c.choice.Method}
	seen, certificateOnly := (*imageplanes.Planes)(nil), img == nil
	if certificateOnly {
		if seen, report.Noise.Sigma, err = job.Stand(kernel); err != nil {
			return nil, err
		}
		if c.sigmaGiven {
			report.Noise.Sigma = c.sigma
		}
	} else {
		p, err := open(ctx, img, c.device.Description().Threads)
		if err != nil {
			return nil, err
		}
		if err := c.findNoise(ctx, report, p.measured(), underBlur(deblurring.OneKernel(kernel))); err != nil {
			return nil, err
		}
		seen = p.planes
	}
	problem, err := job.New(ctx, seen, deblurring.OneKernel(kernel), report)
	if err != nil {
		return nil, err
	}
	defer problem.Free()
	if c.choice.Guided() {
		if err := problem.FreezeFirst(ctx); err != nil {
			return nil, err
		}
	}
	network, iteration, err := problem.Check(ctx, job, certificateOnly)
	if err != nil {
		return nil, err
	}
	root := math.Sqrt(iteration.Samples)
	found := &CheckReport{
		Method: c.choice.Method, Denoiser: problem.Describe(iteration.Certificate, certificateOnly), Network: problem.Certificate(),
		Certificate: iteration.Certificate, Rounding: iteration.Rounding / root, Floor: iteration.Floor() / root,
	}
	if !certificateOnly {
		found.Rows, found.Expansion = iteration.Rows, iteration.Expansion
	}
	drowned := false
	if network != nil {
		found.Attack, found.AttackShape, found.Repeated = &network.Attack, network.Shape, network.Repeated
		found.NetworkRounding, found.MeasuredRounding = network.Rounding, network.Measured
		found.Violations, drowned = network.Violations, network.Drowned()
	}
	found.Violations = append(found.Violations, iteration.Violations...)
	found.Holds = found.Certificate.Proven && len(found.Violations) == 0 && !drowned
	return found, nil
}

// ExactOnly reports that convergence is proven in exact arithmetic only. Then the bound of what float32 adds is
// unknown, or too large to say anything: Floor is 1 or more, as large as an image in [0, 1].
func (r *CheckReport) ExactOnly() bool { return r.Certificate.Converges() && !(r.Floor < 1) }
