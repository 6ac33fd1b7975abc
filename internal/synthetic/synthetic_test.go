package synthetic

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A seed gives one drawing, of its kind, in multiples of 1/255, with more than one colour.
func TestDrawing(t *testing.T) {
	const h, w = 96, 128
	for seed := range uint64(3 * len(Drawings)) {
		d := Drawing(seed, h, w)
		require.Len(t, d, 3*h*w)
		require.Equal(t, d, Drawing(seed, h, w))
		require.Equal(t, d, Rounded(d, 255))
		require.NotEqual(t, d, Drawing(seed+uint64(len(Drawings)), h, w))
		values := make(map[float32]bool)
		for _, v := range d {
			values[v] = true
		}
		require.Greater(t, len(values), 2, "%s %d", Drawings[seed%uint64(len(Drawings))], seed)
	}
}

// plane is a smooth ramp with a pattern.
func plane(n int) []float32 {
	p := make([]float32, n)
	for i := range p {
		p[i] = float32(i%97) / 100
	}
	return p
}

func deviation(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i] - b[i])
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(a)))
}

func TestNoise(t *testing.T) {
	clean := plane(3 * 10000)
	for _, sigma := range []float64{0.01, 0.1} {
		require.InEpsilon(t, sigma, deviation(clean, White(clean, sigma, 5)), 0.03)
		noisy := Brightness(clean, sigma, 5)
		require.InEpsilon(t, sigma, deviation(clean, noisy), 0.03)
		for i := range 10000 {
			require.InDelta(t, noisy[i]-clean[i], noisy[20000+i]-clean[20000+i], 1e-6)
		}
	}
	require.NotEqual(t, White(clean, 0.1, 5), White(clean, 0.1, 6))

	changed := func(pix []float32) (pixels, samples int) {
		for i := range 10000 {
			any := false
			for c := range 3 {
				if pix[c*10000+i] != clean[c*10000+i] {
					any = true
					samples++
				}
			}
			if any {
				pixels++
			}
		}
		return pixels, samples
	}
	pixels, _ := changed(SaltAndPepper(clean, 3, 0.05, 1))
	require.InDelta(t, 500, pixels, 80)
	pixels, samples := changed(HotPixels(clean, 3, 0.01, 1))
	require.InDelta(t, 100, pixels, 40)
	require.Equal(t, pixels, samples, "one sample of each pixel")
}

func TestExposure(t *testing.T) {
	clean := plane(3000)
	require.InDeltaSlice(t, clean, Exposed(clean, 1), 1e-6)
	require.InDeltaSlice(t, clean, Exposed(Exposed(clean, 1./16), 16), 1e-5)
	exposed := Exposed(clean, 3)
	for i, v := range Relit(clean, 3) {
		require.Equal(t, exposed[i], min(v, 1))
	}
	for _, share := range []float64{0.22, 0.5} {
		require.Greater(t, slices.Max(Relit(clean, Overexposure(clean, share))), float32(1.05))
		blown := 0
		for _, v := range Overexposed(clean, share) {
			if v == 1 {
				blown++
			}
		}
		require.InDelta(t, share, float64(blown)/3000, 0.02)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float32Range(-2, 2).Draw(t, "v")
		r := Rounded([]float32{v}, 255)[0]
		require.InDelta(t, clipped(v), r, 0.5/255+1e-6)
	})
}

func TestColour(t *testing.T) {
	grey := plane(500)
	require.InDeltaSlice(t, grey, Grey(Tinted(grey, [3]float64{1, 1, 1})), 1e-6)
	three := Tinted(grey, Sepia)
	for i, v := range grey {
		require.InDelta(t, 0.69*v, three[1000+i], 1e-6)
	}
	nudged := Nudged(grey, 7)
	require.InDelta(t, 1./255, math.Abs(float64(nudged[7]-grey[7])), 1e-6)
	nudged[7] = grey[7]
	require.Equal(t, grey, nudged)
}
