package restore

import (
	"context"
	"image"

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
	Method string
	// Denoiser explains what is proven of the denoiser, a line each.
	Denoiser string
	// Network is the certificate of a network; nil for other methods.
	Network *denoise.Certificate
	// Attack is the search for a pair of images that the network expands, and
	// AttackShape of what shape; nil for other methods.
	Attack      *refute.AttackReport
	AttackShape backend.Shape
	// Repeated is the network applied to the image again and again; nil for other
	// methods, and without an image.
	Repeated *refute.RepeatReport
	// Certificate is what is proven of the iteration.
	Certificate pnp.Certificate
	// NetworkRounding bounds what float32 adds to the network, and MeasuredRounding is what it
	// added to one image of the attack's shape, both root mean squares, for images in [0, 1];
	// +Inf and NaN where they are not known.
	NetworkRounding, MeasuredRounding float64
	// Rounding bounds what float32 adds to one application of the iteration, and Floor the
	// residual down to which its convergence is proven with that, both root mean squares.
	Rounding, Floor float64
	// Rows are the iterations of the two runs; none without an image.
	Rows []pnp.CheckRow
	// Expansion is the largest ratio of the distances of the two runs after and
	// before an iteration.
	Expansion float64
	// Holds tells whether something is proven and nothing contradicts it. Violations are the
	// contradictions.
	Holds      bool
	Violations []string
}

// Check prints what is proven of a method's denoiser and of the plug-and-play
// iteration with it, and, given an image, tries to contradict it: the iteration
// for that image as the blurred one (the first of Deblur's two runs with a network, and without
// acceleration) runs from two starts, the image itself and
// uniform grey, and its residuals and the distance of the two runs are held
// against their bounds. Without an image (nil) the certificate is all. Without a
// kernel (the zero value) a motion blur of 15 pixels is taken. Of the options
// those of Deblur apply that concern a single run; Iterations is the number of iterations of either.
//
// The certificate of a network is proven anew, of embedded weights too, unless the network
// is given with Network: then it is as it was loaded (denoise.Prove).
//
// A network is also attacked, with and without an image: gradient ascent looks for a
// pair of images that it moves apart (refute.Attack), at the noise level that it is for,
// because rescaling only scales the pair; one for all noise levels is attacked at the
// level of the image, or its card's. And, given an image, it is applied to it
// again and again, as many times, without clipping (the paper, section 4.4;
// refute.Repeat), rescaled and relaxed as in Deblur.
//
// A network with a guide is frozen for the image, as in the first of Deblur's runs. It is attacked
// with the radii that its guide gives to an image, with a checkerboard of radii of 0 and without
// end, and with random ones; the worst pair is reported.
func Check(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (*CheckReport, error) {
	r, err := forOne(taskCheck, options)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.Check(ctx, img, kernel)
}

// Check does what the function Check does.
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
		p, err := open(img, c.device.Description().Threads)
		if err != nil {
			return nil, err
		}
		if err := c.findNoise(ctx, report, p.measured(), underBlur(deblurring.OneKernel(kernel))); err != nil {
			return nil, err
		}
		seen = p.planar.planes()
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
	found, err := problem.Check(ctx, job, certificateOnly)
	return (*CheckReport)(found), err
}

// ExactOnly tells whether convergence is proven in exact arithmetic only: no bound of what float32
// adds is known, or it leaves nothing, for no residual of images in [0, 1] is above 1.
func (r *CheckReport) ExactOnly() bool { return r.Certificate.Converges() && !(r.Floor < 1) }
