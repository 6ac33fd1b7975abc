package restore_test

import (
	"context"
	"image"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// rendered is the drawn still life of the README.
var rendered = sync.OnceValue(func() *restore.Planar {
	p, err := restore.FromImage(readPNG("../testdata/scene.png"))
	if err != nil {
		panic(err)
	}
	return p
})

// still is its middle.
func still(h, w int) *restore.Planar {
	whole := rendered()
	p := restore.NewPlanar(3, h, w)
	top, left := (whole.Height-h)/2, (whole.Width-w)/2
	for c := range 3 {
		for y := range h {
			copy(p.Plane(c)[y*w:][:w], whole.Plane(c)[(top+y)*whole.Width+left:])
		}
	}
	return p
}

// photographed is the still life as a camera leaves it, and without noise.
func photographed(t *testing.T, iso float64, seed uint64, saved ...cameranoise.JPEG) (noisy, clean *restore.Planar) {
	t.Helper()
	x := still(256, 320)
	camera := cameranoise.Typical()
	camera.ISO, camera.JPEG = iso, saved
	pix, err := camera.Apply(x.Pix, x.Height, x.Width, seed)
	require.NoError(t, err)
	bare, err := camera.Clean(x.Pix, x.Height, x.Width)
	require.NoError(t, err)
	return &restore.Planar{Width: 320, Height: 256, Channels: 3, Pix: pix}, &restore.Planar{Width: 320, Height: 256, Channels: 3, Pix: bare}
}

func fidelity(t *testing.T, a, b *restore.Planar) float64 {
	t.Helper()
	v, err := quality.PSNR(b.Pix, a.Pix, 1)
	require.NoError(t, err)
	return v
}

// What a camera leaves is found without being told, and removed at a level near the best.
func TestDenoisePhotographs(t *testing.T) {
	leaveGains(t)
	small := loaded(t, newCPU(t), open(t, weights.Small))
	for name, saved := range map[string][]cameranoise.JPEG{
		"developed": nil, "saved": {{Quality: 92, Subsampling: cameranoise.Quarter}},
	} {
		for _, iso := range []float64{1600, 6400, 25600} {
			noisy, clean := photographed(t, iso, 3, saved...)
			out, report, err := restore.Denoise(t.Context(), noisy, restore.Network(small))
			require.NoError(t, err)
			require.Equal(t, "coarse", report.Noise.Estimate.Kind, "%s, ISO %v", name, iso)
			best := 0.0
			for _, factor := range []float64{0.4, 0.6, 0.8, 1, 1.3, 1.6, 2, 2.6} {
				tried, _, err := restore.Denoise(t.Context(), noisy, restore.Network(small), restore.Sigma(factor*report.Noise.Sigma))
				require.NoError(t, err)
				best = math.Max(best, fidelity(t, tried.(*restore.Planar), clean))
			}
			in, got := fidelity(t, noisy, clean), fidelity(t, out.(*restore.Planar), clean)
			require.Greater(t, got, in+0.4*(best-in), "%s, ISO %v: %.2f dB came in, %.2f is the best", name, iso, in, best)
		}
	}
}

// A picture without noise stays as it is.
func TestDenoiseLeavesCleanPictures(t *testing.T) {
	leaveRuns(t)
	small := loaded(t, newCPU(t), open(t, weights.Small))
	x := still(256, 320)
	out, _, err := restore.Denoise(t.Context(), x, restore.Network(small))
	require.NoError(t, err)
	require.Greater(t, fidelity(t, out.(*restore.Planar), x), 45.0)
}

// A screenshot comes back as it is, in any method and strength, unless a noise level is given.
func TestDenoiseLeavesDrawings(t *testing.T) {
	const h, w = 96, 120
	page := restore.NewPlanar(3, h, w)
	for i := range page.Pix {
		y, x := i/w%h, i%w
		page.Pix[i] = 0.95
		switch {
		case y%17 == 0 || x%31 == 0:
			page.Pix[i] = 0.6
		case y%17 > 4 && y%17 < 12 && (x*7+y*3+x*y)%5 < 2:
			page.Pix[i] = 0.1
		}
	}
	for _, options := range [][]restore.Option{{}, {restore.Strength(2)}, {restore.Method("tv")}} {
		out, report, err := restore.Denoise(t.Context(), page, options...)
		require.NoError(t, err)
		require.Equal(t, page.Pix, out.(*restore.Planar).Pix)
		require.True(t, report.Unchanged)
		require.Empty(t, report.Method)
		require.True(t, report.Iteration.Converged)
		require.Equal(t, "none", report.Noise.Estimate.Kind)
		require.Equal(t, 1., report.Averagedness)
		require.Nil(t, report.Network.Certificate)
	}
	out, report, err := restore.Denoise(t.Context(), page, restore.Sigma(0.05))
	require.NoError(t, err)
	require.False(t, report.Unchanged)
	require.NotEqual(t, page.Pix, out.(*restore.Planar).Pix)
}

// White noise is taken for what it is, also where it is stronger than the network of noise levels knows it.
func TestEstimateWhiteNoise(t *testing.T) {
	leaveRuns(t)
	for _, sigma := range []float64{0.02, 0.06, 0.15, 0.2, 0.3} {
		colour := still(256, 320)
		grey := &restore.Planar{Width: 320, Height: 256, Channels: 1, Pix: colour.Plane(1)}
		for _, clean := range []*restore.Planar{colour, grey} {
			if clean == grey && sigma > 0.1 {
				continue // in one channel it could be a camera's
			}
			e, err := restore.EstimateNoise(t.Context(), noisy(clean, sigma, 4))
			require.NoError(t, err)
			require.Equal(t, "white", e.Kind, "%v of %d channels", sigma, clean.Channels)
			require.InEpsilon(t, sigma, e.Sigma, 0.05)
			require.True(t, e.Reliable)
			require.NoError(t, e.Levels.Check(256, 320))
		}
	}
}

// Deblurring allows for the error that a kernel has, unless the noise is given.
func TestDeblurAllowsForTheKernelsError(t *testing.T) {
	leaveGains(t)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	k, err := deblur.Shake(11, 4)
	require.NoError(t, err)
	x := still(96, 112)
	y := noisy(blurred(t, x, k, deblur.Circular), 0.001, 5)
	_, report, err := restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.Less(t, report.Noise.Sigma, 0.002)
	require.Greater(t, report.Noise.Disturbance, 0.002, "of the contrast")
	_, report, err = restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular), restore.Sigma(0.01), restore.Iterations(1))
	require.NoError(t, err)
	require.Equal(t, 0.01, report.Noise.Disturbance)
	require.Equal(t, 0.01, report.Noise.Given)

	// A kernel that is not right leaves so much that the strength is raised, and that is said.
	wrong := deblur.Kernel{H: k.H, W: k.W, Weights: slices.Clone(k.Weights)}
	for i := range wrong.Weights {
		wrong.Weights[i] *= 0.8
	}
	wrong.Weights[k.H/2*k.W+k.W/2] += 0.2
	_, report, err = restore.Deblur(t.Context(), y, wrong, small, restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.Greater(t, report.Noise.Disturbance, report.Noise.Sigma)
	require.Contains(t, report.Doubts[len(report.Doubts)-1].Text, "the kernel is not exact")

	// What quite another one leaves counts as noise.
	wrong, err = deblur.Motion(9, 20)
	require.NoError(t, err)
	out, report, err := restore.Deblur(t.Context(), y, wrong, small, restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.Greater(t, report.Noise.Sigma, 0.02)
	require.Greater(t, psnr(t, out.(*restore.Planar), x), psnr(t, y, x)-1)

	// A level that the photograph speaks against is replaced, and that is said too.
	y = noisy(blurred(t, x, k, deblur.Circular), 0.05, 5)
	_, report, err = restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular), restore.Sigma(0.02))
	require.NoError(t, err)
	require.Equal(t, 0.02, report.Noise.Given)
	require.InEpsilon(t, 0.05, report.Noise.Sigma, 0.1)
	require.Len(t, report.Doubts, 1)
	require.Contains(t, report.Doubts[0].Text, "0.02 was given")
}

// The noise of a blurred photograph that JPEG has compressed is found: what is left of it is not
// white. Without that deblurring amplifies blocks and grain.
func TestDeblurCompressed(t *testing.T) {
	leaveGains(t)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	k, err := deblur.Shake(11, 4)
	require.NoError(t, err)
	x := still(256, 288)
	y := noisy(blurred(t, x, k, deblur.Circular), 0.01, 5)
	y.Pix, err = cameranoise.Compressed(y.Pix, y.Height, y.Width, cameranoise.JPEG{Quality: 90, Subsampling: cameranoise.Quarter})
	require.NoError(t, err)
	out, report, err := restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	t.Logf("level %.4f of %v", report.Noise.Sigma, report.Noise.Estimate.Kind)
	best := 0.0
	for _, sigma := range []float64{0.005, 0.01, 0.02, 0.04} {
		tried, _, err := restore.Deblur(t.Context(), y, k, small, restore.Boundary(deblur.Circular), restore.Sigma(sigma))
		require.NoError(t, err)
		best = math.Max(best, fidelity(t, tried.(*restore.Planar), x))
	}
	require.Greater(t, fidelity(t, out.(*restore.Planar), x), best-1.5)
}

// A shaken photograph with the noise of a camera gets better, saved without loss or as JPEG, and whatever level is
// given: noise that the camera has smoothed is seen, though nothing of it is white.
func TestDeblurPhotographed(t *testing.T) {
	leaveGains(t)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	k, err := deblur.Shake(11, 4)
	require.NoError(t, err)
	x := still(256, 288)
	shaken := blurred(t, x, k, deblur.Circular)
	for i, v := range shaken.Pix {
		shaken.Pix[i] = min(max(v, 0), 1)
	}
	for name, saved := range map[string][]cameranoise.JPEG{
		"without loss": nil, "as JPEG": {{Quality: 90, Subsampling: cameranoise.Quarter}},
	} {
		for _, iso := range []float64{1600, 6400} {
			camera := cameranoise.Typical()
			camera.ISO, camera.JPEG = iso, saved
			pix, err := camera.Apply(shaken.Pix, shaken.Height, shaken.Width, 3)
			require.NoError(t, err)
			sharp, err := camera.Clean(x.Pix, x.Height, x.Width)
			require.NoError(t, err)
			y := &restore.Planar{Width: x.Width, Height: x.Height, Channels: 3, Pix: pix}
			clean := &restore.Planar{Width: x.Width, Height: x.Height, Channels: 3, Pix: sharp}
			for _, given := range [][]restore.Option{nil, {restore.Sigma(0.2)}} {
				out, report, err := restore.Deblur(t.Context(), y, k, append(given, small, restore.Boundary(deblur.Circular))...)
				require.NoError(t, err)
				require.Greater(t, report.Noise.Sigma, 0.02, "%s, ISO %v", name, iso)
				gain := fidelity(t, out.(*restore.Planar), clean) - fidelity(t, y, clean)
				require.Greater(t, gain, 1.0, "%s, ISO %v, %d options, level %v", name, iso, len(given), report.Noise.Sigma)
			}
		}
	}
}

// A noisy photograph between bars is denoised as it is alone.
func TestEstimateNoiseBetweenBars(t *testing.T) {
	leaveRuns(t)
	const h, w, bar = 384, 384, 64
	photo := noisy(still(h-2*bar, w), 0.06, 5)
	for _, ground := range []float32{0.93, 0.5} {
		page := restore.NewPlanar(3, h, w)
		for i := range page.Pix {
			if c, at := i/(w*h), i%(w*h); at >= bar*w && at < (h-bar)*w {
				page.Pix[i] = photo.Plane(c)[at-bar*w]
			} else {
				page.Pix[i] = ground
			}
		}
		e, err := restore.EstimateNoise(t.Context(), page)
		require.NoError(t, err)
		require.Equal(t, "white", e.Kind)
		require.InEpsilon(t, 0.06, e.Sigma, 0.05)
	}
}

// A map of the caller's own takes the place of the one that was measured, also in a part, and is checked.
func TestOwnLevels(t *testing.T) {
	x := noisy(still(64, 80), 0.1, 3)
	measured, err := restore.EstimateNoise(t.Context(), x)
	require.NoError(t, err)
	method := restore.Method(weights.Fast)
	own := measured
	own.Levels = denoise.ConstantLevels(64, 80, 0)
	for _, e := range []restore.NoiseEstimate{own, {Kind: "white", Sigma: 0.1, Levels: own.Levels}, own.Part(image.Rect(0, 0, 80, 64))} {
		out, _, err := restore.Denoise(t.Context(), x, restore.Noise(e), method)
		require.NoError(t, err)
		require.InDeltaSlice(t, x.Pix, pixels(out), 1e-6)
	}
	out, _, err := restore.Denoise(t.Context(), x, restore.Noise(measured), method)
	require.NoError(t, err)
	require.Greater(t, fidelity(t, still(64, 80), out.(*restore.Planar)), 25.0)
	for _, m := range []*denoise.LevelMap{denoise.ConstantLevels(64, 80, math.NaN()), denoise.ConstantLevels(16, 16, 0.1)} {
		own.Levels = m
		_, _, err = restore.Denoise(t.Context(), x, restore.Noise(own), method)
		require.Error(t, err)
	}
}

// Noise is removed from the part of a picture that has some, whatever is beside it: a bar of one grey, or a gradient.
func TestDenoiseBesideADrawing(t *testing.T) {
	leaveRuns(t)
	for name, drawn := range map[string]func(y, x int) float32{
		"bars":     func(_, _ int) float32 { return 5. / 255 },
		"gradient": func(y, _ int) float32 { return float32(40+y/2) / 255 },
	} {
		clean := still(256, 320)
		photo := noisy(clean, 0.1, 8)
		for i := range clean.Pix {
			if y, x := i/320%256, i%320; x < 50 || x >= 206 {
				clean.Pix[i], photo.Pix[i] = drawn(y, x), drawn(y, x)
			}
		}
		out, report, err := restore.Denoise(t.Context(), photo)
		require.NoError(t, err)
		require.False(t, report.Unchanged, name)
		require.Greater(t, fidelity(t, out.(*restore.Planar), clean), fidelity(t, photo, clean)+5, name)
	}
}

// White noise is removed from a photograph in a page, most of which is drawn, and the page stays.
func TestDenoiseInAScreenshot(t *testing.T) {
	leaveRuns(t)
	const h, w = 320, 400
	inside := func(i int) bool { y, x := i/w%h, i%w; return y >= 64 && y < 224 && x >= 160 && x < 352 }
	for i, name := range synthetic.Drawings {
		clean, page := still(h, w), synthetic.Drawing(uint64(i), h, w)
		photo := noisy(clean, 0.1, 8)
		for i, v := range page {
			if !inside(i) {
				clean.Pix[i], photo.Pix[i] = v, v
			}
		}
		out, _, err := restore.Denoise(t.Context(), photo)
		require.NoError(t, err)
		require.Greater(t, fidelity(t, out.(*restore.Planar), clean), fidelity(t, photo, clean)+7, name)
	}
}

// looks is a context that ends at some look at it.
type looks struct {
	context.Context
	left atomic.Int64 // goroutines look
}

func (l *looks) Err() error {
	if l.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// An estimate looks at its context often, also while it fills invisible pixels, and ends at whatever look.
func TestEstimateNoiseStops(t *testing.T) {
	x := noisy(picture(3, 70, 90), 0.05, 1)
	x.Alpha = make([]uint16, 70*90)
	for i := 300; i < len(x.Alpha); i++ {
		x.Alpha[i] = 0xffff
	}
	looked, stride := 0, 7
	if testing.Short() { // the race detector makes seconds of it
		stride = 41
	}
	for ; ; looked += stride {
		ctx := &looks{Context: t.Context()}
		ctx.left.Store(int64(looked))
		_, err := restore.EstimateNoise(ctx, x)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Greater(t, looked, 300)
}
