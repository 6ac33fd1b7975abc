package cameranoise

// Matrices are of 3×3 numbers, row by row. Every product is rounded before it is added.

func determinant(m [9]float64) float64 {
	return float64(m[0]*cofactor(m, 0, 0)) + float64(m[1]*cofactor(m, 0, 1)) + float64(m[2]*cofactor(m, 0, 2))
}

func cofactor(m [9]float64, row, column int) float64 {
	a, b := (row+1)%3, (row+2)%3
	c, d := (column+1)%3, (column+2)%3
	return float64(m[3*a+c]*m[3*b+d]) - float64(m[3*a+d]*m[3*b+c])
}

func inverse(m [9]float64) (inv [9]float64) {
	d := determinant(m)
	for row := range 3 {
		for column := range 3 {
			inv[3*row+column] = cofactor(m, column, row) / d
		}
	}
	return inv
}

// weights is a row of a matrix in the precision of samples.
type weights [3]float32

func (w weights) of(r, g, b float32) float32 {
	return float32(w[0]*r) + float32(w[1]*g) + float32(w[2]*b)
}

func rowOf(m [9]float64, row int) weights {
	return weights{float32(m[3*row]), float32(m[3*row+1]), float32(m[3*row+2])}
}
