package noiselevel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cameranoise"
)

// TestCompressed: a sky that JPEG made flat is told from a drawing, whose areas always were, and the
// artefacts around what stands before the sky count as noise, which those of a drawing do not.
func TestCompressed(t *testing.T) {
	const h, w = 160, 176
	rng := rand.New(rand.NewPCG(3, 4))
	sky := make([]float32, 3*h*w)
	for c := range 3 {
		for y := range h {
			for x := range w {
				v := 0.6 - 0.1*float64(c)*float64(y)/h + 0.05*math.Sin(float64(x)/40)
				if (x-80)*(x-80)+(y-90)*(y-90) < 900 {
					v = 0.4 + 0.3*math.Sin(0.9*float64(x)+0.4*float64(y*(c+1)))
				}
				sky[(c*h+y)*w+x] = float32(math.Round(255*v) / 255)
			}
		}
	}
	drawing := make([]float32, 3*h*w)
	for i := range drawing {
		drawing[i] = 1
	}
	for range 60 {
		top, left, high, wide := rng.IntN(h-30), rng.IntN(w-40), 1+rng.IntN(29), 1+rng.IntN(39)
		for c := range 3 {
			v := float32(rng.IntN(256)) / 255
			for y := range high {
				for x := range wide {
					drawing[(c*h+top+y)*w+left+x] = v
				}
			}
		}
	}
	require.False(t, compressed(sky, 3, h, w))
	require.False(t, compressed(drawing, 3, h, w))
	require.False(t, compressed(drawing[:h*w], 1, h, w))
	p, err := EstimateProfile(drawing, 3, h, w)
	require.NoError(t, err)
	require.Equal(t, None, p.Kind)
	for _, quality := range []int{10, 20, 40} {
		saved, err := cameranoise.Compressed(sky, h, w, cameranoise.JPEG{Quality: quality, Subsampling: cameranoise.Quarter})
		require.NoError(t, err)
		require.True(t, compressed(saved, 3, h, w), quality)
		p, err := EstimateProfile(saved, 3, h, w)
		require.NoError(t, err)
		require.Equal(t, Coarse, p.Kind, quality)
	}
}

// Blocks are seen in what JPEG has compressed, with noise and without, and in nothing else.
func TestBlocked(t *testing.T) {
	const h, w = 120, 136
	for _, sigma := range []float64{0, 0.01} {
		pix := toBytes(addNoise(render(scenes["edges"], 3, h, w), sigma, 8))
		soft := slices.Clone(pix) // as a blurred photograph is
		for c := range 3 {
			for y := 1; y+1 < h; y++ {
				for x := 1; x+1 < w; x++ {
					i := c*h*w + y*w + x
					soft[i] = (pix[i-w] + pix[i-1] + pix[i] + pix[i+1] + pix[i+w]) / 5
				}
			}
		}
		soft = toBytes(addNoise(soft, sigma, 9))
		require.False(t, Blocked(soft, 3, h, w), "%v", sigma)
		for _, quality := range []int{75, 90} {
			saved, err := cameranoise.Compressed(soft, h, w, cameranoise.JPEG{Quality: quality, Subsampling: cameranoise.Quarter})
			require.NoError(t, err)
			require.True(t, Blocked(saved, 3, h, w), "%v, quality %d", sigma, quality)
		}
	}
	require.False(t, Blocked(make([]float32, 3*h*w), 3, h, w), "one colour")
	require.False(t, Blocked([]float32{1}, 1, 1, 1))
}
