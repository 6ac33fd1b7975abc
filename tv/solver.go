package tv

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// solver solves the problem of one group of axes.
type solver struct {
	dev      backend.Device
	u, y     backend.Buffer
	start    start
	problem  backend.TVProblem
	limit    int                          // of iterations
	target   func(primal float64) float64 // the gap to reach
	progress func(iteration int, relativeGap float64) error
}

// start says where a solution begins, and where it is kept.
type start struct {
	p       backend.Buffer // the dual variable
	u       backend.Buffer // if not nil, a copy of the primal solution is put here
	warm    bool           // p and u are from a similar problem, else p is zero
	project bool           // p may lie outside of its balls
}

// run iterates until the gap is at most the target, float32 allows no better, or
// the limit of iterations is reached.
func (s *solver) run(ctx context.Context) (GroupReport, error) {
	var r GroupReport
	if err := s.begin(); err != nil {
		return r, err
	}
	steps, clock := newSteps(), gapClock{}
	rounding, err := s.rounding()
	if err != nil {
		return r, err
	}
	past := plateau{rounding: rounding}
	evaluateAt := firstEvaluation
	if s.start.warm || s.problem.Alpha == 0 {
		evaluateAt = 0
	}
	for it := 0; ; it++ {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if it == min(evaluateAt, s.limit) {
			if err := s.evaluate(&r, it, &steps); err != nil {
				return r, err
			}
			target := s.target(r.Primal)
			r.Converged = r.Gap <= target
			r.AtFloor = !r.Converged && past.reached(it, r.Gap, r.Primal)
			if r.Converged || r.AtFloor || it == s.limit {
				return r, s.keep()
			}
			if it == 0 {
				steps.resume(r.Gap / r.Primal)
				evaluateAt = firstWarmEvaluation
			} else {
				if clock.it > 0 && r.Gap > 1.5*clock.gap {
					steps.product = safeProduct
				}
				clock.target = max(target, floorOfGap*r.Primal)
				evaluateAt = clock.after(it, r.Gap)
			}
		}
		if err := s.dev.TVIterate(s.u, s.start.p, s.y, s.problem, steps.next()); err != nil {
			return r, err
		}
	}
}

// rounding is about the gap that rounding of u to float32 makes (see the package comment). Independent errors have a standard
// deviation of at most 2⁻²⁴/√3 of a sample. Their gradient is at most 2·2⁻²⁴/√3 times as long as u, and u no longer than y. The gap
// gets α times the sum of its lengths at all pixels.
func (s *solver) rounding() (gap float64, err error) {
	var squares [1]float64
	err = s.dev.Reduce(squares[:], backend.Reduction{Kind: backend.SumSquares, X: s.y})
	return float64(s.problem.Alpha) * 0x1p-23 / math.Sqrt(3) * math.Sqrt(float64(s.y.Shape().Plane())*squares[0]), err
}

// begin sets u and p to the point to start from. A warm u is nearer to the
// solution than the y − ∇ᵀp of the warm p, in which the noise is not averaged out.
func (s *solver) begin() error {
	if s.problem.Alpha == 0 {
		if err := s.dev.Fill(s.start.p, 0); err != nil {
			return err
		}
	}
	if !s.start.warm || s.problem.Alpha == 0 {
		return s.dev.TVPrimal(s.u, s.start.p, s.y, 1)
	}
	if err := s.dev.LinearCombination(s.u, backend.Term{A: 1, X: s.start.u}); err != nil {
		return err
	}
	if !s.start.project {
		return nil
	}
	// A step of length zero is the projection.
	return s.dev.TVIterate(s.u, s.start.p, s.y, s.problem, backend.TVStep{})
}

// evaluate finishes the iteration and records the gap.
func (s *solver) evaluate(r *GroupReport, it int, steps *steps) error {
	if it > 0 {
		if err := s.dev.TVPrimal(s.u, s.start.p, s.y, steps.finish()); err != nil {
			return err
		}
	}
	v, err := s.dev.TVEvaluate(s.u, s.start.p, s.y, s.problem)
	if err != nil {
		return err
	}
	return s.record(r, it, v)
}

// keep copies the solution to where it is kept.
func (s *solver) keep() error {
	if s.start.u == nil {
		return nil
	}
	return s.dev.LinearCombination(s.start.u, backend.Term{A: 1, X: s.u})
}

// record puts the values at an iteration into the report and tells the caller.
func (s *solver) record(r *GroupReport, it int, v backend.TVValue) error {
	r.Iterations = it
	r.Evaluations++
	r.Primal, r.Dual, r.Gap = v.Primal(), v.Dual(), v.Gap()
	if math.IsNaN(r.Primal+r.Gap) || math.IsInf(r.Primal+r.Gap, 0) {
		return fmt.Errorf("%w: it holds NaN, infinite or huge values", ErrNotFinite)
	}
	if s.progress == nil {
		return nil
	}
	relative := 0.0
	if r.Gap > 0 {
		relative = r.Gap / r.Primal
	}
	return s.progress(it, relative)
}

// floorOfGap is about the smallest relative gap that float32 iterates reach.
const floorOfGap = 2e-8

// plateau notices that the gap has stopped to fall.
type plateau struct {
	rounding float64 // the gap that rounding makes
	its      []int
	gaps     []float64
}

// reached records a gap and tells whether float32 allows no better: the gap is
// small, and has hardly fallen while the iterations grew by half,
// where it would have fallen to a quarter. The first few iterations of a warm start may
// make it hardly fall, too, so small is what rounding makes, or ten times what float32 reaches on photographs.
func (p *plateau) reached(it int, gap, primal float64) bool {
	const grown, fallen = 1.5, 0.7
	small := max(1e-6*primal, p.rounding)
	flat := false
	for i, before := range p.its {
		if before > 0 && float64(it) >= grown*float64(before) {
			flat = gap > fallen*p.gaps[i]
		}
	}
	p.its, p.gaps = append(p.its, it), append(p.gaps, gap)
	return flat && gap < small
}
