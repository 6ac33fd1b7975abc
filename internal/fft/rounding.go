package fft

import "math"

// What a transform adds by rounding, in units of 2⁻²⁴, relative in the Euclidean norm: each
// stage is √radix times an isometry, and adds its own error to what it is given (Higham 2002,
// theorem 24.2). A sum of two complex numbers costs 1. A product with a twiddle that is itself
// rounded costs √5 + 1 (Brent, Percival and Zimmermann 2007). A butterfly of an odd radix r is a
// sum of r terms which pass through r/2 + 5 roundings at most, its two halves by cosines and by
// sines: that is bounded by the moduli, √(2r) times the norm.
func (l *line) energy() float64 {
	units := 0.0
	for _, s := range l.stages {
		units += twiddled
		switch s.radix {
		case 2:
			units++
		case 4:
			units += 2
		default:
			units += math.Sqrt(2*float64(s.radix)) * (float64(s.radix/2) + 5)
		}
	}
	return units
}

// twiddled is more than √5 + 1.
const twiddled = 3.24

// modulus returns the same for one coefficient, relative to the sum of the moduli of what is
// transformed: the roundings that a term passes through, and what the halves of odd butterflies
// make of the moduli.
func (l *line) modulus() (units, factor float64) {
	factor = 1
	for _, s := range l.stages {
		units += twiddled
		switch s.radix {
		case 2:
			units++
		case 4:
			units += 2
		default:
			units += float64(s.radix/2) + 5
			factor *= math.Sqrt2
		}
	}
	return units, factor
}

// Rounding returns a bound of what rounding adds to Apply, in the Euclidean norm and relative to
// that of the image, for a filter made of the spectrum of an image whose moduli have the given
// sum: forward, a product, and back. Underflow is not in it: it does not shrink with the image.
func (f *Filter) Rounding(sum float64) float64 {
	const unit = 0x1p-24
	p := f.plan
	passes := p.rows.energy() + p.columns.energy() + 1 // 1: two rows of a line are told apart
	rows, r := p.rows.modulus()
	columns, c := p.columns.modulus()
	// A coefficient of a line has the errors of both of its rows.
	spectrum := 2 * r * c * (rows + columns + 1)
	units := 2*passes + spectrum + 5
	return units * unit / (1 - 2*units*unit) * sum
}
