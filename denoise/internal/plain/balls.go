package plain

import "math"

// ProjectBalls projects the channels of u, of so many pixels each, onto balls, a group for each
// radius.
func ProjectBalls[A float32 | float64](u []float64, radius []A, plane int) {
	size := len(u) / plane / len(radius)
	for i := range len(radius) * plane {
		group, pixel, norm := i/plane, i%plane, 0.0
		for c := range size {
			norm = math.Hypot(norm, u[(group*size+c)*plane+pixel])
		}
		if r := float64(radius[group]); norm > r {
			for c := range size {
				u[(group*size+c)*plane+pixel] *= r / norm
			}
		}
	}
}
