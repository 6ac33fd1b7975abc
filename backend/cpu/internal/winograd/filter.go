package winograd

// filterTransform is G: row k has the values at point k of the polynomials 1, t,
// t², over the product of the differences between the point and the other finite
// ones, with signs and powers of two moved so that Aᵀ and Bᵀ have small numbers.
var filterTransform = [Patch][3]float64{
	{1, 0, 0},
	{-2. / 9, -2. / 9, -2. / 9},
	{-2. / 9, 2. / 9, -2. / 9},
	{1. / 90, 1. / 45, 2. / 45},
	{1. / 90, -1. / 45, 2. / 45},
	{32. / 45, 16. / 45, 8. / 45},
	{32. / 45, -16. / 45, 8. / 45},
	{0, 0, 1},
}

// FilterSize returns the number of floats of a transformed filter.
func FilterSize(in, out int) int { return Points * in * Padded(out) }

// TransformFilter puts, for input channel i, the transform G W Gᵀ of a filter w of
// layout [out][in][3][3] into u, of layout [point][in][Padded(out)], zeros in the padding
// included. The transform is made in float64 and rounded once.
func TransformFilter(u, w []float32, out, in, i int) {
	transform(u, out, in, i, func(o, r, s int) float64 { return float64(w[((o*in+i)*3+r)*3+s]) })
}

// TransformAdjoint does the same for the adjoint of the convolution with w, which
// has layout [in][out][3][3] here: in is the number of channels that the adjoint
// takes. The adjoint of a convolution with zero padding is the convolution with
// both axes of every filter reversed, zero padding included: a tap that reaches
// outside the frame has no counterpart on either side.
func TransformAdjoint(u, w []float32, out, in, i int) {
	transform(u, out, in, i, func(o, r, s int) float64 { return float64(w[((i*out+o)*3+2-r)*3+2-s]) })
}

func transform(u []float32, out, in, i int, w func(o, r, s int) float64) {
	padded := Padded(out)
	rows := make([]float32, Points*padded) // what belongs to i, point by point
	for o := range out {
		var half [Patch][3]float64
		for s := range 3 {
			w0, w1, w2 := w(o, 0, s), w(o, 1, s), w(o, 2, s)
			for k, g := range filterTransform {
				half[k][s] = g[0]*w0 + g[1]*w1 + g[2]*w2
			}
		}
		for k := range half {
			h := &half[k]
			for l, g := range filterTransform {
				rows[(k*Patch+l)*padded+o] = float32(g[0]*h[0] + g[1]*h[1] + g[2]*h[2])
			}
		}
	}
	for k := range Points {
		copy(u[(k*in+i)*padded:][:padded], rows[k*padded:])
	}
}
