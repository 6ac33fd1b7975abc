package dng

import "math"

// Inverse returns the inverse of a matrix of 3×3 numbers, row by row, and false if it has none or its numbers are
// beyond all use.
func Inverse(m [9]float64) (inverse [9]float64, ok bool) {
	cofactor := func(row, column int) float64 {
		a, b := (row+1)%3, (row+2)%3
		c, d := (column+1)%3, (column+2)%3
		return m[3*a+c]*m[3*b+d] - m[3*a+d]*m[3*b+c]
	}
	determinant := m[0]*cofactor(0, 0) + m[1]*cofactor(0, 1) + m[2]*cofactor(0, 2)
	for row := range 3 {
		for column := range 3 {
			v := cofactor(column, row) / determinant
			if !(math.Abs(v) < 1e3) {
				return inverse, false
			}
			inverse[3*row+column] = v
		}
	}
	return inverse, true
}
