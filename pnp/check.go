package pnp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// Trial is one of the two runs of Check.
type Trial struct {
	// Start is the initial estimate, of the operator's domain.
	Start backend.Buffer
	// Denoiser is Φ. An InexactDenoiser keeps state between its calls (a warm
	// start), so each trial needs one of its own.
	Denoiser Denoiser
}

// CheckRow is one iteration of both trials of Check.
type CheckRow struct {
	Iteration int
	// Residuals are ‖T(x) − x‖ at this iterate of each trial, with T as computed.
	Residuals [2]float64
	// Distance is ‖a − b‖ between the iterates after this step.
	Distance float64
	// Bound is the proven bound of the smallest residual so far, the larger one of the two trials; +Inf if
	// nothing is proven.
	Bound float64
	// Errors bounds the sum of the errors in computing T so far, over both trials.
	Errors float64
}

// CheckReport is the result of Check.
type CheckReport struct {
	Certificate Certificate
	// Distance0 is the distance of the two starts, after projection onto C.
	Distance0 float64
	Rows      []CheckRow
	// Expansion is the largest ratio of the distance after a step to the distance before it. Only steps count
	// whose distance is at least ten times what errors and rounding can add. It is at most 1.1 for a
	// nonexpansive T, and usually close to 1 or below.
	Expansion float64
	// Violations are the proven claims that the run contradicts, one a line.
	Violations []string
	// Rounding, Excess and Samples are those of Report, over both trials.
	Rounding, Excess, Samples float64
}

// Floor is Report.Floor.
func (r CheckReport) Floor() float64 {
	return r.Certificate.Floor(r.Rounding+r.Excess, math.Sqrt(r.Samples), r.Samples)
}

// Holds tells whether the run contradicts nothing that the certificate promises. It is false for a
// certificate that promises nothing.
func (r CheckReport) Holds() bool { return r.Certificate.Proven && len(r.Violations) == 0 }

// Check runs T from two starts for a number of iterations, and tests two promises of the certificate: the
// distance of the two runs never grows, and the smallest residual of each stays below its bound. Both tests
// allow for the inner errors of the denoiser and for rounding in float32, by the proven bound if there is
// one. opt.MaxIterations is the number of iterations (0: 100). Start, Tolerance, Acceleration and Contraction
// are ignored; Contraction would give each start another T.
//
// Fixed points need not be unique: the two runs may end at different ones.
func Check(ctx context.Context, dev backend.Device, y backend.Buffer, k operator.Linear, trials [2]Trial, opt Options) (CheckReport, error) {
	limit := opt.MaxIterations
	if limit == 0 {
		limit = 100
	}
	var its [2]*iteration
	for i, t := range trials {
		if t.Start == nil || t.Denoiser == nil {
			return CheckReport{}, errors.New("pnp: each trial of a check needs a start and a denoiser")
		}
		o := opt
		o.Start, o.Acceleration, o.Contraction = t.Start, Plain, 0
		it, err := newIteration(dev, y, k, t.Denoiser, o)
		if err != nil {
			return CheckReport{}, err
		}
		defer it.free()
		its[i] = it
	}
	report := CheckReport{Certificate: its[0].certificate, Samples: its[0].samples()}
	distance, err := apart(dev, its)
	if err != nil {
		return CheckReport{}, err
	}
	report.Distance0 = distance
	var least [2]float64
	for i := range least {
		least[i] = math.Inf(1)
	}
	for n := range limit {
		row := CheckRow{Iteration: n + 1}
		before := its[0].errors + its[1].errors
		size, rounded := 0.0, 0.0
		for i, it := range its {
			residual, s, err := it.step(ctx)
			if err != nil {
				return CheckReport{}, err
			}
			row.Residuals[i] = residual
			least[i] = math.Min(least[i], residual)
			rounded += it.arithmetic.last
			report.Rounding = math.Max(report.Rounding, it.arithmetic.most)
			report.Excess = math.Max(report.Excess, it.arithmetic.excess)
			errors := it.errors
			if it.arithmetic.known() {
				errors += it.arithmetic.sum
			}
			row.Bound = math.Max(row.Bound, report.Certificate.residualBound(n, it.distance, errors, report.Samples))
			size = math.Max(size, s)
			if err := it.advance(); err != nil {
				return CheckReport{}, err
			}
		}
		row.Errors = its[0].errors + its[1].errors
		previous := distance
		if distance, err = apart(dev, its); err != nil {
			return CheckReport{}, err
		}
		row.Distance = distance
		report.Rows = append(report.Rows, row)
		if previous > 10*(row.Errors-before+rounding*size) {
			report.Expansion = math.Max(report.Expansion, distance/previous)
		}
		room := rounding * size
		if its[0].arithmetic.known() && its[1].arithmetic.known() {
			room = rounded
		}
		report.hold(row, previous, row.Errors-before+room, least)
		if opt.Progress != nil {
			err := opt.Progress(backend.Progress{Fraction: float64(n+1) / float64(limit), Iteration: n + 1, Residual: relative(row.Residuals[0], size)})
			if err != nil {
				return CheckReport{}, err
			}
		}
	}
	return report, nil
}

// rounding is the relative error allowed to the float32 arithmetic of one
// application of T where no bound of it is known: a few dozen operations of half a unit in
// the last place (6e-8), whose errors add like noise over an image.
const rounding = 2e-5

// hold adds the claims that the iteration contradicts.
func (r *CheckReport) hold(row CheckRow, previous, room float64, least [2]float64) {
	if !r.Certificate.Proven {
		return
	}
	if row.Distance > previous+room {
		r.Violations = append(r.Violations, fmt.Sprintf("iteration %d: the distance of the two runs grew from %.9g to %.9g", row.Iteration, previous, row.Distance))
	}
	for i, v := range least {
		if v > row.Bound+room {
			r.Violations = append(r.Violations, fmt.Sprintf("iteration %d: the smallest residual of run %d, %.9g, is above its bound %.9g", row.Iteration, i+1, v, row.Bound))
		}
	}
}

func apart(dev backend.Device, its [2]*iteration) (float64, error) {
	var sum [1]float64
	err := dev.Reduce(sum[:], backend.Reduction{Kind: backend.DiffSquares, X: its[0].x, Y: its[1].x})
	return math.Sqrt(sum[0]), err
}
