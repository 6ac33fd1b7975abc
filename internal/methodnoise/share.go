package methodnoise

import (
	"math"

	"github.com/averaged/imaging/internal/perceptron"
)

// The share of noise in what was taken from a square is ⟨t, n⟩/⟨t, t⟩, for what was taken t and the noise n, both without their
// means: by what t should be multiplied before it is taken. It is 1 where all of t is noise, 0 where all is texture, and more
// than 1 where noise is left. A network that was learned from photographs by simulated cameras (package learn) tells it from the
// features of a square. A single square says little; all of an image's say more than the other signs do.

// MostShare is what the shares that the network says are below.
const MostShare = 1.2

// leastShare is how near the share of an image comes to 0 and MostShare.
const leastShare = 0.02

// SquareShare is the share that an output of the network stands for, from 0 to MostShare.
func SquareShare(output float64) float64 { return MostShare / (1 + math.Exp(-output)) }

// ImageShare is Signs.Share by the shares of squares, whose energies weigh them.
func ImageShare(squares []Square, share func(Square) float64) float64 {
	sum, total := 0.0, 0.0
	for _, s := range squares {
		sum += float64(s.Taken * share(s))
		total += s.Taken
	}
	if !(total > 0) {
		return math.Log(1 / (MostShare - 1)) // nothing was taken that could be texture
	}
	mean := min(max(sum/total, leastShare), MostShare-leastShare)
	return math.Log(mean / (MostShare - mean))
}

// shareBy returns Signs.Share by a network; 0 by an empty one, with which package learn begins where features have changed.
func shareBy(n *perceptron.Network, squares []Square) float64 {
	if len(n.Rows) == 0 {
		return 0
	}
	var features []float64
	return ImageShare(squares, func(s Square) float64 {
		features = features[:0]
		for _, f := range s.Features {
			features = append(features, float64(f))
		}
		return SquareShare(n.Outputs(features)[0])
	})
}
