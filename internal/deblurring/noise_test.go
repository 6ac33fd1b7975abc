package deblurring

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/coarsenoise"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/internal/synthetic"
)

// clouds is an image whose power falls with the square of the frequency, as that of photographs does.
func clouds(t *testing.T, channels, h, w int, seed uint64) *imageplanes.Planes {
	t.Helper()
	p := imageplanes.New(channels, h, w)
	for i := 1; i < 6; i++ {
		soft, err := deblur.Gaussian(0.5 * math.Exp2(float64(i)))
		require.NoError(t, err)
		layer := blurredBy(t, p.WithPix(synthetic.White(make([]float32, len(p.Pix)), 0.03*math.Exp2(float64(i)), seed+uint64(i))), soft)
		p = sum(p, layer)
	}
	return p
}

func blurredBy(t *testing.T, p *imageplanes.Planes, k deblur.Kernel) *imageplanes.Planes {
	t.Helper()
	dev := cputest.Open(t)
	defer dev.Close()
	op, err := deblur.New(dev, k, deblur.Circular, p.Height, p.Width)
	require.NoError(t, err)
	defer op.Free()
	x, err := dev.Alloc(p.Shape())
	require.NoError(t, err)
	defer x.Free()
	y, err := dev.Alloc(p.Shape())
	require.NoError(t, err)
	defer y.Free()
	require.NoError(t, dev.Upload(x, p.Pix))
	require.NoError(t, op.Apply(y, x))
	out := make([]float32, len(p.Pix))
	require.NoError(t, dev.Download(out, y))
	return p.WithPix(out)
}

// TestNoiseUnderBlur: white noise is found white, and smoothed noise with the power that it has at the lowest frequency
// that is measured, whatever the kernel.
func TestNoiseUnderBlur(t *testing.T) {
	soft, err := deblur.Gaussian(0.9)
	require.NoError(t, err)
	all, kernels := []int{1, 3}, uint64(2)
	if testing.Short() { // of one kernel; go test ./... has both, and grey pictures
		all, kernels = all[1:], 1
	}
	for _, channels := range all {
		sharp := clouds(t, channels, 256, 270, 3)
		for seed := range kernels {
			k, err := deblur.Shake(15+2*int(seed), seed)
			require.NoError(t, err)
			blur, y := OneKernel(k), blurredBy(t, sharp, k)
			for _, sigma := range []float64{0.02, 0.05} {
				noise := y.WithPix(synthetic.White(make([]float32, len(y.Pix)), sigma, 5))
				e, err := blur.Noise(t.Context(), sum(y, noise), 2)
				require.NoError(t, err)
				require.Equal(t, outcome.WhiteNoise, e.Kind)
				require.InEpsilon(t, sigma, e.Sigma, 0.1)

				e, err = blur.Noise(t.Context(), sum(y, blurredBy(t, noise, soft)), 2)
				require.NoError(t, err)
				require.Equal(t, outcome.CoarseNoise, e.Kind)
				// The response of a Gaussian at 0.1 cycles a pixel.
				want := strength.CoarseNoise(sigma * math.Exp(-2*math.Pow(math.Pi*0.9*coarsenoise.LowestFrequency, 2)))
				require.InEpsilon(t, want, e.Sigma, 0.35, "%d channels, kernel %d, noise of %v: %v, want %v", channels, seed, sigma, e.Sigma, want)
			}
		}
	}
}

func sum(a, b *imageplanes.Planes) *imageplanes.Planes {
	pix := make([]float32, len(a.Pix))
	for i := range pix {
		pix[i] = a.Pix[i] + b.Pix[i]
	}
	return a.WithPix(pix)
}

// TestNoiseOfSmallImages: coarse noise is found under a blur in small images too, and edges are not taken for it.
func TestNoiseOfSmallImages(t *testing.T) {
	soft, err := deblur.Gaussian(0.9)
	require.NoError(t, err)
	for _, side := range []int{64, 96, 160} {
		sharp := clouds(t, 3, side, side+9, 3)
		k, err := deblur.Shake(9, 4)
		require.NoError(t, err)
		blur, y := OneKernel(k), blurredBy(t, sharp, k)
		noise := y.WithPix(synthetic.White(make([]float32, len(y.Pix)), 0.05, 5))
		e, err := blur.Noise(t.Context(), sum(y, blurredBy(t, noise, soft)), 2)
		require.NoError(t, err)
		require.Equal(t, outcome.CoarseNoise, e.Kind, side)
		require.Greater(t, e.Sigma, 0.025)

		drawing := imageplanes.New(3, side, side)
		copy(drawing.Pix, synthetic.Drawing(7, side, side))
		y = blurredBy(t, drawing, k)
		e, err = blur.Noise(t.Context(), y.WithPix(synthetic.White(y.Pix, 0.002, 5)), 2)
		require.NoError(t, err)
		require.Equal(t, outcome.WhiteNoise, e.Kind, side)
		require.Less(t, e.Sigma, 0.01)
	}
}

// TestNoiseWhereNothingTells: the white part alone is taken where the blur is none, and of images without content.
func TestNoiseWhereNothingTells(t *testing.T) {
	none, err := deblur.NewKernel([]float32{1}, 1, 1)
	require.NoError(t, err)
	y := clouds(t, 3, 256, 270, 1)
	e, err := OneKernel(none).Noise(t.Context(), y.WithPix(synthetic.White(y.Pix, 0.03, 1)), 1)
	require.NoError(t, err)
	require.Equal(t, outcome.WhiteNoise, e.Kind)
	require.InEpsilon(t, 0.03, e.Sigma, 0.15)

	k, err := deblur.Shake(13, 1)
	require.NoError(t, err)
	for _, p := range []*imageplanes.Planes{imageplanes.New(3, 64, 64), imageplanes.New(1, 1, 1), imageplanes.New(3, 5, 200)} {
		e, err := OneKernel(k).Noise(t.Context(), p, 1)
		require.NoError(t, err)
		require.Zero(t, e.Sigma)
	}
	_, err = OneKernel(deblur.Kernel{}).Noise(t.Context(), y, 1)
	require.Error(t, err)
}

// TestNoiseUnderManyKernels: each part is measured under its own kernel.
func TestNoiseUnderManyKernels(t *testing.T) {
	g := deblur.Grid{Rows: 1, Columns: 2}
	sharp := clouds(t, 3, 256, 400, 2)
	y := imageplanes.New(3, 256, 400)
	for i := range 2 {
		k, err := deblur.Shake(15, uint64(10+i))
		require.NoError(t, err)
		g.Kernels = append(g.Kernels, k)
		part := blurredBy(t, sharp, k)
		for j := range y.Pix {
			if j%400/200 == i {
				y.Pix[j] = part.Pix[j]
			}
		}
	}
	soft, err := deblur.Gaussian(0.9)
	require.NoError(t, err)
	noise := blurredBy(t, y.WithPix(synthetic.White(make([]float32, len(y.Pix)), 0.05, 9)), soft)
	e, err := ManyKernels(g).Noise(t.Context(), sum(y, noise), 2)
	require.NoError(t, err)
	require.InEpsilon(t, strength.CoarseNoise(0.05*math.Exp(-2*math.Pow(math.Pi*0.9*coarsenoise.LowestFrequency, 2))), e.Sigma, 0.35)
}
