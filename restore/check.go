package restore

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/pnp"
)

// CheckRow is one iteration of both runs of Check.
type CheckRow = pnp.CheckRow

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
	Rows []CheckRow
	// Expansion is the largest ratio of the distances of the two runs after and
	// before an iteration.
	Expansion float64
	// Holds tells whether something is proven and nothing contradicts it. Violations are the
	// contradictions.
	Holds      bool
	Violations []string
}

// checkIterations is how many iterations Check makes unless told otherwise.
const checkIterations = 100

// attackSide is the side of the images of the attack: a few times what a convolution
// sees, and small enough for the attack on the paper's network to take seconds. The
// certificate is the same for every size.
const attackSide = 32

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
	var p picture
	if img != nil {
		if p, err = open(img, c.on().Description().Threads); err != nil {
			return nil, err
		}
	} else if p, err = c.stand(kernel); err != nil {
		return nil, err
	}
	report := &Report{Method: c.method}
	if err := report.findSigma(ctx, c, p.measured(), settings.blurredNoise); err != nil {
		return nil, err
	}
	problem, err := newDeblurring(ctx, c.on(), p.planar, oneKernel(kernel), c, report)
	if err != nil {
		return nil, err
	}
	defer problem.free()
	if c.guided() {
		if err := problem.freezeFirst(ctx); err != nil {
			return nil, err
		}
	}
	return problem.check(ctx, c, img == nil)
}

// stand returns an image that stands for any, of which only size and brightness count, and sets
// a noise level if none is given: the one that the network is not rescaled for.
func (c *settings) stand(kernel deblur.Kernel) (picture, error) {
	channels, sigma := 3, 0.05 // of no matter to total variation
	card, given, err := c.card()
	if err != nil {
		return picture{}, err
	}
	if given {
		channels, sigma = card.Architecture.Channels, card.Sigma/c.deblurLevel(1, kernel, c.networkStep(1))
		if channels != 1 && channels != 3 {
			return picture{}, fmt.Errorf("restore: weights %q are for images of %d channels, must be 1 (grey) or 3 (RGB)", card.Name, channels)
		}
	}
	if !c.sigmaGiven {
		c.sigma, c.sigmaGiven = sigma, true
	}
	planar := NewPlanar(channels, attackSide, attackSide)
	for i := range planar.Pix {
		planar.Pix[i] = 1 // as bright as any: rounding is bounded by how large an image is
	}
	return picture{planar: planar}, nil
}

func (d *deblurring) check(ctx context.Context, c settings, certificateOnly bool) (*CheckReport, error) {
	limit := c.iterations
	if limit == 0 {
		limit = checkIterations
	}
	if certificateOnly {
		limit = 1
	}
	report := &CheckReport{Method: c.method}
	stages := d.newStages(c.progress, limit, certificateOnly)
	if d.network != nil {
		if err := d.attack(ctx, report, stages); err != nil {
			return nil, err
		}
		if !certificateOnly {
			if err := d.repeat(ctx, report, limit, stages); err != nil {
				return nil, err
			}
		}
	}
	if err := d.checkIteration(ctx, c, report, limit, certificateOnly, stages); err != nil {
		return nil, err
	}
	report.Holds = report.Certificate.Proven && len(report.Violations) == 0 && !report.drowned()
	return report, stages.meter.end()
}

// drowned tells whether float32 computes another map than the one that the certificate is of:
// its rounding may be as large as white, or was seen to be half of a grey level.
func (r *CheckReport) drowned() bool {
	return r.NetworkRounding >= 1 && !math.IsInf(r.NetworkRounding, 1) || r.MeasuredRounding >= 0.5/255
}

// ExactOnly tells whether convergence is proven in exact arithmetic only: no bound of what float32
// adds is known, or it leaves nothing, for no residual of images in [0, 1] is above 1.
func (r *CheckReport) ExactOnly() bool { return r.Certificate.Converges() && !(r.Floor < 1) }

// attack looks for a pair of images that the network expands.
func (d *deblurring) attack(ctx context.Context, report *CheckReport, s *stages) error {
	s.next()
	network := d.network.network
	report.AttackShape = backend.Image(network.Channels(), attackSide, attackSide)
	attack := d.attackNetwork
	if network.Guided() {
		attack = d.attackFrozen
	}
	found, err := attack(ctx, report.AttackShape, func(fraction float64) error { return s.report(fraction, 0, 0) })
	if err != nil {
		return fmt.Errorf("restore: attack: %w", err)
	}
	report.Attack = &found
	if err := d.measureRounding(ctx, report); err != nil {
		return err
	}
	if _, proven := network.Averagedness(); proven && found.Expansive() {
		report.Violations = append(report.Violations,
			attackViolation(found))
	}
	return nil
}

func attackViolation(found refute.AttackReport) string {
	if found.NotFinite {
		return "attack: the network's result is not finite"
	}
	return fmt.Sprintf("attack: the network moves two images apart by a factor of %.9g, which rounding of %.2g does not explain", found.Ratio, found.Rounding)
}

// measureRounding bounds the rounding of the network for images in [0, 1], and measures it on
// one of noise.
func (d *deblurring) measureRounding(ctx context.Context, report *CheckReport) error {
	network, shape := d.network.network, report.AttackShape
	root := math.Sqrt(float64(shape.Len()))
	report.MeasuredRounding = math.NaN()
	bound, err := network.Rounding(ctx, root, shape)
	if err != nil {
		return fmt.Errorf("restore: rounding: %w", err)
	}
	report.NetworkRounding = bound / root
	x, err := d.dev.Alloc(shape)
	if err != nil {
		return err
	}
	defer x.Free()
	if err := d.dev.Gaussian(x, 1, 0.5, 0.25); err != nil {
		return err
	}
	if err := d.dev.Clip(x, x, 0, 1); err != nil {
		return err
	}
	switch measured, err := network.MeasuredRounding(ctx, x); {
	case err == nil:
		report.MeasuredRounding = measured / root
	case !errors.Is(err, denoise.ErrNotMeasured):
		return fmt.Errorf("restore: rounding: %w", err)
	}
	return nil
}

// attackNetwork is the attack on a network without a guide.
func (d *deblurring) attackNetwork(ctx context.Context, shape backend.Shape, progress func(fraction float64) error) (refute.AttackReport, error) {
	return refute.Attack(ctx, d.network.target(), shape, refute.AttackOptions{
		Progress: func(fraction, ratio float64) error { return progress(fraction) },
	})
}

// repeat applies the denoiser to the image again and again.
func (d *deblurring) repeat(ctx context.Context, report *CheckReport, limit int, s *stages) error {
	s.next()
	image := d.y
	if d.network.frozen != nil { // for images of the iteration's shape alone
		extended, err := d.start(ctx, StartImage)
		if err != nil {
			return err
		}
		defer extended.Free()
		image = extended
	}
	found, err := refute.Repeat(ctx, d.network.Denoiser, image, refute.RepeatOptions{
		Iterations: limit,
		Progress: func(r refute.Repetition) error {
			return s.report(float64(r.Iteration+1)/float64(limit), r.Iteration+1, relative(r.Residual, r.Size))
		},
	})
	if err != nil {
		return fmt.Errorf("restore: repeated application: %w", err)
	}
	report.Repeated = &found
	for _, v := range found.Violations {
		report.Violations = append(report.Violations, "applied again and again: "+v)
	}
	if found.Proven && found.Diverged {
		report.Violations = append(report.Violations, fmt.Sprintf("applied again and again: the image is not finite after %d times", len(found.Rows)+1))
	}
	return nil
}

func relative(residual, size float64) float64 {
	if residual == 0 {
		return 0
	}
	return residual / size
}

// checkIteration runs the iteration of Deblur from two starts.
func (d *deblurring) checkIteration(ctx context.Context, c settings, report *CheckReport, limit int, certificateOnly bool, s *stages) error {
	s.next()
	var trials [2]pnp.Trial
	for i, from := range []StartingPoint{StartImage, StartConstant} {
		phi, done, err := d.denoiser()
		if err != nil {
			return err
		}
		defer done()
		start, err := d.start(ctx, from)
		if err != nil {
			return err
		}
		defer start.Free()
		trials[i] = pnp.Trial{Start: start, Denoiser: phi}
	}
	found, err := pnp.Check(ctx, d.dev, d.y, d.k, trials, pnp.Options{
		DataStep: d.data, Step: d.step, Constraint: c.constraint, MaxIterations: limit,
		Progress: func(p pnp.Progress) error {
			return s.report(float64(p.Iteration)/float64(p.MaxIterations), p.Iteration, p.Residual)
		},
	})
	if err != nil {
		return err
	}
	report.Certificate = found.Certificate
	report.Rounding, report.Floor = found.Rounding/math.Sqrt(found.Samples), found.Floor()/math.Sqrt(found.Samples)
	report.Violations = append(report.Violations, found.Violations...)
	if !certificateOnly {
		report.Rows, report.Expansion = found.Rows, found.Expansion
	}
	alpha, _ := trials[0].Denoiser.Averagedness()
	if d.network != nil {
		certificate := d.network.Certificate()
		report.Network, report.Denoiser = &certificate, certificate.String()
	} else {
		report.Denoiser = d.describe(alpha, certificateOnly)
	}
	return nil
}

// stages are the parts of a check, each with its share of the work.
type stages struct {
	meter  *meter
	shares []float64 // of the stages to come
	before float64   // of those that are done
	share  float64   // of the stage that runs
}

// newStages estimates the shares by pixels that the denoiser is applied to.
func (d *deblurring) newStages(call func(ProgressReport) error, limit int, certificateOnly bool) *stages {
	s := &stages{meter: newMeter(call, 0)}
	if d.network != nil {
		// An iteration of the attack takes about as long as nine applications.
		s.shares = append(s.shares, 9*refute.DefaultAttackRestarts*refute.DefaultAttackIterations*attackSide*attackSide)
		if !certificateOnly {
			s.shares = append(s.shares, float64(limit)*float64(d.y.Shape().Plane()))
		}
	}
	s.shares = append(s.shares, 2*float64(limit)*float64(d.domain().Plane()))
	sum := 0.0
	for _, v := range s.shares {
		sum += v
	}
	for i := range s.shares {
		s.shares[i] /= sum
	}
	return s
}

// next begins the next stage.
func (s *stages) next() {
	s.before += s.share
	s.share, s.shares = s.shares[0], s.shares[1:]
}

func (s *stages) report(fraction float64, iteration int, residual float64) error {
	return s.meter.report(min(1, s.before+s.share*fraction), iteration, residual)
}

// describe is the certificate of the proximal map of total variation; in general
// terms where there is no image whose noise sets its weight.
func (d *deblurring) describe(alpha float64, general bool) string {
	weight := "τλ"
	if !general {
		weight = fmt.Sprintf("%.6g", d.step*d.weight)
	}
	return fmt.Sprintf(`Φ = proximal map of %s·TV, coupling %v
Φ is firmly nonexpansive, that is %g-averaged: it is the proximal map of a convex function (Moreau 1965)
the orthonormal change of colour axes keeps that: Uᵀ·prox·U is the proximal map of f(U·)
computed with a duality gap, by strong convexity ‖u − Φ(y)‖ ≤ √(2·gap); the errors are in the bounds below
what float32 adds is in these errors, and does not get smaller with more iterations`, weight, d.coupling, alpha)
}
