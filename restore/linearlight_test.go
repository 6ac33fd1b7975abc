package restore_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/blurdomain"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/srgb"
	"github.com/averaged/imaging/restore"
	"github.com/stretchr/testify/require"
)

// curved puts each sample through a curve.
func curved(p *restore.Planar, curve func(float64) float64) *restore.Planar {
	q := restore.NewPlanar(p.Channels, p.Height, p.Width)
	for i, v := range p.Pix {
		q.Pix[i] = float32(curve(float64(v)))
	}
	return q
}

// clippedToBytes is what a file of 8 bits holds.
func clippedToBytes(p *restore.Planar) *restore.Planar {
	return curved(p, func(v float64) float64 { return math.Round(min(max(v, 0), 1)*255) / 255 })
}

// Where light was blurred, a run that knows it is far better than one for samples, and with the same proof. Where samples were
// blurred it is the other way round.
func TestLinearLight(t *testing.T) {
	leaveGains(t)
	kernel, err := deblur.Shake(9, 2)
	require.NoError(t, err)
	truth := picture(3, 71, 90)
	run := func(p *restore.Planar, options ...restore.Option) (float64, *restore.Report) {
		out, report, err := restore.Deblur(t.Context(), p, kernel, append(options, restore.Boundary(deblur.Circular))...)
		require.NoError(t, err)
		return psnr(t, out.(*restore.Planar), truth), report
	}
	light := clippedToBytes(noisy(curved(blurred(t, curved(truth, srgb.Linear), kernel, deblur.Circular), srgb.Encoded), 1.5/255, 7))
	stored, _ := run(light, restore.StoredSamples())
	linear, report := run(light, restore.LinearLight())
	require.Greater(t, linear, stored+2)
	require.True(t, report.Iteration.Converged)
	require.True(t, report.Iteration.Run.Certificate.Converges() && report.Iteration.Run.Certificate.FixedPointExists())
	require.Less(t, report.Iteration.Left[0], 2*report.Noise.Sigma)
	norm := report.Iteration.Run.Certificate.Norm
	require.False(t, math.IsInf(norm, 1))
	require.Greater(t, norm, 1.0)

	samples := clippedToBytes(noisy(blurred(t, truth, kernel, deblur.Circular), 1.5/255, 7))
	stored, _ = run(samples)
	linear, _ = run(samples, restore.LinearLight())
	require.Greater(t, stored, linear+1)

	// Clipped lamps are no data here either.
	lit := restore.NewPlanar(3, truth.Height, truth.Width)
	copy(lit.Pix, truth.Pix)
	for c := range 3 {
		for i := range 9 {
			lit.Plane(c)[(30+i/3)*lit.Width+40+i%3] = 2
		}
	}
	lamp := clippedToBytes(noisy(curved(blurred(t, curved(lit, srgb.Linear), kernel, deblur.Circular), srgb.Encoded), 1.5/255, 7))
	out, report, err := restore.Deblur(t.Context(), lamp, kernel, restore.LinearLight(), restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.Positive(t, report.Noise.Clipped)
	require.True(t, report.Iteration.Run.Certificate.Converges() && report.Iteration.Run.Certificate.FixedPointExists())
	require.Greater(t, slices.Max(out.(*restore.Planar).Pix), float32(1.3))
	require.Less(t, report.Iteration.Left[0], 2*report.Noise.Sigma)
}

// tiles is a grey image of overlapping rectangles, whose edges show what was blurred.
func tiles(h, w int) *restore.Planar {
	random := rand.New(rand.NewPCG(1, 1))
	p := restore.NewPlanar(1, h, w)
	for range h * w / 60 {
		y, x, v := random.IntN(h), random.IntN(w), .05+.85*random.Float32()
		down, right := 3+random.IntN(20), 3+random.IntN(20)
		for i := y; i < min(y+down, h); i++ {
			for j := x; j < min(x+right, w); j++ {
				p.Pix[i*w+j] = v
			}
		}
	}
	return p
}

// The photograph tells whether light was blurred, with a kernel and without.
func TestThePhotographTellsWhatWasBlurred(t *testing.T) {
	kernel, err := deblur.Shake(11, 2)
	require.NoError(t, err)
	const h, w = 200, 260
	truth := tiles(h, w)
	for _, light := range []bool{true, false} {
		p := blurred(t, truth, kernel, deblur.Circular)
		if light {
			p = curved(blurred(t, curved(truth, srgb.Linear), kernel, deblur.Circular), srgb.Encoded)
		}
		p = clippedToBytes(noisy(p, 1./255, 7))
		few := []restore.Option{restore.Iterations(1), restore.Boundary(deblur.Circular), restore.Sigma(1. / 255)}
		of := func(options ...restore.Option) *restore.Planar {
			out, report, err := restore.Deblur(t.Context(), p, kernel, append(options, few...)...)
			require.NoError(t, err)
			if len(options) == 0 {
				require.Equal(t, light, report.LinearLight)
			}
			return out.(*restore.Planar)
		}
		said := restore.StoredSamples()
		if light {
			said = restore.LinearLight()
		}
		require.Equal(t, of(said), of())

		b, err := restore.EstimateBlur(t.Context(), p, restore.Boundary(deblur.Circular))
		require.NoError(t, err)
		require.Equal(t, light, b.LinearLight)
		require.Equal(t, light, b.Kernel.LinearLight)
		require.Equal(t, light, strings.Contains(b.String(), "in linear light"))
		_, report, err := restore.DeblurBlind(t.Context(), p, b, few...)
		require.NoError(t, err)
		require.Equal(t, light, report.LinearLight)
		// A denoiser without a guide knows samples alone.
		_, report, err = restore.DeblurBlind(t.Context(), p, b, append(few, restore.Method("tv"))...)
		require.NoError(t, err)
		require.False(t, report.LinearLight)
	}
}

// A kernel that the spectra do not show is doubtful, however well parts of the photograph agree on it.
func TestSpectraContradictAKernel(t *testing.T) {
	kernel, err := deblur.Shake(11, 2)
	require.NoError(t, err)
	other, err := deblur.Shake(21, 5)
	require.NoError(t, err)
	p := clippedToBytes(noisy(blurred(t, tiles(200, 260), kernel, deblur.Circular), 1./255, 7))
	planes := &imageplanes.Planes{Pix: p.Pix, Channels: p.Channels, Height: p.Height, Width: p.Width}
	for _, k := range []deblur.Kernel{kernel, other} {
		e, err := blurdomain.Weigh(t.Context(), planes, 1, deblur.OneKernel(k))
		require.NoError(t, err)
		b := restore.Weighed(&restore.Blur{Kernel: &restore.KernelReport{Kind: "shake", Trust: "good"}}, e[0])
		if &k.Weights[0] == &kernel.Weights[0] {
			require.Equal(t, "good", b.Kernel.Trust)
			require.Empty(t, b.Doubts())
		} else {
			require.Equal(t, "doubtful", b.Kernel.Trust, "%+v", e[0])
			require.Len(t, b.Doubts(), 1)
		}
	}
	none := restore.Weighed(&restore.Blur{Kernel: &restore.KernelReport{Kind: "none", Trust: "good"}}, blurdomain.Evidence{Squares: 9})
	require.Equal(t, "good", none.Kernel.Trust)
}

// Nothing changes where the curve does not matter: a photograph of an odd side, one channel, and without blur.
func TestLinearLightWithoutBlur(t *testing.T) {
	leaveRuns(t)
	one, err := deblur.NewKernel([]float32{1}, 1, 1)
	require.NoError(t, err)
	p := noisy(picture(1, 41, 53), 5./255, 3)
	without, _, err := restore.Deblur(t.Context(), p, one, restore.Sigma(5./255))
	require.NoError(t, err)
	with, report, err := restore.Deblur(t.Context(), p, one, restore.Sigma(5./255), restore.LinearLight())
	require.NoError(t, err)
	require.True(t, report.Iteration.Run.Certificate.Converges() && report.Iteration.Run.Certificate.FixedPointExists())
	require.Greater(t, psnr(t, without.(*restore.Planar), with.(*restore.Planar)), 40.0)
}

// The option needs a network with a guide, and belongs to deblurring.
func TestLinearLightIsRefused(t *testing.T) {
	kernel, err := deblur.Gaussian(1)
	require.NoError(t, err)
	var wrong *restore.OptionError
	for _, method := range []string{"tv", "strict"} {
		_, _, err = restore.Deblur(t.Context(), picture(1, 16, 16), kernel, restore.Method(method), restore.LinearLight())
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "LinearLight", wrong.Option)
	}
	_, _, err = restore.Denoise(t.Context(), picture(1, 16, 16), restore.LinearLight())
	require.ErrorAs(t, err, &wrong)
}
