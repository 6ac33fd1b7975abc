package rungekutta

import (
	"fmt"
	"slices"
)

// BackwardEuler is Euler's implicit method, of order 1: a step is the proximal map of
// h·φ(A· + b), where φ is the convex function with the gradient σ (the paper, section 2).
// Its radius is +Inf, and it is the one implicit method that networks can use.
func BackwardEuler() Tableau {
	return Tableau{Name: "backward-euler", A: [][]float64{{1}}, B: []float64{1}, C: []float64{1}}
}

// Integrators are the tableaux that weight files know by their names.
func Integrators() []Tableau {
	return []Tableau{ForwardEuler(), Heun(), RK4(), SSPRK3(), Kutta3(), BackwardEuler()}
}

// Named returns the one of Integrators with that name.
func Named(name string) (Tableau, error) {
	var names []string
	for _, t := range Integrators() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Tableau{}, fmt.Errorf("integrator %.40q is not known, must be one of %q", name, names)
}

// IsEuler tells whether the method is ForwardEuler, whatever its name.
func (t Tableau) IsEuler() bool { return t.oneStage(0) }

func (t Tableau) IsBackwardEuler() bool { return t.oneStage(1) }

func (t Tableau) oneStage(a float64) bool {
	return len(t.A) == 1 && slices.Equal(t.A[0], []float64{a}) && slices.Equal(t.B, []float64{1})
}

// IsNamed tells whether the method is that of Integrators with its name.
func (t Tableau) IsNamed() bool {
	known, err := Named(t.Name)
	return err == nil && slices.Equal(known.B, t.B) && slices.EqualFunc(known.A, t.A, slices.Equal[[]float64])
}
