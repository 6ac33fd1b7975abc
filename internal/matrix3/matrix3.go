// Package matrix3 computes with the 3×3 matrices that take colours to colours.
package matrix3

// Matrix is 3×3 numbers, row by row. Every product is rounded before it is added, so that all processors give the same bits.
type Matrix [9]float64

// SRGBToXYZ takes linear sRGB to CIE XYZ (IEC 61966-2-1).
var SRGBToXYZ = Matrix{.4124, .3576, .1805, .2126, .7152, .0722, .0193, .1192, .9505}

// Of returns A·v.
func (a Matrix) Of(v [3]float64) (w [3]float64) {
	for i := range a {
		w[i/3] += float64(a[i] * v[i%3])
	}
	return w
}

// Times returns A·B.
func (a Matrix) Times(b Matrix) (c Matrix) {
	for i := range c {
		for k := range 3 {
			c[i] += float64(a[i/3*3+k] * b[3*k+i%3])
		}
	}
	return c
}

// Determinant returns that of A.
func (a Matrix) Determinant() float64 {
	return float64(a[0]*a.cofactor(0, 0)) + float64(a[1]*a.cofactor(0, 1)) + float64(a[2]*a.cofactor(0, 2))
}

func (a Matrix) cofactor(row, column int) float64 {
	r, s := (row+1)%3, (row+2)%3
	c, d := (column+1)%3, (column+2)%3
	return float64(a[3*r+c]*a[3*s+d]) - float64(a[3*r+d]*a[3*s+c])
}

// Inverse returns that of A. Some of its numbers are not finite if the determinant is 0.
func (a Matrix) Inverse() (inverse Matrix) {
	d := a.Determinant()
	for i := range inverse {
		inverse[i] = a.cofactor(i%3, i/3) / d
	}
	return inverse
}
