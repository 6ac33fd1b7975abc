package restore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/restore"
)

// turnedStill is the still life as a camera shows it that turned evenly by degrees about the point y below and x right of the
// middle, and as it is.
func turnedStill(y, x, degrees float64) (blurred, sharp *restore.Planar) {
	const h, w, margin, poses = 216, 288, 16, 61
	whole := still(h+2*margin, w+2*margin)
	blurred, sharp = restore.NewPlanar(3, h, w), still(h, w)
	at := func(p []float32, y, x float64) float64 {
		i, j := int(y), int(x)
		fy, fx := y-float64(i), x-float64(j)
		of := p[i*whole.Width+j:]
		return (1-fy)*((1-fx)*float64(of[0])+fx*float64(of[1])) + fy*((1-fx)*float64(of[whole.Width])+fx*float64(of[whole.Width+1]))
	}
	cy, cx := float64(whole.Height-1)/2+y, float64(whole.Width-1)/2+x
	for i := range poses {
		sin, cos := math.Sincos(degrees * math.Pi / 180 * ((float64(i)+.5)/poses - .5))
		for j := range h * w {
			dy, dx := float64(j/w+margin)-cy, float64(j%w+margin)-cx
			for c := range 3 {
				blurred.Plane(c)[j] += float32(at(whole.Plane(c), cy+cos*dy-sin*dx, cx+sin*dy+cos*dx) / poses)
			}
		}
	}
	return blurred, sharp
}

// The blur of a camera that turned is found and removed.
func TestEstimateTurn(t *testing.T) {
	leaveGains(t)
	blurred, sharp := turnedStill(10, -20, 6)
	turn, err := restore.EstimateTurn(t.Context(), blurred)
	require.NoError(t, err)
	require.NotNil(t, turn)
	require.InDelta(t, 288/2-20, turn.X, 8)
	require.InDelta(t, 216/2+10, turn.Y, 8)
	require.InDelta(t, 6, turn.Degrees, 1.5)
	require.Contains(t, turn.String(), "the camera turned by ")
	grid, err := turn.Motion.Grid(blurred.Height, blurred.Width)
	require.NoError(t, err)
	out, _, err := restore.DeblurVarying(t.Context(), blurred, grid, restore.Method("tv"), restore.Iterations(30))
	require.NoError(t, err)
	before, err := quality.PSNR(sharp.Pix, blurred.Pix, 1)
	require.NoError(t, err)
	after, err := quality.PSNR(sharp.Pix, out.(*restore.Planar).Pix, 1)
	require.NoError(t, err)
	t.Logf("%.2f dB, blurred %.2f", after, before)
	require.Greater(t, after, before+2)

	_, err = restore.EstimateTurn(t.Context(), blurred, restore.Strength(2))
	require.ErrorContains(t, err, "Strength")
}

// One blur all over the frame is no turn, and no blur is none.
func TestEstimateTurnWithoutOne(t *testing.T) {
	k, err := deblur.Shake(15, 4)
	require.NoError(t, err)
	x := still(160, 200)
	for _, p := range []*restore.Planar{x, blurred(t, x, k, deblur.Circular)} {
		turn, err := restore.EstimateTurn(t.Context(), p)
		require.NoError(t, err)
		require.Nil(t, turn)
	}
}
