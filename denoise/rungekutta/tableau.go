package rungekutta

import (
	"fmt"
	"math"
)

// Tableau is a Runge-Kutta method of s stages for ż = f(z) as data (Butcher):
//
//	Y_i = z + h Σ_j A[i][j] f(Y_j),   z⁺ = z + h Σ_i B[i] f(Y_i).
type Tableau struct {
	Name string
	A    [][]float64 // s rows of s
	B    []float64   // s weights, of sum 1
	// C are the abscissae, the sums of A's rows, or nil. The fields of this package do
	// not depend on time: C is there to be read.
	C []float64
}

// Stages returns s, the number of evaluations of f in a step.
func (t Tableau) Stages() int { return len(t.B) }

// Check returns an error unless the tableau can be run as an explicit method: s×s
// coefficients of A, none but finite numbers, A strictly lower triangular, weights of
// sum 1 (consistency), and abscissae, if any, that are the sums of A's rows.
func (t Tableau) Check() error {
	if err := t.checkSizes(); err != nil {
		return err
	}
	sum := 0.0
	for i, row := range t.A {
		for j := i; j < len(row); j++ {
			if row[j] != 0 {
				return fmt.Errorf("tableau %q is implicit: A[%d][%d] is %v, an explicit method has 0 on and above the diagonal", t.Name, i, j, row[j])
			}
		}
		sum += t.B[i]
	}
	if !(math.Abs(sum-1) <= coefficientError) {
		return fmt.Errorf("tableau %q: the weights B have the sum %v, must be 1", t.Name, sum)
	}
	if t.C == nil {
		return nil
	}
	if len(t.C) != t.Stages() {
		return fmt.Errorf("tableau %q: %d abscissae C for %d stages", t.Name, len(t.C), t.Stages())
	}
	for i, row := range t.A {
		sum := 0.0
		for _, a := range row {
			sum += a
		}
		if !(math.Abs(sum-t.C[i]) <= coefficientError*(1+math.Abs(sum))) {
			return fmt.Errorf("tableau %q: abscissa C[%d] is %v, row %d of A has the sum %v", t.Name, i, t.C[i], i, sum)
		}
	}
	return nil
}

// coefficientError is how far sums of rounded coefficients may be off.
const coefficientError = 1e-12

// maxStages keeps the exact arithmetic of Radius short. Methods in use have fewer
// than twenty.
const maxStages = 64

// checkSizes returns an error unless A is s×s for the s weights of B, and all is
// finite.
func (t Tableau) checkSizes() error {
	s := t.Stages()
	if s == 0 || s > maxStages {
		return fmt.Errorf("tableau %q has %d stages, must have from 1 to %d", t.Name, s, maxStages)
	}
	if len(t.A) != s {
		return fmt.Errorf("tableau %q: %d rows of A for %d weights B", t.Name, len(t.A), s)
	}
	for i, row := range t.A {
		if len(row) != s {
			return fmt.Errorf("tableau %q: row %d of A has %d coefficients, must have %d", t.Name, i, len(row), s)
		}
		for j, a := range row {
			if math.IsNaN(a) || math.IsInf(a, 0) {
				return fmt.Errorf("tableau %q: A[%d][%d] is %v, must be finite", t.Name, i, j, a)
			}
		}
		if b := t.B[i]; math.IsNaN(b) || math.IsInf(b, 0) {
			return fmt.Errorf("tableau %q: B[%d] is %v, must be finite", t.Name, i, b)
		}
	}
	return nil
}

// ForwardEuler is Euler's explicit method, of order 1; its radius is 1.
func ForwardEuler() Tableau {
	return Tableau{Name: "euler", A: [][]float64{{0}}, B: []float64{1}, C: []float64{0}}
}

// Heun is the explicit trapezoidal rule, of order 2; its radius is 1.
func Heun() Tableau {
	return Tableau{
		Name: "heun",
		A:    [][]float64{{0, 0}, {1, 0}},
		B:    []float64{1. / 2, 1. / 2},
		C:    []float64{0, 1},
	}
}

// RK4 is the classical method of order 4 (Kutta 1901); its radius is 1.
func RK4() Tableau {
	return Tableau{
		Name: "rk4",
		A: [][]float64{
			{0, 0, 0, 0},
			{1. / 2, 0, 0, 0},
			{0, 1. / 2, 0, 0},
			{0, 0, 1, 0},
		},
		B: []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6},
		C: []float64{0, 1. / 2, 1. / 2, 1},
	}
}

// SSPRK3 is the strong-stability-preserving method of order 3 with three stages (Shu
// and Osher 1988); its radius is 1.
func SSPRK3() Tableau {
	return Tableau{
		Name: "ssprk3",
		A: [][]float64{
			{0, 0, 0},
			{1, 0, 0},
			{1. / 4, 1. / 4, 0},
		},
		B: []float64{1. / 6, 1. / 6, 2. / 3},
		C: []float64{0, 1, 1. / 2},
	}
}

// Kutta3 is Kutta's method of order 3 (1901); its radius is 1/2.
func Kutta3() Tableau {
	return Tableau{
		Name: "kutta3",
		A: [][]float64{
			{0, 0, 0},
			{1. / 2, 0, 0},
			{-1, 2, 0},
		},
		B: []float64{1. / 6, 2. / 3, 1. / 6},
		C: []float64{0, 1. / 2, 1},
	}
}
