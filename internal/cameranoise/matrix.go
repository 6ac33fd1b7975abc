package cameranoise

import "github.com/averaged/imaging/internal/matrix3"

// weights is a row of a matrix in the precision of samples.
type weights [3]float32

func (w weights) of(r, g, b float32) float32 {
	return float32(w[0]*r) + float32(w[1]*g) + float32(w[2]*b)
}

func rowOf(m matrix3.Matrix, row int) weights {
	return weights{float32(m[3*row]), float32(m[3*row+1]), float32(m[3*row+2])}
}
