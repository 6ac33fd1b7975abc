// Package draw draws the weights of random networks, the same on every machine.
package draw

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// Gaussians is the sequence of backend.GaussianAt, taken in pieces.
type Gaussians struct{ Seed, next uint64 }

// Take returns the next n numbers, of mean 0.
func (g *Gaussians) Take(n int, deviation float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(deviation * float64(backend.GaussianAt(g.Seed, g.next)))
		g.next++
	}
	return x
}

// Uniform returns numbers that are uniform in [0, top]: the distribution function of
// Gaussian ones.
func (g *Gaussians) Uniform(n int, top float64) []float32 {
	x := g.Take(n, 1)
	for i, v := range x {
		x[i] = float32(top * (0.5 * math.Erfc(-float64(v)/math.Sqrt2)))
	}
	return x
}
