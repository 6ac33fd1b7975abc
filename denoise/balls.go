package denoise

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/denoise/activation"
)

// groups returns the number of groups of a block.
func (m Model) groups(b Block) int { return len(b.Radius) / m.rows() }

// checkRadii returns an error unless a block of so many hidden channels has the radii that
// the activation asks for.
func (m Model) checkRadii(b Block, hidden int) error {
	if !m.Activation.IsBalls() {
		if b.Radius != nil {
			return fmt.Errorf("radii with the activation %q, they are for %q", m.Activation.Name, activation.Balls().Name)
		}
		return nil
	}
	if b.Gain != nil {
		return fmt.Errorf("gains with the activation %q, whose radii do what a gain would", activation.Balls().Name)
	}
	groups := m.groups(b)
	if groups == 0 || len(b.Radius) != groups*m.rows() || hidden%groups != 0 {
		return fmt.Errorf("%d radii, must be %d for each of the groups, whose number divides the %d hidden channels", len(b.Radius), m.rows(), hidden)
	}
	for i, r := range b.Radius {
		if !(r >= 0) || math.IsInf(float64(r), 1) {
			return fmt.Errorf("radius %d is %v, must be 0 or more and finite", i, r)
		}
	}
	return nil
}

// radii returns σ·ρ̂ for every group, rounded to float32, or nothing where there are no
// radii.
func (p place) radii(radius []float32, groups int, sigma float64) ([]float32, error) {
	if radius == nil {
		return nil, nil
	}
	r := make([]float32, groups)
	for i := range r {
		v := sigma * p.row(radius, groups, i)
		if !isFinite32(v) {
			return nil, fmt.Errorf("radius %d is %v, must be within float32", i, v)
		}
		r[i] = float32(v)
	}
	return r, nil
}

// project projects the hidden channels u of one pixel onto the balls, in place.
func project(u []float64, radius []float32) {
	size := len(u) / len(radius)
	for g, r := range radius {
		v := u[g*size:][:size]
		sum := 0.0
		for _, x := range v {
			sum += x * x
		}
		if norm := math.Sqrt(sum); !(norm <= float64(r)) {
			for i := range v {
				v[i] *= float64(r) / norm
			}
		}
	}
}

// atRest returns σ(b) of a plain block for its hidden channels, or nothing where there are
// no biases, because σ(0) = 0.
func (m Model) atRest(b Block) []float64 {
	u := make([]float64, len(b.Bias))
	for i, v := range b.Bias {
		u[i] = float64(v)
		if b.Radius == nil {
			u[i] = m.Activation.Of(u[i])
		}
	}
	if b.Radius != nil && len(u) > 0 {
		project(u, b.Radius)
	}
	return u
}
