package levellearning

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/train"
)

// A crop of each kind has finite samples near [0,1]. Those without noise are to come back as they are.
func TestCropOf(t *testing.T) {
	const side = 300
	var list []train.Picture
	for seed := range uint64(3) {
		list = append(list, train.Picture{Channels: 3, Height: side, Width: side, Samples: synthetic.Drawing(seed, side, side)})
	}
	set, err := train.NewPictures(3, list)
	require.NoError(t, err)
	for _, k := range levelMixture {
		for seed := range uint64(3) {
			kind, noisy, clean, err := CropOf(set, seed, k.kind)
			require.NoError(t, err, k.kind)
			require.Equal(t, k.kind, kind)
			require.Len(t, noisy, 3*cropSide*cropSide, kind)
			require.Len(t, clean, 3*cropSide*cropSide, kind)
			square := 0.0
			for i, v := range noisy {
				require.InDelta(t, 0.5, v, 3, kind)
				require.InDelta(t, 0.5, clean[i], 0.5001, kind)
				square += math.Pow(float64(v)-float64(clean[i]), 2)
			}
			switch kind {
			case "clean", "texture", "drawing":
				require.Zero(t, square, kind)
			default:
				require.NotZero(t, square, kind)
			}
		}
	}
}

// Grain has the level that is asked for at white, a part of it in colour, and is shared by neighbours.
func TestGrain(t *testing.T) {
	const level = 0.05
	white := make([]float32, 3*cropSide*cropSide)
	for i := range white {
		white[i] = 1
	}
	noisy := grain(white, cropSide, level, rand.New(rand.NewPCG(1, 2)))
	n := len(white) / 3
	square, colour, shared := 0.0, 0.0, 0.0
	for i := range n - 1 {
		v := float64(noisy[i]) - 1
		square += v * v / float64(n)
		colour += math.Pow(float64(noisy[i])-float64(noisy[n+i]), 2) / float64(n)
		shared += v * (float64(noisy[i+1]) - 1) / float64(n)
	}
	require.Greater(t, math.Sqrt(square), level*math.Hypot(0.8, 0.3)*0.95)
	require.Less(t, math.Sqrt(square), level*math.Hypot(0.8, 0.7)*1.05)
	require.Greater(t, math.Sqrt(colour/2), level*0.3*0.95)
	require.Less(t, math.Sqrt(colour/2), level*0.7*1.05)
	require.Greater(t, shared/square, 0.03)
}
