package plain

import "math"

// ProjectBalls projects the channels of u, of so many pixels each, onto balls, a group for each
// radius.
func ProjectBalls[A float32 | float64](u []float64, radius []A, plane int) {
	project(u, len(radius), plane, func(group, _ int) float64 { return float64(radius[group]) })
}

// ProjectBallsMap is ProjectBalls with radii for every pixel, groups×pixels.
func ProjectBallsMap(u []float64, radius []float32, plane int) {
	project(u, len(radius)/plane, plane, func(group, pixel int) float64 { return float64(radius[group*plane+pixel]) })
}

func project(u []float64, groups, plane int, radius func(group, pixel int) float64) {
	size := len(u) / plane / groups
	for i := range groups * plane {
		group, pixel, norm := i/plane, i%plane, 0.0
		for c := range size {
			norm = math.Hypot(norm, u[(group*size+c)*plane+pixel])
		}
		if r := radius(group, pixel); norm > r {
			for c := range size {
				u[(group*size+c)*plane+pixel] *= r / norm
			}
		}
	}
}
