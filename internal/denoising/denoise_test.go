package denoising

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
)

// onHost is a denoiser that is a function of samples.
type onHost struct {
	dev backend.Device
	f   func(pix []float32)
}

func (d onHost) Apply(_ context.Context, dst, src backend.Buffer) error {
	pix := make([]float32, src.Shape().Len())
	if err := d.dev.Download(pix, src); err != nil {
		return err
	}
	d.f(pix)
	return d.dev.Upload(dst, pix)
}

func (d onHost) Averagedness() (alpha float64, proven bool) { return 1, false }

// picture draws an image of h×w pixels with samples up to bright, one of which is that bright.
func picture(t *rapid.T, name string, channels, h, w int, bright float32) *imageplanes.Planes {
	p := imageplanes.New(channels, h, w)
	copy(p.Pix, rapid.SliceOfN(rapid.Float32Range(0, bright), len(p.Pix), len(p.Pix)).Draw(t, name))
	p.Pix[0] = bright
	return p
}

// TestDarkImageIsBrightened: the denoiser sees an image that fills the range, and what it returns goes back to the
// range of the photograph, with the noise levels of the report.
func TestDarkImageIsBrightened(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		bright := rapid.Float32Range(0.001, 1).Draw(t, "brightest")
		p := picture(t, "samples", 1, 5, 6, bright)
		sigma := rapid.Float64Range(0.001, 0.3).Draw(t, "sigma")
		levels := denoise.ConstantLevels(5, 6, sigma)
		report := &outcome.Report{Noise: outcome.Noise{Sigma: sigma, Estimate: &outcome.Estimate{Sigma: sigma, Levels: levels}}}
		report.Noise.Estimate.ByDenoiser = [2]*denoise.LevelMap{levels, levels}
		seen := float32(0)
		job := Job{Device: dev, Strength: 1, Choice: &networks.Choice{Method: networks.Own, Prior: onHost{dev, func(pix []float32) {
			seen = slices.Max(pix)
		}}}}
		out, err := job.Denoise(context.Background(), p, report)
		require.NoError(t, err)
		require.GreaterOrEqual(t, seen, float32(0.49))
		require.LessOrEqual(t, seen, float32(1.01))
		require.InEpsilon(t, sigma, report.Noise.Sigma, 1e-6)
		require.InEpsilon(t, sigma, report.Noise.Estimate.Levels.Max(), 1e-5)
		require.InDeltaSlice(t, p.Pix, out, 1e-6)
	})
}

// A darker image becomes the same but for its brightness, to the bit, and so does the weight in the report.
func TestDarkImageLosesNothing(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		p := picture(t, "samples", 3, 5, 6, 0.9)
		sigma := rapid.Float64Range(0.01, 0.3).Draw(t, "sigma")
		factor := float32(int(1) << rapid.IntRange(1, 10).Draw(t, "darker by powers of two"))
		denoise := func(p *imageplanes.Planes, sigma float64) ([]float32, float64) {
			report := &outcome.Report{Noise: outcome.Noise{Sigma: sigma}}
			out, err := Job{Device: dev, Choice: &networks.Choice{Method: networks.TV}, Strength: 1}.Denoise(context.Background(), p, report)
			require.NoError(t, err)
			return out, report.Weight
		}
		dark := imageplanes.New(3, 5, 6)
		for i, v := range p.Pix {
			dark.Pix[i] = v / factor
		}
		bright, weight := denoise(p, sigma)
		out, ofDark := denoise(dark, sigma/float64(factor))
		for i, v := range bright {
			require.Equal(t, v/factor, out[i])
		}
		require.Equal(t, weight/float64(factor), ofDark)
	})
}

// TestImageWithoutNoiseIsReturned: it is a copy, to the bit, and certified as the identity.
func TestImageWithoutNoiseIsReturned(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		p := picture(t, "samples", 3, 3, 4, rapid.Float32Range(0.01, 2).Draw(t, "brightest"))
		report := &outcome.Report{Method: networks.TV, Noise: outcome.Noise{Estimate: &outcome.Estimate{Kind: outcome.NoNoise}}}
		out, err := Job{Device: dev, Choice: &networks.Choice{Method: networks.TV}, Strength: 1}.Denoise(context.Background(), p, report)
		require.NoError(t, err)
		require.Equal(t, p.Pix, out)
		require.NotSame(t, &p.Pix[0], &out[0])
		require.True(t, report.Unchanged && report.Certified)
		require.Equal(t, 1.0, report.Averagedness)
	})
}

// TestTotalVariationIsNonexpansive: with a given noise level two images are never farther apart than before, except for the
// duality gaps. By strong convexity each result is within √(2·gap) of the proximal map. A gap is at most the relative gap
// that is reported times the objective at the image, α·TV ≤ α·√2·(samples).
func TestTotalVariationIsNonexpansive(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0.01, 0.5).Draw(t, "sigma")
		x, y := picture(t, "x", 1, 8, 9, 1), picture(t, "y", 1, 8, 9, 1)
		slack := 0.0
		apply := func(p *imageplanes.Planes) []float32 {
			report := &outcome.Report{Noise: outcome.Noise{Sigma: sigma}}
			out, err := Job{Device: dev, Choice: &networks.Choice{Method: networks.TV}, Strength: 1, Tolerance: 1e-6}.
				Denoise(context.Background(), p, report)
			require.NoError(t, err)
			require.True(t, report.Certified)
			slack += math.Sqrt(2 * report.Iteration.Residual * report.Weight * math.Sqrt2 * float64(len(p.Pix)))
			return out
		}
		before, after := distance(x.Pix, y.Pix), distance(apply(x), apply(y))
		require.LessOrEqual(t, after, before*(1+1e-5)+slack)
		require.Less(t, slack, 0.5, "the gaps are small, or this says little")
	})
}

func distance(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// TestResultThatIsNotFinite: the error names the method and the place, so that nobody saves such a picture.
func TestResultThatIsNotFinite(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		p := picture(t, "samples", 3, 4, 5, 1)
		at := rapid.IntRange(0, len(p.Pix)-1).Draw(t, "at")
		v := rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}).Draw(t, "value")
		prior := onHost{dev, func(pix []float32) { pix[at] = v }}
		_, err := Job{Device: dev, Choice: &networks.Choice{Method: networks.Own, Prior: prior}, Strength: 1}.
			Denoise(context.Background(), p, &outcome.Report{})
		require.ErrorContains(t, err, networks.Own)
		require.ErrorContains(t, err, fmt.Sprintf("column %d, row %d", at%5, at/5%4))
	})
}

// TestImpulsesAlone: filling changes no sample but as many as it says, and none of an invisible pixel.
func TestImpulsesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := imageplanes.New(1, 40, 40)
		for i := range p.Pix {
			p.Pix[i] = 0.5 + 0.2*float32(math.Sin(float64(i%40)/9)*math.Cos(float64(i/40)/7))
		}
		for range rapid.IntRange(0, 30).Draw(t, "impulses") {
			p.Pix[rapid.IntRange(0, len(p.Pix)-1).Draw(t, "at")] = float32(rapid.IntRange(0, 1).Draw(t, "pepper or salt"))
		}
		if rapid.Bool().Draw(t, "transparent") {
			p.Alpha = make([]uint16, len(p.Pix))
			for i := range p.Alpha {
				if i%3 > 0 {
					p.Alpha[i] = 0xffff
				}
			}
		}
		before := slices.Clone(p.Pix)
		filled, share, err := FillImpulses(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, before, p.Pix, "the image is the caller's")
		changed := 0
		for i, v := range filled.Pix {
			if v != before[i] {
				changed++
				require.True(t, p.Alpha == nil || p.Alpha[i] > 0)
			}
		}
		require.LessOrEqual(t, float64(changed), math.Round(share*float64(len(p.Pix))))
		require.Equal(t, share == 0, filled == p)
	})
}
