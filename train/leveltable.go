package train

import (
	"math"

	"github.com/averaged/imaging/denoise"
)

// levelTable is what a block of a network with levels has instead of biases and a norm
// budget: for each level k and hidden channel a bias b̂ in units of the noise's standard
// deviation, and a gain g = sigmoid(γ), or, where the activation is a projection onto balls,
// for each group of channels a radius ρ̂ = exp(ℓ) in the same units. At the noise level σ,
// with all interpolated linearly in log σ and held at the ends (denoise.Model.Sigmas), the
// block is
//
//	z − h Wᵀ diag(g) act(Wz + σb̂),   W = NormLimit·V/‖V‖,
//
// which, for the activation is positively homogeneous, is a block with A = diag(√g)W and
// b = √g·σ·b̂. With balls of radii σρ̂, which do what a gain would, all g are 1.
type levelTable struct {
	levels []float64
	biases *Parameter // b̂, (levels, hidden)
	gains  *Parameter // γ, the same, or nil
	radii  *Parameter // ℓ, (levels, groups), or nil

	// At the noise level of the moment.
	sigma   float64
	lower   int     // the level below
	upper   int     // the level above
	share   float64 // of that
	bias    []float64
	gain    []float64
	root    []float64 // √g
	radius  []float64 // ρ̂
	rows    []float32 // diag(√g)·V
	derived []float32 // ∂b, as the device has it
}

// newLevelTable allocates the table of a block of that many hidden channels and weights.
func newLevelTable(name string, levels []float64, hidden, weights, groups int) *levelTable {
	k := len(levels)
	t := &levelTable{
		levels: levels,
		biases: newParameter(name+"bias", false, k, hidden),
		bias:   make([]float64, hidden), derived: make([]float32, hidden), radius: make([]float64, groups),
	}
	if groups > 0 {
		t.radii = newParameter(name+"radius", false, k, groups)
		return t
	}
	t.gains = newParameter(name+"gain", false, k, hidden)
	t.gain, t.root, t.rows = make([]float64, hidden), make([]float64, hidden), make([]float32, weights)
	return t
}

func (t *levelTable) parameters() []*Parameter {
	if t.radii != nil {
		return []*Parameter{t.biases, t.radii}
	}
	return []*Parameter{t.biases, t.gains}
}

// initialise gives all levels the same: biases that are what they would be without levels
// at the reference level, and one gain, or radii that are likewise.
func (t *levelTable) initialise(biases, radii []float32, reference, gain float64) {
	for i := range t.biases.values {
		t.biases.values[i] = float32(float64(biases[i%len(biases)]) / reference)
		if t.gains != nil {
			t.gains.values[i] = float32(logit(gain))
		}
	}
	if t.radii != nil {
		for i := range t.radii.values {
			t.radii.values[i] = radii[i%len(radii)] - float32(math.Log(reference))
		}
	}
}

// at sets the noise level.
func (t *levelTable) at(sigma float64) {
	t.sigma = sigma
	t.lower, t.upper, t.share = denoise.BetweenLevels(t.levels, sigma)
	t.interpolate(t.bias, t.biases, func(v float64) float64 { return v })
	if t.radii != nil {
		t.interpolate(t.radius, t.radii, math.Exp)
		return
	}
	t.interpolate(t.gain, t.gains, sigmoid)
	for c, g := range t.gain {
		t.root[c] = math.Sqrt(g)
	}
}

// interpolate sets dst to what f makes of the rows of p, between the levels.
func (t *levelTable) interpolate(dst []float64, p *Parameter, f func(float64) float64) {
	for c := range dst {
		dst[c] = 0
		t.mix(func(k int, share float64) {
			dst[c] += float64(share * f(float64(p.values[k*len(dst)+c])))
		})
	}
}

// mix calls f with the levels that the noise level lies between and their shares.
func (t *levelTable) mix(f func(k int, share float64)) {
	f(t.lower, 1-t.share)
	if t.share > 0 {
		f(t.upper, t.share)
	}
}

// scaled sets t.rows to diag(√g)·V.
func (t *levelTable) scaled(v []float32) []float32 {
	row := len(v) / len(t.root)
	for c, r := range t.root {
		for i, w := range v[c*row:][:row] {
			t.rows[c*row+i] = float32(r * float64(w))
		}
	}
	return t.rows
}

// backBalls adds to the gradients of the table, given those with respect to b = σ·b̂ and the
// radii σ·ρ̂.
func (t *levelTable) backBalls(db, dr []float32) {
	t.mix(func(k int, share float64) {
		for c, g := range db {
			t.biases.gradient[k*len(db)+c] = float32(share * t.sigma * float64(g))
		}
		for c, g := range dr {
			i := k*len(dr) + c
			t.radii.gradient[i] = float32(share * t.sigma * float64(g) * math.Exp(float64(t.radii.values[i])))
		}
	})
}

// back turns the gradient with respect to A = factor·diag(√g)V, in place, into that with
// respect to W = factor·V, and adds to those of the table; db is the gradient with respect
// to b = √g·σ·b̂.
func (t *levelTable) back(gradient, v []float32, factor float64, db []float32) {
	row := len(v) / len(t.root)
	for c, root := range t.root {
		dRoot := float64(db[c]) * t.sigma * t.bias[c]
		part := gradient[c*row:][:row]
		for i, g := range part {
			dRoot += float64(float64(g)*float64(v[c*row+i])) * factor
			part[i] = float32(root * float64(g))
		}
		dGain := dRoot / (2 * root)
		dBias := root * t.sigma * float64(db[c])
		t.mix(func(k int, share float64) {
			i := k*len(t.root) + c
			s := sigmoid(float64(t.gains.values[i]))
			t.gains.gradient[i] = float32(share * dGain * s * (1 - s))
			t.biases.gradient[i] = float32(share * dBias)
		})
	}
}

// zeroGradients sets the gradients to zero.
func (t *levelTable) zeroGradients() {
	for _, p := range t.parameters() {
		clear(p.gradient)
	}
}

// effective returns the table as it stands in a weight file: b̂ and g, or b̂ and ρ̂.
func (t *levelTable) effective() []array {
	biases := t.biases.mapped(func(v float64) float64 { return v })
	if t.radii != nil {
		return []array{biases, t.radii.mapped(math.Exp)}
	}
	return []array{biases, t.gains.mapped(sigmoid)}
}
