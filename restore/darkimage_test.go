package restore_test

import (
	"image"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// A dark image is deblurred, filled and enlarged as well as a bright one: counts of 12 bits in a file of 16 are a sixteenth as bright.
func TestDarkImages(t *testing.T) {
	const side, dark = 48, 16
	clean := still(side, side)
	box, err := deblur.Box(3)
	require.NoError(t, err)
	mask := image.NewGray(image.Rect(0, 0, side, side))
	for i := range mask.Pix {
		mask.Pix[i] = byte(i * i % 11 % 2 * 255)
	}
	dim := func(p *restore.Planar) *restore.Planar {
		d := restore.NewPlanar(p.Channels, p.Height, p.Width)
		for i, v := range p.Pix {
			d.Pix[i] = v / dark
		}
		return d
	}
	for name, do := range map[string]func(y *restore.Planar, o ...restore.Option) (image.Image, *restore.Report, error){
		"inpaint": func(y *restore.Planar, o ...restore.Option) (image.Image, *restore.Report, error) {
			return restore.Inpaint(t.Context(), y, mask, o...)
		},
		"upscale": func(y *restore.Planar, o ...restore.Option) (image.Image, *restore.Report, error) {
			return restore.Upscale(t.Context(), y, 2, o...)
		},
		"deblur": func(y *restore.Planar, o ...restore.Option) (image.Image, *restore.Report, error) {
			return restore.Deblur(t.Context(), y, box, append(o, restore.StoredSamples())...)
		},
	} {
		for _, method := range []string{"original", "tv"} {
			for _, sigma := range []float64{0.001, 0.03} {
				scene := clean
				if name == "deblur" {
					scene = blurred(t, clean, box, deblur.Unknown)
				}
				y := noisy(scene, sigma, 5)
				bright, _, err := do(y, restore.Sigma(sigma), restore.Method(method))
				require.NoError(t, err)
				darkened, report, err := do(dim(y), restore.Sigma(sigma/dark), restore.Method(method))
				require.NoError(t, err)
				require.Equal(t, sigma/dark, report.Noise.Sigma)
				require.True(t, report.Iteration.Run.Certificate.Converges())
				between := psnr(t, dim(bright.(*restore.Planar)), darkened.(*restore.Planar))
				require.Greater(t, between-24.1, 40.0, "%s by %s at %v", name, method, sigma) // 24.1 dB are a factor of 16
			}
		}
	}
}

// Light above white is not cut off, as files of floats may have it.
func TestLightAboveWhite(t *testing.T) {
	const side, factor = 48, 3
	clean := still(side, side)
	bright := restore.NewPlanar(3, side, side)
	for i, v := range clean.Pix {
		bright.Pix[i] = factor * v
	}
	mask := image.NewGray(image.Rect(0, 0, side, side))
	for i := range mask.Pix {
		mask.Pix[i] = byte(i * i % 11 % 2 * 255)
	}
	box, err := deblur.Box(3)
	require.NoError(t, err)
	sigma := restore.Sigma(0.001)
	for name, do := range map[string]func(y *restore.Planar) (image.Image, *restore.Report, error){
		"deblur": func(y *restore.Planar) (image.Image, *restore.Report, error) {
			return restore.Deblur(t.Context(), y, box, sigma)
		},
		"inpaint": func(y *restore.Planar) (image.Image, *restore.Report, error) {
			return restore.Inpaint(t.Context(), y, mask, sigma)
		},
		"upscale": func(y *restore.Planar) (image.Image, *restore.Report, error) {
			return restore.Upscale(t.Context(), y, 2, sigma)
		},
	} {
		out, report, err := do(bright)
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.FixedPointExists())
		require.Greater(t, slices.Max(out.(*restore.Planar).Pix), 0.9*slices.Max(bright.Pix), name)
	}
}
