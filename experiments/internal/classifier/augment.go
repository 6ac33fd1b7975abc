package classifier

import (
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/experiments/internal/cifar"
)

// margin is how far a crop may be moved over the edge, where it is black: 4 pixels, as wide
// ResNets are trained.
const margin = 4

// Erasing as Zhong et al. 2020 and PyTorch have it: every other picture loses a rectangle of 2 to
// 33 % of its area, of an aspect ratio between 0.3 and 1/0.3.
const (
	erasedShare = 0.5
	minErased   = 0.02
	maxErased   = 0.33
	minAspect   = 0.3
)

// augment sets dst to a picture of levels, erased, cropped and flipped at random.
func augment(dst []float32, levels []uint8, g *rand.Rand) {
	top, bottom, left, right := 0, 0, 0, 0
	if g.Float64() < erasedShare {
		for range 10 { // PyTorch's number of tries
			area := side * side * (minErased + (maxErased-minErased)*g.Float64())
			aspect := math.Exp(math.Log(minAspect) * (2*g.Float64() - 1))
			h, w := int(math.Round(math.Sqrt(area*aspect))), int(math.Round(math.Sqrt(area/aspect)))
			if h < side && w < side {
				top, left = g.IntN(side-h+1), g.IntN(side-w+1)
				bottom, right = top+h, left+w
				break
			}
		}
	}
	dy, dx := g.IntN(2*margin+1)-margin, g.IntN(2*margin+1)-margin
	flip := g.IntN(2) == 1
	clear(dst)
	for y := range side {
		from := y + dy
		if from < 0 || from >= side {
			continue
		}
		for x := range side {
			at := x + dx
			if at < 0 || at >= side || from >= top && from < bottom && at >= left && at < right {
				continue
			}
			to := x
			if flip {
				to = side - 1 - x
			}
			for c := range inputs {
				dst[(c*side+y)*side+to] = float32(levels[(c*side+from)*side+at]) / 255
			}
		}
	}
}

// Images returns the pictures of a set as samples in [0, 1].
func Images(set *cifar.Set) []float32 {
	images := make([]float32, len(set.Levels))
	for i, v := range set.Levels {
		images[i] = float32(v) / 255
	}
	return images
}
