package noise

import "sort"

// Interpolate returns what a curve is at a place: linear between points (x, y) of rising x, and constant beyond them.
func Interpolate(x, y []float64, at float64) float64 {
	i := sort.SearchFloat64s(x, at)
	switch i {
	case 0:
		return y[0]
	case len(x):
		return y[i-1]
	}
	share := (at - x[i-1]) / (x[i] - x[i-1])
	return y[i-1] + share*(y[i]-y[i-1])
}
