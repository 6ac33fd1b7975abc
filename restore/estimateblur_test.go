package restore_test

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/internal/synthetic"
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
func TestEstimateBlurOfATurn(t *testing.T) {
	leaveGains(t)
	blurred, sharp := turnedStill(10, -20, 6)
	b, err := restore.EstimateBlur(t.Context(), blurred)
	require.NoError(t, err)
	require.NotNil(t, b.Turn)
	require.Nil(t, b.Kernel)
	require.InDelta(t, 288/2-20, b.Turn.X, 8)
	require.InDelta(t, 216/2+10, b.Turn.Y, 8)
	require.InDelta(t, 6, b.Turn.Degrees, 1.5)
	require.Contains(t, b.String(), "the camera turned by ")
	require.Empty(t, b.Doubts())
	tv := restore.Method("tv")
	out, report, err := restore.DeblurBlind(t.Context(), blurred, b, tv, restore.Iterations(2))
	require.NoError(t, err)
	require.Same(t, b, report.Blur)
	same, _, err := restore.DeblurVarying(t.Context(), blurred, b.Grid, tv, restore.Iterations(2))
	require.NoError(t, err)
	require.Equal(t, same, out)
	out, _, err = restore.DeblurBlind(t.Context(), blurred, b, tv, restore.Iterations(30))
	require.NoError(t, err)
	before, err := quality.PSNR(sharp.Pix, blurred.Pix, 1)
	require.NoError(t, err)
	after, err := quality.PSNR(sharp.Pix, out.(*restore.Planar).Pix, 1)
	require.NoError(t, err)
	t.Logf("%.2f dB, blurred %.2f", after, before)
	require.Greater(t, after, before+2)

	// Only the default boundary allows a blur that varies.
	_, _, err = restore.DeblurBlind(t.Context(), blurred, b, restore.Boundary(deblur.Zero), restore.Method("tv"))
	var wrong *restore.OptionError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Boundary", wrong.Option)
	b, err = restore.EstimateBlur(t.Context(), blurred, restore.Boundary(deblur.Zero), restore.StoredSamples())
	require.NoError(t, err)
	require.Nil(t, b.Turn)
}

// So is that of a JPEG, whose rounding makes the noise look weaker than it is.
func TestEstimateBlurOfATurnInAJPEG(t *testing.T) {
	leaveGains(t)
	turned, _ := turnedStill(10, -20, 6)
	copy(turned.Pix, synthetic.White(turned.Pix, 0.006, 3))
	m := image.NewNRGBA(image.Rect(0, 0, turned.Width, turned.Height))
	for i := range turned.Width * turned.Height {
		for c := range 3 {
			m.Pix[4*i+c] = uint8(255*min(max(turned.Plane(c)[i], 0), 1) + .5)
		}
		m.Pix[4*i+3] = 255
	}
	var file bytes.Buffer
	require.NoError(t, jpeg.Encode(&file, m, &jpeg.Options{Quality: 97}))
	photo, err := jpeg.Decode(&file)
	require.NoError(t, err)
	b, err := restore.EstimateBlur(t.Context(), photo, restore.StoredSamples())
	require.NoError(t, err)
	require.NotNil(t, b.Turn)
	require.InDelta(t, 288/2-20, b.Turn.X, 8)
	require.InDelta(t, 216/2+10, b.Turn.Y, 8)
	require.InDelta(t, 6, b.Turn.Degrees, 1.5)
}

// One blur all over the frame is no turn: DeblurBlind does what EstimateKernel and Deblur do.
func TestDeblurBlind(t *testing.T) {
	k, err := deblur.Shake(15, 4)
	require.NoError(t, err)
	y := blurred(t, still(104, 128), k, deblur.Circular)
	k, found, err := restore.EstimateKernel(t.Context(), y)
	require.NoError(t, err)
	b, err := restore.EstimateBlur(t.Context(), y)
	require.NoError(t, err)
	require.Equal(t, &restore.Blur{Grid: deblur.OneKernel(k), Kernel: found}, b)
	require.Equal(t, found.String(), b.String())
	require.Equal(t, found.Doubts, b.Doubts())

	few := []restore.Option{restore.Method("tv"), restore.Iterations(3)}
	want, _, err := restore.Deblur(t.Context(), y, k, few...)
	require.NoError(t, err)
	last, reports := 0.0, 0
	tell := restore.Progress(func(p backend.Progress) error {
		require.GreaterOrEqual(t, p.Fraction, last)
		last, reports = p.Fraction, reports+1
		return nil
	})
	for _, given := range []*restore.Blur{b, nil} {
		last = 0
		out, report, err := restore.DeblurBlind(t.Context(), y, given, append(few, tell)...)
		require.NoError(t, err)
		require.Equal(t, want, out)
		require.Equal(t, b, report.Blur)
		require.InDelta(t, 1, last, 1e-9)
	}
	require.Greater(t, reports, 4)
}

// Without a blur and noise the image comes back as it was, with its invisible colours.
func TestDeblurBlindWithoutABlur(t *testing.T) {
	x := still(160, 200)
	x.Alpha = make([]uint16, 160*200)
	for i := range x.Alpha[200:] {
		x.Alpha[200+i] = 65535
	}
	b, err := restore.EstimateBlur(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, "none", b.Kernel.Kind)
	out, report, err := restore.DeblurBlind(t.Context(), x, b)
	require.NoError(t, err)
	require.True(t, report.Unchanged)
	require.Equal(t, x, out)
	require.NotSame(t, &x.Pix[0], &out.(*restore.Planar).Pix[0])
	_, report, err = restore.DeblurBlind(t.Context(), x, b, restore.Sigma(0.01), restore.Method("tv"), restore.Iterations(2))
	require.NoError(t, err)
	require.False(t, report.Unchanged, "a given level is removed")
}

func TestDeblurBlindRefuses(t *testing.T) {
	y := still(40, 40)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, _, err := restore.DeblurBlind(ctx, y, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = restore.EstimateBlur(t.Context(), y, restore.Strength(2))
	require.ErrorContains(t, err, "Strength")
	b, err := restore.EstimateBlur(t.Context(), y)
	require.NoError(t, err)
	for _, bad := range []*restore.Blur{{}, {Kernel: b.Kernel}, {Turn: &restore.Turn{}}, {Turn: &restore.Turn{}, Kernel: b.Kernel, Grid: b.Grid}} {
		_, _, err := restore.DeblurBlind(t.Context(), y, bad)
		require.Error(t, err)
	}
	r, err := restore.New()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, _, err = r.DeblurBlind(t.Context(), y, b)
	require.ErrorIs(t, err, restore.ErrClosed)
}
