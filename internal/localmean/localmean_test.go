package localmean

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// shot is a flat picture of three channels with normal noise, and the picture without it.
func shot(colour [3]float32, h, w int, sigma float64) (noisy, clean []float32) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, v := range colour {
		for range h * w {
			clean = append(clean, v)
			noisy = append(noisy, v+float32(sigma*random.NormFloat64()))
		}
	}
	return noisy, clean
}

func meanOf(plane []float32) float64 {
	sum := 0.0
	for _, v := range plane {
		sum += float64(v)
	}
	return sum / float64(len(plane))
}

// A dark neutral area that has become green is grey again, but for what noise explains.
func TestDarkNeutralIsPutBack(t *testing.T) {
	const h, w, sigma, lost = 150, 170, 0.07, 0.03
	noisy, clean := shot([3]float32{0.11, 0.12, 0.10}, h, w, sigma)
	shifted := slices.Clone(clean)
	for i := range h * w {
		shifted[i] -= lost
		shifted[2*h*w+i] -= lost
	}
	most := Keep(noisy, shifted, 3, h, w, sigma)
	allowed := deviations * sigma / (2 * math.Sqrt(math.Pi) * spread * cell)
	require.InDelta(t, lost-allowed, most, 0.003)
	for _, c := range []int{0, 2} {
		plane := shifted[c*h*w:][:h*w]
		require.InDelta(t, meanOf(clean[c*h*w:][:h*w])-allowed, meanOf(plane), 0.001)
		require.Less(t, float64(slices.Max(plane)-slices.Min(plane)), 0.004, "smooth")
	}
	require.Equal(t, clean[h*w:2*h*w], shifted[h*w:2*h*w], "what has kept its mean")
}

// Only a part of the picture has been shifted: far from there nothing changes.
func TestPutBackWhereItLacks(t *testing.T) {
	const h, w, sigma = 64, 480, 0.02
	noisy, clean := shot([3]float32{0.2, 0.2, 0.2}, h, w, sigma)
	shifted := slices.Clone(clean)
	for y := range h {
		for x := range 160 {
			shifted[y*w+x] -= 0.04
		}
	}
	require.Greater(t, Keep(noisy, shifted, 3, h, w, sigma), 0.03)
	require.Greater(t, shifted[20*w+20], float32(0.19))
	require.Equal(t, clean[20*w+420], shifted[20*w+420])
}

// Noise that is taken away, saturated colours near black and what becomes brighter are left as they are.
func TestLeftAsItIs(t *testing.T) {
	const h, w, sigma = 120, 130, 0.08
	for name, c := range map[string]struct {
		colour [3]float32
		shift  float32
	}{
		"noise alone": {[3]float32{0.3, 0.3, 0.3}, 0},
		"saturated":   {[3]float32{0.5, 0.3, 0.1}, -0.04},
		"brighter":    {[3]float32{0.3, 0.3, 0.3}, 0.04},
	} {
		noisy, denoised := shot(c.colour, h, w, sigma)
		for i := range h * w {
			denoised[2*h*w+i] += c.shift
		}
		before := slices.Clone(denoised)
		// In a corner a quarter of the noise is averaged, so that one may show.
		require.Less(t, Keep(noisy, denoised, 3, h, w, sigma), 3e-4, name)
		require.InDeltaSlice(t, before, denoised, 3e-4, name)
	}
}

// Of any size and any values nothing becomes darker, nor brighter than is said, the same each time.
func TestNothingDarkens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		h, w := rapid.IntRange(1, 70).Draw(t, "height"), rapid.IntRange(1, 70).Draw(t, "width")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		draw := func() []float32 {
			pix := make([]float32, channels*h*w)
			for i := range pix {
				pix[i] = random.Float32()
			}
			return pix
		}
		noisy, denoised := draw(), draw()
		again, before := slices.Clone(denoised), slices.Clone(denoised)
		sigma := rapid.Float64Range(0, 0.3).Draw(t, "sigma")
		most := Keep(noisy, denoised, channels, h, w, sigma)
		for i, v := range denoised {
			require.GreaterOrEqual(t, v, before[i])
			require.LessOrEqual(t, float64(v-before[i]), most+1e-6)
		}
		require.Equal(t, most, Keep(noisy, again, channels, h, w, sigma))
		require.Equal(t, denoised, again)
	})
}
