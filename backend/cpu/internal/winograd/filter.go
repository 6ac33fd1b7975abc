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

// TransformFilter puts the transform G W Gᵀ of a filter w of layout [out][in][3][3]
// into u, of layout [point][in][Padded(out)]. Padding stays as it is: zero in a new
// slice. The transform is made in float64 and rounded once.
func TransformFilter(u, w []float32, out, in int) {
	transform(u, out, in, func(o, i, r, s int) float64 { return float64(w[((o*in+i)*3+r)*3+s]) })
}

// TransformAdjoint does the same for the adjoint of the convolution with w, which
// has layout [in][out][3][3] here: in is the number of channels that the adjoint
// takes. The adjoint of a convolution with zero padding is the convolution with
// both axes of every filter reversed, zero padding included: a tap that reaches
// outside the frame has no counterpart on either side.
func TransformAdjoint(u, w []float32, out, in int) {
	transform(u, out, in, func(o, i, r, s int) float64 { return float64(w[((i*out+o)*3+2-r)*3+2-s]) })
}

func transform(u []float32, out, in int, w func(o, i, r, s int) float64) {
	padded := Padded(out)
	for o := range out {
		for i := range in {
			var half [Patch][3]float64
			for k := range Patch {
				g := filterTransform[k]
				for s := range 3 {
					half[k][s] = g[0]*w(o, i, 0, s) + g[1]*w(o, i, 1, s) + g[2]*w(o, i, 2, s)
				}
			}
			for k := range Patch {
				for l := range Patch {
					g := filterTransform[l]
					u[((k*Patch+l)*in+i)*padded+o] = float32(g[0]*half[k][0] + g[1]*half[k][1] + g[2]*half[k][2])
				}
			}
		}
	}
}
