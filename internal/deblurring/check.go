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
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/pnp"
)

// Checked is what Check found: restore.CheckReport explains the fields.
type Checked struct {
	Method                            string
	Denoiser                          string
	Network                           *denoise.Certificate
	Attack                            *refute.AttackReport
	AttackShape                       backend.Shape
	Repeated                          *refute.RepeatReport
	Certificate                       pnp.Certificate
	NetworkRounding, MeasuredRounding float64
	Rounding, Floor                   float64
	Rows                              []pnp.CheckRow
	Expansion                         float64
	Holds                             bool
	Violations                        []string
}

// checkIterations is how many iterations Check makes unless told otherwise.
const checkIterations = 100

// Check attacks the denoiser, applies it again and again, and runs the iteration from two starts, iterations times each;
// with certificateOnly it does only what needs no image.
func (d *Problem) Check(ctx context.Context, j Job, certificateOnly bool) (*Checked, error) {
	limit := j.Iterations
	if limit == 0 {
		limit = checkIterations
	}
	if certificateOnly {
		limit = 1
	}
	report := &Checked{Method: j.Choice.Method}
	stages := d.newStages(j.Progress, limit, certificateOnly)
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
	if err := d.checkIteration(ctx, j.Constraint, report, limit, certificateOnly, stages); err != nil {
		return nil, err
	}
	report.Holds = report.Certificate.Proven && len(report.Violations) == 0 && !report.drowned()
	return report, stages.meter.End()
}

// drowned tells whether float32 computes another map than the one that the certificate is of:
// its rounding may be as large as white, or was seen to be half of a grey level.
func (r *Checked) drowned() bool {
	return r.NetworkRounding >= 1 && !math.IsInf(r.NetworkRounding, 1) || r.MeasuredRounding >= 0.5/255
}

// repeat applies the denoiser to the image again and again.
func (d *Problem) repeat(ctx context.Context, report *Checked, limit int, s *stages) error {
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
func (d *Problem) checkIteration(ctx context.Context, constraint pnp.Constraint, report *Checked, limit int, certificateOnly bool, s *stages) error {
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
		DataStep: d.data, Step: d.step, Constraint: constraint, MaxIterations: limit,
		Progress: func(p backend.Progress) error { return s.report(p.Fraction, p.Iteration, p.Residual) },
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

// describe is the certificate of the proximal map of total variation; in general
// terms where there is no image whose noise sets its weight.
func (d *Problem) describe(alpha float64, general bool) string {
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

// Stand returns an image that stands for any where Check has none, of which only size and brightness count, and the
// noise level that the network is not rescaled for.
func (j Job) Stand(kernel deblur.Kernel) (p *imageplanes.Planes, sigma float64, err error) {
	channels, sigma := 3, 0.05 // of no matter to total variation
	card, isNetwork, err := j.Choice.Card()
	if err != nil {
		return nil, 0, err
	}
	if isNetwork {
		channels, sigma = card.Architecture.Channels, card.Sigma/Level(j.Choice, 1, kernel, networkStep(j.Choice, 1))
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
