package denoising

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
)

// ramp returns tones from low to high, without noise.
func ramp(n int, low, high float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(low + (high-low)*(float64(i)+0.5)/float64(n))
	}
	return out
}

// taken returns what a camera makes of tones: noise of that standard deviation in linear light, limited at black and
// white, under a tone curve of that exponent.
func taken(tones []float32, sigma, exponent float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, len(tones))
	for i, v := range tones {
		light := math.Pow(float64(v), exponent) + sigma*r.NormFloat64()
		out[i] = float32(math.Pow(min(max(light, 0), 1), 1/exponent))
	}
	return out
}

// averages returns the mean of each run of so many samples, which is what the best of denoisers makes of a ramp.
func averages(noisy []float32, run int) []float32 {
	out := make([]float32, len(noisy))
	for i := 0; i < len(noisy); i += run {
		sum := 0.0
		for _, v := range noisy[i:][:run] {
			sum += float64(v)
		}
		for j := range run {
			out[i+j] = float32(sum / float64(run))
		}
	}
	return out
}

func squaredError(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v-b[i]) * float64(v-b[i])
	}
	return sum / float64(len(a))
}

// TestMend: noise in linear light has darkened the shadows, and the curve takes nearly all of that back, for tone
// curves of other exponents as well.
func TestMend(t *testing.T) {
	const n = 1 << 20
	for _, c := range []struct{ exponent, sigma, darkest, left float64 }{
		{2.2, 0.03, 0.08, 0.15}, {2.2, 0.08, 0.25, 0.1}, {2.2, 0.005, 0.12, 0.25}, {1.9, 0.05, 0.25, 0.25}, {2.6, 0.05, 0.25, 0.25},
	} {
		truth := ramp(n, c.darkest, 0.9)
		noisy := taken(truth, c.sigma, c.exponent, 7)
		denoised := averages(noisy, 2048)
		before := squaredError(denoised, truth)
		curve := mended(noisy, denoised, 1, nil)[0]
		require.Less(t, squaredError(denoised, truth), c.left*before, "%+v", c)
		require.Positive(t, curve.Raised())
		require.Greater(t, curve.Slope(), 1.0)
	}
}

// TestUntouched: noise that was added to a finished picture has no skewness, nor has what is lost of an edge on both
// of its sides, and too little noise or too few samples say nothing. Not a bit changes.
func TestUntouched(t *testing.T) {
	const n = 1 << 16
	truth := ramp(n, 0.05, 0.95)
	r := rand.New(rand.NewPCG(3, 4))
	for _, sigma := range []float64{0.01, 0.05, 0.15, 0.4} {
		for _, limited := range []bool{false, true} {
			noisy := make([]float32, n)
			for i, v := range truth {
				noisy[i] = v + float32(sigma*r.NormFloat64())
				if limited {
					noisy[i] = min(max(noisy[i], 0), 1)
				}
			}
			denoised := averages(noisy, 1024)
			want := slices.Clone(denoised)
			curve := mended(noisy, denoised, 1, nil)[0]
			require.Equal(t, want, denoised, "sigma %v, limited %v", sigma, limited)
			require.Zero(t, curve.Raised())
			require.Equal(t, 1.0, curve.Slope())
		}
	}
	for _, same := range [][]float32{truth, make([]float32, n), {}} {
		require.Equal(t, shadowCurve{}, mended(same, slices.Clone(same), 1, nil)[0])
	}
	few := ramp(150, 0.2, 0.21)
	require.Equal(t, shadowCurve{}, mended(taken(few, 0.05, noise.ToneGamma, 1), few, 1, nil)[0])
}

// TestNoiselessSquares: what is taken away where the level is 0, as in a frame, says nothing of shadows.
func TestNoiselessSquares(t *testing.T) {
	const side = 256
	noisy := taken(ramp(side*side, 0.25, 0.9), 0.08, 2.2, 7)
	p := &imageplanes.Planes{Width: side, Height: side, Channels: 1, Pix: noisy}
	for _, level := range []float64{0, 0.1} {
		m := denoise.ConstantLevels(side, side, level)
		report := &outcome.Noise{Estimate: &outcome.Estimate{Levels: m}}
		report.Estimate.ByDenoiser[levelsOfWhite] = m
		mendShadows(p, averages(noisy, 2048), "guided", report)
		require.Equal(t, level > 0, report.ShadowsRaised > 0)
	}
}

// TestChannels: each channel has a curve of its own.
func TestChannels(t *testing.T) {
	const n = 1 << 16
	truth := ramp(n, 0.1, 0.8)
	dark := taken(truth, 0.06, noise.ToneGamma, 5)
	r := rand.New(rand.NewPCG(9, 9))
	white := make([]float32, n)
	for i, v := range truth {
		white[i] = v + float32(0.05*r.NormFloat64())
	}
	curves := mended(slices.Concat(white, dark), slices.Concat(averages(white, 1024), averages(dark, 1024)), 2, nil)
	require.Zero(t, curves[0].Raised())
	require.Greater(t, curves[1].Raised(), 0.01)
}

// TestCurve: whatever the samples, a curve leaves black where it is, rises with a slope of ½ to 1½, and its Slope and
// Raised bound what it does.
func TestCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20000).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		low, width := rapid.Float64Range(-1, 1).Draw(t, "low"), rapid.Float64Range(0, 2).Draw(t, "width")
		spread, skew := rapid.Float64Range(0, 1).Draw(t, "noise"), rapid.Float64Range(0, 3).Draw(t, "skew")
		denoised, noisy := make([]float32, n), make([]float32, n)
		for i := range noisy {
			denoised[i] = float32(low + width*r.Float64())
			noisy[i] = denoised[i] + float32(spread*(r.NormFloat64()-skew*r.ExpFloat64()))
		}
		curve := measureShadows(noisy, denoised, nil)
		x := make([]float32, 400)
		for i := range x {
			x[i] = float32(i)/200 - 0.5
		}
		y := slices.Clone(x)
		curve.apply(y)
		slope := curve.Slope()
		require.LessOrEqual(t, slope, 1+noise.SteepestShadows+1e-9)
		for i := range x {
			require.LessOrEqual(t, float64(y[i]-x[i]), curve.Raised()+1e-6)
			if x[i] <= 0 {
				require.Equal(t, x[i], y[i])
			}
			if i > 0 {
				rise := float64(y[i]-y[i-1]) / float64(x[i]-x[i-1])
				require.LessOrEqual(t, rise, slope+1e-4)
				require.GreaterOrEqual(t, rise, 1-noise.SteepestShadows-1e-4)
			}
		}
	})
}

// TestModel: against the expansion for little noise, what is known of noise without light, and drawn noise in between.
func TestModel(t *testing.T) {
	o := toneAt(0.01)
	require.InDelta(t, (noise.ToneGamma-1)/2*1e-4, o.factor-1, 3e-6)
	require.InDelta(t, -3*(noise.ToneGamma-1)*0.01, o.skewness, 0.002)
	// The mean of max(z, 0)^p for a normal z is 2^(p/2)·Γ((p+1)/2)/(2√π).
	mean := func(p float64) float64 { return math.Pow(2, p/2) * math.Gamma((p+1)/2) / (2 * math.Sqrt(math.Pi)) }
	m := mean(1 / noise.ToneGamma)
	require.InDelta(t, math.Sqrt(mean(2/noise.ToneGamma)-m*m)/m, toneAt(100).ratio, 0.02)
	require.Less(t, toneAt(100).factor, 0.5)
	grey := slices.Repeat([]float32{0.3}, 1<<18)
	noisy := taken(grey, 0.04, noise.ToneGamma, 2)
	sum, squares := 0.0, 0.0
	for _, v := range noisy {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mu := sum / float64(len(noisy))
	deviation := math.Sqrt(squares/float64(len(noisy)) - mu*mu)
	require.InDelta(t, 0.3, mu*toneAt(deviation/mu).factor, 0.002)
	last := 0.0
	for _, ratio := range toneModel().ratio {
		require.Greater(t, ratio, last)
		last = ratio
	}
}

func BenchmarkMend(b *testing.B) {
	truth := slices.Repeat(ramp(1<<20, 0.05, 0.9), 3)
	noisy := taken(truth, 0.03, noise.ToneGamma, 1)
	denoised := averages(noisy, 1024)
	b.SetBytes(int64(4 * len(truth)))
	for b.Loop() {
		mended(noisy, denoised, 3, nil)
	}
}
