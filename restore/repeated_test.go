package restore_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/restore"
)

// repeated is an image enlarged by nearest neighbour.
func repeated(p *restore.Planar, n int) *restore.Planar {
	out := restore.NewPlanar(p.Channels, n*p.Height, n*p.Width)
	out.Pix = (*imageplanes.Planes)(out).Repeated(p.Pix, n)
	if p.Alpha != nil {
		out.Alpha = make([]uint16, out.Height*out.Width)
		for i := range out.Alpha {
			out.Alpha[i] = p.Alpha[i/out.Width/n*p.Width+i%out.Width/n]
		}
	}
	return out
}

// A noisy photograph enlarged by nearest neighbour comes out as the small one, enlarged. It was taken for a drawing.
func TestDenoiseRepeatedPixels(t *testing.T) {
	grey := restore.NewPlanar(1, 75, 93)
	copy(grey.Pix, synthetic.Grey(still(75, 93).Pix))
	tinted := restore.NewPlanar(3, 75, 93)
	copy(tinted.Pix, synthetic.Tinted(noisy(grey, 0.06, 1).Pix, synthetic.Sepia))
	visible := noisy(still(75, 93), 0.06, 1)
	visible.Alpha = slices.Repeat([]uint16{0xffff}, 75*93)
	copy(visible.Alpha, make([]uint16, 30*93))
	for name, y := range map[string]*restore.Planar{
		"colour": noisy(still(75, 93), 0.06, 1), "grey": noisy(grey, 0.06, 1), "tinted": tinted, "partly invisible": visible,
	} {
		t.Run(name, func(t *testing.T) {
			out, report, err := restore.Denoise(t.Context(), y)
			require.NoError(t, err)
			require.Greater(t, report.Noise.Sigma, 0.03)
			for _, n := range []int{2, 3} {
				x := repeated(y, n)
				enlarged, told, err := restore.Denoise(t.Context(), x)
				require.NoError(t, err)
				if y.Alpha == nil { // what fills the invisible part is smoother in the larger image
					require.True(t, slices.Equal(repeated(out.(*restore.Planar), n).Pix, enlarged.(*restore.Planar).Pix))
					require.Equal(t, report.Noise.Sigma, told.Noise.Sigma)
				}
				require.Greater(t, psnr(t, enlarged.(*restore.Planar), repeated(out.(*restore.Planar), n)), 60.0)

				// The map is of the larger image, and serves as one.
				levels := told.Noise.Estimate.Levels
				require.NoError(t, levels.Check(x.Height, x.Width))
				e, err := restore.EstimateNoise(t.Context(), x)
				require.NoError(t, err)
				require.Equal(t, levels, e.Levels)
				again, _, err := restore.Denoise(t.Context(), x, restore.Noise(e))
				require.NoError(t, err)
				require.True(t, slices.Equal(enlarged.(*restore.Planar).Pix, again.(*restore.Planar).Pix))
			}
		})
	}
}

// Drawings of repeated pixels stay as they are, but for gradients, of which rounding errors may be smoothed.
func TestDenoiseRepeatedDrawings(t *testing.T) {
	for i := range synthetic.Drawings {
		p := restore.NewPlanar(3, 96, 112)
		p.Pix = synthetic.Drawing(uint64(i), 96, 112)
		out, report, err := restore.Denoise(t.Context(), repeated(p, 2))
		require.NoError(t, err)
		if synthetic.Drawings[i] != "gradient" {
			require.True(t, report.Unchanged, synthetic.Drawings[i])
		}
		require.Greater(t, psnr(t, repeated(p, 2), out.(*restore.Planar)), 55.0, synthetic.Drawings[i])
	}
}
