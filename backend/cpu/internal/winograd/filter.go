package winograd

// filterTransform is G: row k has the values at point k of the polynomials 1, t,
// t², over the product of the differences between the point and the other finite
// ones, with signs and powers of two moved so that Aᵀ and Bᵀ have small numbers.
var filterTransform = [Patch][Taps]float64{
	{1, 0, 0},
	{-2. / 9, -2. / 9, -2. / 9},
	{-2. / 9, 2. / 9, -2. / 9},
	{1. / 90, 1. / 45, 2. / 45},
	{1. / 90, -1. / 45, 2. / 45},
	{32. / 45, 16. / 45, 8. / 45},
	{32. / 45, -16. / 45, 8. / 45},
	{0, 0, 1},
}

// Taps is the number of rows and of columns of a filter.
const Taps = 3

// FilterPoint returns the distance of points in a transformed filter and in the sums of a
// filter's gradient, which have the layout [point][in][Padded(out)]. It is not a multiple
// of a large power of two: what belongs to one input channel at all points would otherwise
// be in a few sets of each cache, where to write it takes ten times as long.
func FilterPoint(in, out int) int { return in*Padded(out) + Block }

// FilterSize returns the number of floats of a transformed filter.
func FilterSize(in, out int) int { return (Points-1)*FilterPoint(in, out) + in*Padded(out) }

// FilterScratch is what transforming a filter or its gradient needs besides its
// operands; the zero value is ready.
type FilterScratch struct {
	taps    []float32 // of one input channel: [3·3][Padded(out)]
	scratch Scratch
}

// tapsOf returns taps for that many output channels, with zeros in the padding.
func (s *FilterScratch) tapsOf(out int) []float32 {
	padded := Padded(out)
	if n := Taps * Taps * padded; len(s.taps) != n {
		s.taps = make([]float32, n)
	}
	for t := range Taps * Taps {
		clear(s.taps[t*padded+out : (t+1)*padded])
	}
	return s.taps
}

// TransformFilter puts, for input channel i, the transform G W Gᵀ of a filter w of
// layout [out][in][3][3] into u, zeros in the padding included. The transform is made in
// float64 and rounded once.
func (k *Kernels) TransformFilter(u, w []float32, out, in, i int, s *FilterScratch) {
	padded, taps := Padded(out), s.tapsOf(out)
	for o := range out {
		for t, v := range (*[Taps * Taps]float32)(w[(o*in+i)*Taps*Taps:]) {
			taps[t*padded+o] = v
		}
	}
	k.Expand(u[i*padded:], FilterPoint(in, out), taps, padded, &s.scratch)
}

// TransformAdjoint does the same for the adjoint of the convolution with w, which
// has layout [in][out][3][3] here: in is the number of channels that the adjoint
// takes. The adjoint of a convolution with zero padding is the convolution with
// both axes of every filter reversed, zero padding included: a tap that reaches
// outside the frame has no counterpart on either side.
func (k *Kernels) TransformAdjoint(u, w []float32, out, in, i int, s *FilterScratch) {
	padded, taps := Padded(out), s.tapsOf(out)
	for o := range out {
		for t, v := range (*[Taps * Taps]float32)(w[(i*out+o)*Taps*Taps:]) {
			taps[(Taps*Taps-1-t)*padded+o] = v
		}
	}
	k.Expand(u[i*padded:], FilterPoint(in, out), taps, padded, &s.scratch)
}

// atPoints returns Gw: the values of a row or column of taps at the points.
func atPoints(w *[Taps]float64) [Patch]float64 {
	g := &filterTransform
	ends := g[1][0] * (w[0] + w[2])
	middle := g[2][1] * w[1]
	even2, odd2 := g[3][0]*w[0]+g[3][2]*w[2], g[3][1]*w[1]
	even3, odd3 := g[5][0]*w[0]+g[5][2]*w[2], g[5][1]*w[1]
	return [Patch]float64{
		w[0],
		ends - middle, ends + middle,
		even2 + odd2, even2 - odd2,
		even3 + odd3, even3 - odd3,
		w[2],
	}
}

// expand is the definition of Kernels.Expand.
func expand(u []float32, point int, taps []float32, channels int, _ *Scratch) {
	for o := range channels {
		var half [Patch][Taps]float64
		for s := range Taps {
			var w [Taps]float64
			for r := range w {
				w[r] = float64(taps[(r*Taps+s)*channels+o])
			}
			for k, v := range atPoints(&w) {
				half[k][s] = v
			}
		}
		for k := range half {
			for l, v := range atPoints(&half[k]) {
				u[(k*Patch+l)*point+o] = float32(v)
			}
		}
	}
}
