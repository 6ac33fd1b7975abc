// Package symmetry turns and flips square images.
package symmetry

// Symmetry is one of the eight of a square: bit 0 exchanges rows and columns, bits 1 and
// 2 reverse rows and columns. Together they are the flips and the quarter turns.
type Symmetry int

// Number is how many there are, from 0 on.
const Number = 8

// Apply sets dst to src, both size×size, under a symmetry.
func Apply[T any](s Symmetry, dst, src []T, size int) {
	for y := range size {
		for x := range size {
			fromY, fromX := y, x
			if s&1 != 0 {
				fromY, fromX = x, y
			}
			if s&2 != 0 {
				fromY = size - 1 - fromY
			}
			if s&4 != 0 {
				fromX = size - 1 - fromX
			}
			dst[y*size+x] = src[fromY*size+fromX]
		}
	}
}
