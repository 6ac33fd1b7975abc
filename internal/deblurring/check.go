package deblurring

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/pnp"
)

// NetworkCheck is what was found of a network alone.
type NetworkCheck struct {
	Attack   refute.AttackReport
	Shape    backend.Shape        // of the images of the attack
	Repeated *refute.RepeatReport // nil without an image
	// Rounding bounds what float32 adds, Measured is what it added, NaN if that is not known. Both are root mean
	// squares.
	Rounding, Measured float64
	Violations         []string
}

// Drowned tells whether float32 computes another map than the one that the certificate is of: its rounding may be
// as large as white, or was seen to be half of a grey level.
func (n *NetworkCheck) Drowned() bool {
	return n.Rounding >= 1 && !math.IsInf(n.Rounding, 1) || n.Measured >= 0.5/255
}

// checkIterations is how many iterations Check makes unless told otherwise.
const checkIterations = 100

// Check attacks a network and applies it again and again. Then it runs the iteration from two starts, iterations
// times each. With certificateOnly it does only what needs no image. The network is nil for total variation.
func (d *Problem) Check(ctx context.Context, j Job, certificateOnly bool) (network *NetworkCheck, iteration pnp.CheckReport, err error) {
	limit := j.Iterations
	if limit == 0 {
		limit = checkIterations
	}
	if certificateOnly {
		limit = 1
	}
	stages := d.newStages(j.Progress, limit, certificateOnly)
	if d.network != nil {
		if network, err = d.attack(ctx, stages); err != nil {
			return nil, iteration, err
		}
		if !certificateOnly {
			if err := d.repeat(ctx, network, limit, stages); err != nil {
				return nil, iteration, err
			}
		}
	}
	if iteration, err = d.checkIteration(ctx, j.Constraint, limit, stages); err != nil {
		return nil, iteration, err
	}
	return network, iteration, stages.meter.End()
}

// repeat applies the denoiser to the image again and again.
func (d *Problem) repeat(ctx context.Context, report *NetworkCheck, limit int, s *stages) error {
	s.next()
	image := d.y
	if d.network.Frozen != nil { // for images of the iteration's shape alone
		extended, err := d.start(ctx, StartImage)
		if err != nil {
			return err
		}
		defer extended.Free()
		image = extended
	}
	found, err := refute.Repeat(ctx, d.network.Denoiser, image, refute.RepeatOptions{
		Iterations: limit,
		Progress:   func(p backend.Progress) error { return s.report(p.Fraction, p.Iteration, p.Residual) },
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

// checkIteration runs the iteration of Deblur from two starts.
func (d *Problem) checkIteration(ctx context.Context, constraint pnp.Constraint, limit int, s *stages) (found pnp.CheckReport, err error) {
	s.next()
	var trials [2]pnp.Trial
	for i, from := range []StartingPoint{StartImage, StartConstant} {
		phi, done, err := d.denoiser()
		if err != nil {
			return found, err
		}
		defer done()
		start, err := d.start(ctx, from)
		if err != nil {
			return found, err
		}
		defer start.Free()
		trials[i] = pnp.Trial{Start: start, Denoiser: phi}
	}
	return pnp.Check(ctx, d.dev, d.y, d.k, trials, pnp.Options{
		DataStep: d.data, Step: d.step, Constraint: constraint, MaxIterations: limit,
		Progress: func(p backend.Progress) error { return s.report(p.Fraction, p.Iteration, p.Residual) },
	})
}

// Certificate is that of the network, nil for total variation.
func (d *Problem) Certificate() *denoise.Certificate {
	if d.network == nil {
		return nil
	}
	certificate := d.network.Certificate()
	return &certificate
}

// stages are the parts of a check, each with its share of the work.
type stages struct {
	meter  *meter.Meter
	shares []float64 // of the stages to come
	before float64   // of those that are done
	share  float64   // of the stage that runs
}

// newStages estimates the shares by pixels that the denoiser is applied to.
func (d *Problem) newStages(call backend.ProgressFunc, limit int, certificateOnly bool) *stages {
	s := &stages{meter: meter.New(call, 0)}
	if d.network != nil {
		// An iteration of the attack takes about as long as nine applications.
		s.shares = append(s.shares, 9*refute.DefaultAttackRestarts*refute.DefaultAttackIterations*networks.AttackSide*networks.AttackSide)
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
	return s.meter.Report(min(1, s.before+s.share*fraction), iteration, residual)
}

// Describe says what is proven of the denoiser, one line for each step of the proof. Without an image, whose noise
// sets the weight of total variation, it describes that in general terms.
func (d *Problem) Describe(iteration pnp.Certificate, certificateOnly bool) string {
	if c := d.Certificate(); c != nil {
		return c.String()
	}
	weight := "τλ"
	if !certificateOnly {
		weight = fmt.Sprintf("%.6g", d.step*d.weight)
	}
	return fmt.Sprintf(`Φ = proximal map of %s·TV, coupling %v
Φ is firmly nonexpansive, that is %g-averaged: it is the proximal map of a convex function (Moreau 1965)
the orthonormal change of colour axes keeps that: Uᵀ·prox·U is the proximal map of f(U·)
computed with a duality gap, by strong convexity ‖u − Φ(y)‖ ≤ √(2·gap); the errors are in the bounds below
what float32 adds is in these errors, and does not get smaller with more iterations`, weight, inverse.Coupling(d.planar.Channels), iteration.Denoiser)
}

// Stand returns an image that stands for any where Check has none, of which only size and brightness count, and the
// noise level that the network is not rescaled for.
func (j Job) Stand(kernel deblur.Kernel) (p *imageplanes.Planes, sigma float64, err error) {
	channels, sigma := 3, 0.05 // of no matter to total variation
	card, isNetwork, err := j.Choice.Card()
	if err != nil {
		return nil, 0, err
	}
	if isNetwork {
		channels, sigma = card.Architecture.Channels, card.Sigma/level(j.Choice, 1, kernel, networkStep(j.Choice, 1))
		if channels != 1 && channels != 3 {
			return nil, 0, fmt.Errorf("restore: weights %q are for images of %d channels, must be 1 (grey) or 3 (RGB)", card.Name, channels)
		}
	}
	p = imageplanes.New(channels, networks.AttackSide, networks.AttackSide)
	for i := range p.Pix {
		p.Pix[i] = 1 // as bright as any: rounding is bounded by how large an image is
	}
	return p, sigma, nil
}
