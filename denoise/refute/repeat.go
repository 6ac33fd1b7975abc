package refute

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/nn/tile"
)

// DefaultRepetitions is the number of iterations of Repeat.
const DefaultRepetitions = 100

// RepeatOptions of Repeat. The zero value is useful.
type RepeatOptions struct {
	// Iterations; 0 means DefaultRepetitions.
	Iterations int
	// Clip projects the start and every iterate onto [0,1]ⁿ, which the paper does not.
	// Then T surely has a fixed point (Brouwer), and the bound is known beforehand.
	Clip bool
	// Progress is called after every iteration. Residual is ‖x_k − T(x_k)‖/‖T(x_k)‖.
	Progress backend.ProgressFunc
}

// Repetition is one iteration of Repeat.
type Repetition struct {
	Iteration int     // k, from 0
	Residual  float64 // ‖x_k − T(x_k)‖
	// Bound is what Residual is proven not to exceed; +Inf where nothing is proven. It is
	// the first residual, because residuals of a nonexpansive map never grow, and with
	// Clip also √(α/((1−α)(k+1)))·Distance, either with what inner errors and rounding may have
	// added.
	Bound float64
	Size  float64 // ‖T(x_k)‖
}

// RepeatReport is what Repeat saw.
type RepeatReport struct {
	Rows []Repetition
	// Averagedness α of T, if Proven.
	Averagedness float64
	Proven       bool
	// Distance bounds ‖x₀ − x*‖ for every fixed point x* with Clip; else +Inf.
	Distance float64
	// Violations are the proven claims that the run contradicts, a line each.
	Violations []string
	errors     float64 // the sum of those of T
	// Diverged tells that the iterates left the range of float32, which ended the run.
	Diverged bool
}

// Holds tells whether something was proven, and all of it was seen.
func (r RepeatReport) Holds() bool { return r.Proven && len(r.Violations) == 0 && !r.Diverged }

// repeatRounding is twice the relative error that Repeat allows to one application of T where no
// bound is proven.
const repeatRounding = 2e-5

// Repeat applies Φ again and again, x_{k+1} = T(x_k) with T = Φ or, with Clip, T = P∘Φ (the
// paper, section 4.4): for an averaged map the residuals go to 0 if there is a fixed
// point, an unconstrained network may diverge. It compares each residual with what is
// proven, with room for rounding in float32.
func Repeat(ctx context.Context, d Denoiser, x0 backend.Buffer, opt RepeatOptions) (RepeatReport, error) {
	if d == nil {
		return RepeatReport{}, errNoDenoiser
	}
	if x0 == nil {
		return RepeatReport{}, fmt.Errorf("%w: a repetition needs an image to begin with", backend.ErrArgument)
	}
	if opt.Iterations < 0 {
		return RepeatReport{}, fmt.Errorf("%w: %d repetitions", backend.ErrArgument, opt.Iterations)
	}
	if opt.Iterations == 0 {
		opt.Iterations = DefaultRepetitions
	}
	dev := d.Device()
	s := tile.NewScratch(dev)
	defer s.Free()
	x, err := s.Alloc(x0.Shape())
	if err != nil {
		return RepeatReport{}, err
	}
	next, err := s.Alloc(x0.Shape())
	if err != nil {
		return RepeatReport{}, err
	}
	if err := dev.LinearCombination(x, backend.Term{A: 1, X: x0}); err != nil {
		return RepeatReport{}, err
	}
	report := RepeatReport{Distance: math.Inf(1)}
	report.Averagedness, report.Proven = d.Averagedness()
	if opt.Clip {
		if err := dev.Clip(x, x, 0, 1); err != nil {
			return RepeatReport{}, err
		}
		if report.Distance, err = farthestCorner(dev, x); err != nil {
			return RepeatReport{}, err
		}
		if report.Proven {
			report.Averagedness = averaged.Composition(report.Averagedness, averaged.Firm)
		}
	}
	for k := range opt.Iterations {
		inexact, err := applyWithin(ctx, d, next, x, innerError*math.Sqrt(float64(x.Shape().Len())))
		if err != nil {
			return RepeatReport{}, err
		}
		if opt.Clip {
			if err := dev.Clip(next, next, 0, 1); err != nil {
				return RepeatReport{}, err
			}
		}
		var sums [3]float64
		err = dev.Reduce(sums[:], backend.Reduction{Kind: backend.DiffSquares, X: next, Y: x},
			backend.Reduction{Kind: backend.SumSquares, X: next}, backend.Reduction{Kind: backend.SumSquares, X: x})
		if err != nil {
			return RepeatReport{}, err
		}
		row := Repetition{Iteration: k, Residual: math.Sqrt(sums[0]), Size: math.Sqrt(sums[1])}
		if !(row.Residual <= math.MaxFloat32 && row.Size <= math.MaxFloat32) {
			report.Diverged = true
			return report, nil
		}
		rounding, err := roundingOf(ctx, d, math.Sqrt(sums[2]), x.Shape())
		if err != nil {
			return RepeatReport{}, err
		}
		if math.IsInf(rounding, 1) {
			rounding = repeatRounding / 2 * row.Size
		}
		report.add(row, inexact+rounding, float64(x.Shape().Len()), opt.Clip)
		if opt.Progress != nil {
			now := backend.Progress{Fraction: float64(k+1) / float64(opt.Iterations), Iteration: k + 1}
			if now.Residual = row.Residual; row.Size > 0 {
				now.Residual /= row.Size
			}
			if err := opt.Progress(now); err != nil {
				return RepeatReport{}, err
			}
		}
		x, next = next, x
	}
	return report, nil
}

// add appends a row with its bound, and the claims that it contradicts. T(x) as computed has an
// error of at most e, which shows in two neighbouring residuals and in all bounds from then on.
func (r *RepeatReport) add(row Repetition, e, samples float64, clip bool) {
	row.Bound = math.Inf(1)
	if r.Proven {
		r.errors += e
		if k := row.Iteration; k > 0 {
			row.Bound = r.Rows[0].Residual + 2*r.errors
			if row.Residual > r.Rows[k-1].Residual+2*e {
				r.Violations = append(r.Violations, fmt.Sprintf("iteration %d: the residual grew from %.9g to %.9g", row.Iteration, r.Rows[k-1].Residual, row.Residual))
			}
		}
		if a := r.Averagedness; a < 1 && clip {
			// Points of the box are at most √samples apart: with errors e_k the bound of the
			// squares, ‖x₀ − x*‖², grows by 2·√samples·e_k + e_k².
			distance := math.Sqrt(r.Distance*r.Distance + 3*math.Sqrt(samples)*r.errors)
			row.Bound = min(row.Bound, averaged.ResidualBound(a, row.Iteration, distance))
		}
		if row.Residual > row.Bound+2*e {
			r.Violations = append(r.Violations, fmt.Sprintf("iteration %d: the residual %.9g is above its bound %.9g", row.Iteration, row.Residual, row.Bound))
		}
	}
	r.Rows = append(r.Rows, row)
}

// farthestCorner returns the distance of x, inside the box [0,1]ⁿ, from the corner that
// is farthest away.
func farthestCorner(dev backend.Device, x backend.Buffer) (float64, error) {
	host := make([]float32, x.Shape().Len())
	if err := dev.Download(host, x); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range host {
		far := math.Max(float64(v), 1-float64(v))
		sum += far * far
	}
	return math.Sqrt(sum), nil
}
