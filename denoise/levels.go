package denoise

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/denoise/normbound"
)

// A network with Model.Sigmas is a family Φ_σ, one map for each standard deviation σ of
// the noise. A block of Φ_σ makes steps along
//
//	f(z) = −Vᵀ diag(g) act(Vz + σb̂),
//
// with gains g in [0, 1] and biases b̂ in units of the noise that depend on σ. Where act is
// positively homogeneous, g·act(u) = √g·act(√g·u): the field is −Aᵀact(Az + b) with
// A = diag(√g)V and b = √g·σb̂, and every theorem about plain blocks holds, with
// ‖A‖ ≤ ‖V‖. So one bound of ‖V‖ proves Φ_σ for every σ.
//
// The balls of Balls have radii σρ̂ instead of gains: what is taken from a group is then at
// most the same multiple of σ, and a radius of 0 is what a gain of 0 would be. A stays V.
//
// Between two levels g, b̂ and ρ̂ are interpolated linearly in log σ. Beyond the first and
// the last they are held, so that there Φ_σ is the network of that level rescaled
// (Rescale).

// maxLevels keeps numbers from a file within reason.
const maxLevels = 1 << 10

// checkLevels returns an error unless the noise levels are such as Model.Sigmas says.
func (m Model) checkLevels() error {
	if len(m.Sigmas) == 0 {
		return nil
	}
	if len(m.Sigmas) > maxLevels {
		return fmt.Errorf("%d noise levels, must be from 1 to %d, or none", len(m.Sigmas), maxLevels)
	}
	for i, s := range m.Sigmas {
		if !(s > 0 && s <= 1) || i > 0 && s <= m.Sigmas[i-1] {
			return fmt.Errorf("noise level %d is %v, must be in (0, 1] and above the one before", i, s)
		}
	}
	if !m.Activation.Homogeneous() {
		return fmt.Errorf("noise levels with the activation %q: gains stand for weights only where it is positively homogeneous, as that of LeakyReLU is", m.Activation.Name)
	}
	return nil
}

// checkGains returns an error unless a block of so many hidden channels has gains such as
// Block.Gain says.
func (m Model) checkGains(b Block, hidden int) error {
	if b.Gain == nil {
		return nil
	}
	if want := len(m.Sigmas) * hidden; want == 0 {
		return errors.New("gains without noise levels (Sigmas)")
	} else if len(b.Gain) != want {
		return fmt.Errorf("%d gains, must be %d (%d noise levels, %d hidden channels) or none", len(b.Gain), want, len(m.Sigmas), hidden)
	}
	for i, g := range b.Gain {
		if !(g >= 0 && g <= 1) {
			return fmt.Errorf("gain %d is %v, must be in [0, 1]", i, g)
		}
	}
	return nil
}

// hasGains tells whether filters depend on the noise level.
func (m Model) hasGains() bool {
	return slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Gain != nil })
}

// At returns the plain network Φ_σ of a network with noise levels, with weights rounded to float32. Its filters are
// diag(√g)V, shortened by about 1e-6 of their size so that ‖A‖ ≤ ‖V‖·max √g for any rounding. Gains of 0 and 1 need
// no rounding and shorten nothing. The numbers of steps are those of the blocks. At returns an error if sigma is not
// above 0, if biases or radii overflow float32, or if m is a plain network.
func (m Model) At(sigma float64) (Model, error) {
	if err := m.Check(); err != nil {
		return Model{}, err
	}
	return m.at(sigma)
}

// at is At of a network that has been checked.
func (m Model) at(sigma float64) (Model, error) {
	if len(m.Sigmas) == 0 {
		return Model{}, errors.New("the network has no noise levels to choose from")
	}
	if !(sigma > 0) || math.IsInf(sigma, 1) {
		return Model{}, fmt.Errorf("noise level %v, must be above 0 and finite", sigma)
	}
	between := m.between(sigma)
	plain := m
	plain.Sigmas, plain.Blocks = nil, make([]Block, len(m.Blocks))
	for i, b := range m.Blocks {
		shape := m.filterShape(b)
		roots := between.roots(b.Gain, shape.N)
		filter, err := normbound.ScaledRows(b.Filter, shape, roots)
		if err != nil {
			return Model{}, fmt.Errorf("block %d: %w", i, err)
		}
		bias, err := between.biases(b.Bias, roots, sigma)
		if err != nil {
			return Model{}, fmt.Errorf("block %d at the noise level %v: %w", i, sigma, err)
		}
		radii, err := between.radii(b.Radius, m.groups(b), sigma)
		if err != nil {
			return Model{}, fmt.Errorf("block %d at the noise level %v: %w", i, sigma, err)
		}
		plain.Blocks[i] = Block{Filter: filter, Bias: bias, Radius: radii, Length: b.Length, Steps: b.Steps}
	}
	return plain, nil
}

// BetweenLevels returns the place of a noise level among levels, which rise and are not empty. sigma is the share, in
// log σ, of the way from levels[lower] to levels[upper]. At a level, and beyond the first and the last one, lower and
// upper are equal and share is 0.
func BetweenLevels(levels []float64, sigma float64) (lower, upper int, share float64) {
	upper, found := slices.BinarySearch(levels, sigma)
	switch {
	case found || upper == 0:
		return upper, upper, 0
	case upper == len(levels):
		return upper - 1, upper - 1, 0
	}
	low, high := levels[upper-1], levels[upper]
	share = math.Log(sigma/low) / math.Log(high/low)
	if !(share >= 0 && share <= 1) { // levels so close, or so far apart, that this has no value
		share = 0
	}
	return upper - 1, upper, share
}

// place is what BetweenLevels returns.
type place struct {
	lower, upper int
	t            float64
}

// between returns the place of a noise level.
func (m Model) between(sigma float64) (p place) {
	p.lower, p.upper, p.t = BetweenLevels(m.Sigmas, sigma)
	return p
}

// row returns number i of a row of a table with so many columns. It lies between the
// numbers of the two rows, whatever the rounding.
func (p place) row(table []float32, columns, i int) float64 {
	a, b := float64(table[p.lower*columns+i]), float64(table[p.upper*columns+i])
	v := float64(a*(1-p.t)) + float64(b*p.t)
	return min(max(v, min(a, b)), max(a, b))
}

// roots returns √g for every hidden channel, numbers in [0, 1].
func (p place) roots(gain []float32, hidden int) []float64 {
	roots := make([]float64, hidden)
	for i := range roots {
		roots[i] = 1
		if gain != nil {
			roots[i] = math.Sqrt(p.row(gain, hidden, i))
		}
	}
	return roots
}

// biases returns √g·σ·b̂.
func (p place) biases(bias []float32, roots []float64, sigma float64) ([]float32, error) {
	if bias == nil {
		return nil, nil
	}
	b := make([]float32, len(roots))
	for i, root := range roots {
		v := root * sigma * p.row(bias, len(roots), i)
		if !isFinite32(v) {
			return nil, fmt.Errorf("bias %d is %v, must be within float32", i, v)
		}
		b[i] = float32(v)
	}
	return b, nil
}
