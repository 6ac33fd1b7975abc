package restore_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// A picture in sepia is restored as the grey one that it was, and one sample that differs does not change what happens
// to a grey one.
func TestNearlyGrey(t *testing.T) {
	leaveRuns(t)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	k, err := deblur.Shake(7, 4)
	require.NoError(t, err)
	grey := restore.NewPlanar(1, 96, 112)
	copy(grey.Pix, synthetic.Grey(still(96, 112).Pix))
	grey = noisy(blurred(t, grey, k, deblur.Circular), 0.03, 5)
	copy(grey.Pix, synthetic.Rounded(grey.Pix, 255))

	tinted := func(pix []float32, tint [3]float64) *restore.Planar {
		return &restore.Planar{Width: 112, Height: 96, Channels: 3, Pix: synthetic.Rounded(synthetic.Tinted(pix, tint), 255)}
	}
	nudged := tinted(grey.Pix, [3]float64{1, 1, 1})
	nudged.Pix = synthetic.Nudged(nudged.Pix, 3000)
	for task, run := range map[string]func(y *restore.Planar) (*restore.Planar, *restore.Report){
		"denoise": func(y *restore.Planar) (*restore.Planar, *restore.Report) {
			out, report, err := restore.Denoise(t.Context(), y)
			require.NoError(t, err)
			return out.(*restore.Planar), report
		},
		"deblur": func(y *restore.Planar) (*restore.Planar, *restore.Report) {
			out, report, err := restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular))
			require.NoError(t, err)
			return out.(*restore.Planar), report
		},
	} {
		want, told := run(grey)
		require.Greater(t, told.Noise.Sigma, 0.02, task)
		out, report := run(nudged)
		require.InEpsilon(t, told.Noise.Sigma, report.Noise.Sigma, 0.01, task)
		require.Greater(t, psnr(t, out, asColour(want)), 50.0, task)
		out, report = run(tinted(grey.Pix, synthetic.Sepia))
		require.InEpsilon(t, told.Noise.Sigma, report.Noise.Sigma, 0.02, task)
		sepia := asColour(want)
		for c, factor := range synthetic.Sepia {
			for i := range sepia.Plane(c) {
				sepia.Plane(c)[i] *= float32(factor)
			}
		}
		require.Greater(t, psnr(t, out, sepia), 45.0, task)
	}
}

// asColour is a grey picture kept as colour.
func asColour(p *restore.Planar) *restore.Planar {
	return &restore.Planar{Width: p.Width, Height: p.Height, Channels: 3, Pix: slices.Repeat(p.Pix, 3)}
}

// Noise in brightness alone, under a blur, in a picture that has other colours: a level that is too low would make it
// stronger.
func TestDeblurNoiseInBrightness(t *testing.T) {
	leaveGains(t)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	k, err := deblur.Shake(7, 4)
	require.NoError(t, err)
	x := still(128, 144)
	y := blurred(t, x, k, deblur.Circular)
	y.Pix = synthetic.Rounded(synthetic.Brightness(y.Pix, 0.03, 5), 255)
	out, _, err := restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.Greater(t, fidelity(t, out.(*restore.Planar), x), fidelity(t, y, x)+1)
}
