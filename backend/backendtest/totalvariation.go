package backendtest

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

var imageSizes = []backend.Shape{
	backend.Image(1, 1, 1),
	backend.Image(1, 1, 7),
	backend.Image(3, 7, 1),
	backend.Image(1, 2, 2),
	backend.Image(2, 3, 5),
	backend.Image(5, 16, 16),
	backend.Image(3, 17, 31),
	backend.Image(3, 67, 129),
	backend.Image(1, 131, 70),
}

func totalVariationCases() []*testCase {
	usual := backend.TVStep{Primal: 0.2, Extrapolation: 0.15, Dual: 0.5}
	var cases []*testCase
	for _, s := range imageSizes {
		for _, coupled := range []bool{false, true} {
			cases = append(cases, iterateCase(s, backend.TVProblem{Alpha: 0.4, Coupled: coupled}, usual))
		}
	}
	s := backend.Image(3, 9, 12)
	for _, coupled := range []bool{false, true} {
		cases = append(cases,
			// Nothing projected; nearly everything; all of it, onto zero.
			iterateCase(s, backend.TVProblem{Alpha: 100, Coupled: coupled}, usual),
			iterateCase(s, backend.TVProblem{Alpha: 1e-3, Coupled: coupled}, usual),
			iterateCase(s, backend.TVProblem{Alpha: 0, Coupled: coupled}, usual),
			// One part of the step at a time, and the ends of the ranges.
			iterateCase(s, backend.TVProblem{Alpha: 0.4, Coupled: coupled}, backend.TVStep{Dual: 0.25}),
			iterateCase(s, backend.TVProblem{Alpha: 0.4, Coupled: coupled}, backend.TVStep{Primal: 0.5}),
			iterateCase(s, backend.TVProblem{Alpha: 0.4, Coupled: coupled}, backend.TVStep{Primal: 1, Extrapolation: 2, Dual: 0.125}))
	}
	for _, s := range imageSizes {
		cases = append(cases, primalCase(s, 0.3), primalCase(s, 1))
	}
	cases = append(cases, primalCase(s, 0))
	for _, s := range imageSizes {
		for _, coupled := range []bool{false, true} {
			cases = append(cases, evaluateCase(s, backend.TVProblem{Alpha: 0.4, Coupled: coupled}))
		}
	}
	return cases
}

func timedTotalVariationCases(p Photograph) []*testCase {
	var cases []*testCase
	for _, coupled := range []bool{false, true} {
		problem := backend.TVProblem{Alpha: 0.1, Coupled: coupled}
		cases = append(cases,
			iterateCase(p.image(3), problem, backend.TVStep{Primal: 0.2, Extrapolation: 0.15, Dual: 0.5}),
			evaluateCase(p.image(3), problem))
	}
	return append(cases, primalCase(p.image(3), 1))
}

func dualShape(s backend.Shape) backend.Shape { return backend.Image(2*s.C, s.H, s.W) }

func coupling(problem backend.TVProblem) string {
	if problem.Coupled {
		return "coupled"
	}
	return "uncoupled"
}

// dual is the operand p: zero where the gradient is zero by definition, and
// inside the balls, at many pixels on their surface.
func dual(r role, s backend.Shape, problem backend.TVProblem) operand {
	return operand{name: "p", role: r, shape: dualShape(s), adjust: func(p tensor) {
		eachElement(p.Shape, func(_, c, y, x int) {
			if c%2 == 0 && y == p.H-1 || c%2 == 1 && x == p.W-1 {
				p.v[p.index(0, c, y, x)] = 0
			}
		})
		referenceProjection(p, problem)
	}}
}

// fitsTotalVariation is the rule for the operands u, p, y.
func fitsTotalVariation(x []backend.Shape) bool {
	u, p, y := x[0], x[1], x[2]
	return y.N == 1 && u == y && p == dualShape(y)
}

func iterateCase(s backend.Shape, problem backend.TVProblem, step backend.TVStep) *testCase {
	return (&testCase{
		operation: "TVIterate",
		name: fmt.Sprintf("α %v %s, primal %v, extrapolation %v, dual %v, %s",
			problem.Alpha, coupling(problem), step.Primal, step.Extrapolation, step.Dual, size(s)),
		operands: []operand{
			{name: "u", role: updated, shape: s},
			dual(updated, s, problem),
			{name: "y", shape: s},
		},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.TVIterate(b[0], b[1], b[2], problem, step)
		}),
		reference: silent(func(x []tensor) { referenceIterate(x[0], x[1], x[2], problem, step) }),
		limit:     elementwise,
		fits:      fitsTotalVariation,
		apart:     true,
		bytes:     4 * float64(7*s.Len()), // u and p read and written, y read
	}).complete()
}

func primalCase(s backend.Shape, step float32) *testCase {
	u := operand{name: "u", role: updated, shape: s}
	if step == 1 {
		u.role = destination
	}
	return (&testCase{
		operation: "TVPrimal",
		name:      fmt.Sprintf("step %v, %s", step, size(s)),
		operands:  []operand{u, dual(source, s, backend.TVProblem{Alpha: 0.7}), {name: "y", shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.TVPrimal(b[0], b[1], b[2], step)
		}),
		reference: silent(func(x []tensor) { referencePrimal(x[0], x[1], x[2], step) }),
		limit:     elementwise,
		fits:      fitsTotalVariation,
		apart:     true,
		bytes:     4 * float64(5*s.Len()),
	}).complete()
}

func evaluateCase(s backend.Shape, problem backend.TVProblem) *testCase {
	return (&testCase{
		operation: "TVEvaluate",
		name:      fmt.Sprintf("α %v %s, %s", problem.Alpha, coupling(problem), size(s)),
		operands:  []operand{{name: "u", shape: s}, dual(source, s, problem), {name: "y", shape: s}},
		prepare: counted(func(dev backend.Device, b []backend.Buffer) ([]float64, error) {
			v, err := dev.TVEvaluate(b[0], b[1], b[2], problem)
			return []float64{v.Fidelity, v.Variation, v.Residual, v.Product}, err
		}),
		reference: func(x []tensor) []number { return referenceEvaluate(x[0], x[1], x[2], problem) },
		numbers:   float64Sum,
		fits:      fitsTotalVariation,
		apart:     true,
		bytes:     4 * float64(4*s.Len()),
	}).complete()
}

func totalVariationChecks() []check {
	return []check{
		{operation: "TVIterate", name: "arguments", run: checkIterateArguments},
		{operation: "TVIterate", name: "gap", run: checkGap},
		{operation: "TVPrimal", name: "arguments", run: checkPrimalArguments},
		{operation: "TVEvaluate", name: "arguments", run: checkEvaluateArguments},
		{operation: "TVEvaluate", name: "on the surface", run: checkSurface},
	}
}

// rof allocates u, p and y.
func rof(dev backend.Device, s backend.Shape) (u, p, y backend.Buffer, err error) {
	if u, err = dev.Alloc(s); err == nil {
		if p, err = dev.Alloc(dualShape(s)); err == nil {
			y, err = dev.Alloc(s)
		}
	}
	return u, p, y, err
}

var (
	nan        = float32(math.NaN())
	infinite   = float32(math.Inf(1))
	wrongAlpha = []float32{-1, nan, infinite}
)

func checkIterateArguments(e *environment) error {
	u, p, y, err := rof(e.dev, backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	for _, alpha := range wrongAlpha {
		err = errors.Join(err, wantError(fmt.Sprintf("α = %v", alpha),
			e.dev.TVIterate(u, p, y, backend.TVProblem{Alpha: alpha}, backend.TVStep{}), backend.ErrArgument))
	}
	for _, step := range []backend.TVStep{
		{Primal: -0.1}, {Primal: 1.1}, {Primal: nan},
		{Extrapolation: -0.1}, {Extrapolation: nan},
		{Dual: -0.1}, {Dual: nan},
	} {
		err = errors.Join(err, wantError(fmt.Sprintf("step %v", step),
			e.dev.TVIterate(u, p, y, backend.TVProblem{Alpha: 1}, step), backend.ErrArgument))
	}
	return err
}

func checkPrimalArguments(e *environment) error {
	u, p, y, err := rof(e.dev, backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	for _, step := range []float32{-0.1, 1.1, nan} {
		err = errors.Join(err, wantError(fmt.Sprintf("step %v", step), e.dev.TVPrimal(u, p, y, step), backend.ErrArgument))
	}
	return err
}

func checkEvaluateArguments(e *environment) error {
	u, p, y, err := rof(e.dev, backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	for _, alpha := range wrongAlpha {
		_, evaluate := e.dev.TVEvaluate(u, p, y, backend.TVProblem{Alpha: alpha})
		err = errors.Join(err, wantError(fmt.Sprintf("α = %v", alpha), evaluate, backend.ErrArgument))
	}
	return err
}

// checkSurface evaluates at the p that maximises ⟨∇u, p⟩, pushed out of its balls
// by as much as rounding does: variation and product must agree to float64.
func checkSurface(e *environment) error {
	s := backend.Image(3, 9, 11)
	for _, coupled := range []bool{false, true} {
		problem := backend.TVProblem{Alpha: 0.25, Coupled: coupled}
		values := random(s.Len(), "surface")
		g := referenceGradient(widen(s, values))
		for i := range g.v {
			g.v[i] *= 1e6 // every ball is hit
		}
		referenceProjection(g, problem)
		outside := make([]float32, len(g.v))
		for i, v := range g.v {
			outside[i] = float32(v * (1 + 3e-7))
		}
		u, err := upload(e.dev, s, values)
		if err != nil {
			return err
		}
		p, err := upload(e.dev, dualShape(s), outside)
		if err != nil {
			return err
		}
		y, err := e.dev.Alloc(s)
		if err != nil {
			return err
		}
		v, err := e.dev.TVEvaluate(u, p, y, problem)
		if err != nil {
			return err
		}
		// The direction of p is rounded to float32, which costs the square of that.
		if d := (v.Variation - v.Product) / v.Variation; !(d >= -float64Sum && d <= float64Sum) {
			return fmt.Errorf("%s: variation %v, product %v with p outside of its balls by rounding", coupling(problem), v.Variation, v.Product)
		}
	}
	return nil
}

// checkGap solves a small problem as a solver would, with nothing but the gap
// coming back from the device: it is never negative, and falls to what float32
// allows.
func checkGap(e *environment) error {
	s := backend.Image(3, 12, 17)
	for _, coupled := range []bool{false, true} {
		problem := backend.TVProblem{Alpha: 0.3, Coupled: coupled}
		u, p, y, err := rof(e.dev, s)
		if err != nil {
			return err
		}
		if err := e.dev.Upload(y, random(s.Len(), "gap")); err != nil {
			return err
		}
		// Chambolle and Pock 2011, algorithm 2, with γ = 1, from u = y and p = 0.
		if err := e.dev.TVPrimal(u, p, y, 1); err != nil {
			return err
		}
		tau, sigma := 1.0, 0.125
		for k := range 400 {
			theta := 1 / math.Sqrt(1+2*tau)
			step := backend.TVStep{
				Primal:        float32(tau / (1 + tau)),
				Extrapolation: float32(theta * tau),
				Dual:          float32(sigma / theta),
			}
			if err := e.dev.TVIterate(u, p, y, problem, step); err != nil {
				return err
			}
			tau *= theta
			sigma /= theta
			if k%100 != 99 {
				continue
			}
			v, err := e.dev.TVEvaluate(u, p, y, problem)
			if err != nil {
				return err
			}
			if v.Variation-v.Product < -float64Sum*v.Variation || v.Residual < 0 {
				return fmt.Errorf("%s: a negative gap after %d steps: %+v", coupling(problem), k+1, v)
			}
			if k == 399 && !(v.Gap() <= 1e-4*v.Primal()) {
				return fmt.Errorf("%s: gap %v of primal objective %v after 400 steps", coupling(problem), v.Gap(), v.Primal())
			}
		}
	}
	return nil
}
