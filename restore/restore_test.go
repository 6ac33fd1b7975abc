package restore_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/scene"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
	"github.com/stretchr/testify/require"
)

// scenes are the pictures of each size, which take long to draw.
var scenes sync.Map

func sceneOf(w, h int) *image.RGBA {
	size := image.Pt(w, h)
	img, ok := scenes.Load(size)
	if !ok {
		img, _ = scenes.LoadOrStore(size, scene.Render(w, h))
	}
	return img.(*image.RGBA)
}

// picture returns the still life as samples, in colour or grey.
func picture(channels, h, w int) *restore.Planar {
	img := sceneOf(w, h)
	p := restore.NewPlanar(channels, h, w)
	for i := range h * w {
		r, g, b := float32(img.Pix[4*i])/255, float32(img.Pix[4*i+1])/255, float32(img.Pix[4*i+2])/255
		if channels == 1 {
			p.Pix[i] = (r + g + b) / 3
			continue
		}
		p.Pix[i], p.Pix[h*w+i], p.Pix[2*h*w+i] = r, g, b
	}
	return p
}

func noisy(p *restore.Planar, sigma float64, seed uint64) *restore.Planar {
	q := restore.NewPlanar(p.Channels, p.Height, p.Width)
	for i, v := range p.Pix {
		q.Pix[i] = v + float32(sigma)*backend.GaussianAt(seed, uint64(i))
	}
	return q
}

func blurred(t testing.TB, p *restore.Planar, k deblur.Kernel, b deblur.Boundary) *restore.Planar {
	dev := cputest.Open(t)
	defer dev.Close()
	h, w := p.Height, p.Width
	if b == deblur.Unknown { // p is the unknown image
		h, w = h-k.H+1, w-k.W+1
	}
	op, err := deblur.New(dev, k, b, h, w)
	require.NoError(t, err)
	defer op.Free()
	x, err := dev.Wrap(backend.Image(p.Channels, p.Height, p.Width), p.Pix)
	require.NoError(t, err)
	out := restore.NewPlanar(p.Channels, h, w)
	y, err := dev.Wrap(backend.Image(p.Channels, h, w), out.Pix)
	require.NoError(t, err)
	require.NoError(t, op.Apply(y, x))
	return out
}

func crop(p *restore.Planar, top, left, h, w int) *restore.Planar {
	q := restore.NewPlanar(p.Channels, h, w)
	for c := range p.Channels {
		for y := range h {
			copy(q.Plane(c)[y*w:(y+1)*w], p.Plane(c)[(top+y)*p.Width+left:])
		}
	}
	return q
}

func psnr(t testing.TB, a, b *restore.Planar) float64 {
	require.Len(t, b.Pix, len(a.Pix))
	sum := 0.0
	for i := range a.Pix {
		d := float64(a.Pix[i]) - float64(b.Pix[i])
		sum += d * d
	}
	return 10 * math.Log10(float64(len(a.Pix))/sum)
}

// leaveGains skips a test that measures what restorations gain.
func leaveGains(t *testing.T) {
	if testing.Short() {
		t.Skip("gains take whole restorations, which a run with -short leaves to the others")
	}
}

// leaveRuns skips a test of what runs compute and report. With -short, which is for the race detector and
// for IMAGING_CPU, one run of each task and of each kind of network is left, with tiles, threads, contexts
// that end, and devices shared by calls; go test ./... has all.
func leaveRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("one run more of a task that other tests race and put through the instruction sets: go test ./... has it")
	}
}

// The least gains that are to be had by total variation on the still life; they are well below what
// is measured, and above what a broken rule or coupling gives.
func TestDenoiseGains(t *testing.T) {
	leaveGains(t)
	tv := restore.Method("tv")
	for _, channels := range []int{1, 3} {
		x := picture(channels, 120, 180)
		for _, c := range []struct{ sigma, gain, greyGain float64 }{{0.02, 1.0, 0.5}, {0.05, 4.2, 2.8}, {0.15, 10, 7.5}, {0.3, 13.8, 11}} {
			y := noisy(x, c.sigma, 3)
			out, report, err := restore.Denoise(t.Context(), y, tv, restore.Sigma(c.sigma))
			require.NoError(t, err)
			gain := psnr(t, x, out.(*restore.Planar)) - psnr(t, x, y)
			want := c.gain
			if channels == 1 {
				want = c.greyGain
			}
			t.Logf("channels %d sigma %v: gain %.2f dB", channels, c.sigma, gain)
			require.Greater(t, gain, want, "channels %d, sigma %v", channels, c.sigma)
			require.True(t, report.Iteration.Converged && report.Certified)
			require.Equal(t, 0.5, report.Averagedness)
			require.LessOrEqual(t, report.Iteration.Residual, 1e-4)
			require.Nil(t, report.Noise.Estimate)

			auto, report, err := restore.Denoise(t.Context(), y, tv)
			require.NoError(t, err)
			require.NotNil(t, report.Noise.Estimate)
			require.InEpsilon(t, c.sigma, report.Noise.Sigma, 0.12)
			require.Greater(t, psnr(t, x, auto.(*restore.Planar)), psnr(t, x, out.(*restore.Planar))-0.25)
		}
	}
}

func TestDeblurGains(t *testing.T) {
	leaveGains(t)
	k, err := deblur.Shake(11, 4)
	require.NoError(t, err)
	for _, channels := range []int{1, 3} {
		x := picture(channels, 110, 170)
		for _, b := range []deblur.Boundary{deblur.Unknown, deblur.Circular, deblur.Zero, deblur.Reflect} {
			y := noisy(blurred(t, x, k, b), 0.01, 5)
			want := x
			if b == deblur.Unknown {
				want = crop(x, k.H-1-k.CY, k.W-1-k.CX, y.Height, y.Width)
			}
			out, report, err := restore.Deblur(t.Context(), y, k, restore.Method("tv"), restore.Sigma(0.01), restore.Boundary(b))
			require.NoError(t, err)
			gain := psnr(t, want, out.(*restore.Planar)) - psnr(t, want, y)
			t.Logf("channels %d %v: gain %.2f dB in %d iterations", channels, b, gain, report.Iteration.Count)
			require.Greater(t, gain, 3.0, "boundary %v", b)
			require.True(t, report.Iteration.Converged)
			require.True(t, report.Iteration.Run.Certificate.Converges())
			require.True(t, report.Iteration.Run.Certificate.FixedPointExists())
			for i, v := range out.(*restore.Planar).Pix {
				require.True(t, v >= 0 && v <= 1, "sample %d is %v", i, v)
			}
		}
	}
}

// Any start ends at the same place: with total variation the problem is convex,
// and the deblurred still life is determined well.
func TestStartsAgree(t *testing.T) {
	leaveRuns(t)
	x := picture(1, 40, 50)
	k, err := deblur.Motion(5, 20)
	require.NoError(t, err)
	y := noisy(blurred(t, x, k, deblur.Circular), 0.03, 5)
	var first *restore.Planar
	for _, s := range []restore.StartingPoint{restore.StartWiener, restore.StartImage, restore.StartConstant} {
		out, report, err := restore.Deblur(t.Context(), y, k, restore.Method("tv"), restore.Sigma(0.03), restore.Start(s), restore.Boundary(deblur.Circular),
			restore.Tolerance(1e-5), restore.Iterations(3000))
		require.NoError(t, err)
		require.True(t, report.Iteration.Converged)
		if first == nil {
			first = out.(*restore.Planar)
		}
		require.Greater(t, psnr(t, first, out.(*restore.Planar)), 50.0, "start %d", s)
	}
}

func TestKindsOfImages(t *testing.T) {
	leaveRuns(t)
	r := image.Rect(3, 5, 3+19, 5+13) // odd, and not at the origin
	fill := func(set func(x, y int, c color.Color)) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				set(x, y, color.NRGBA64{R: uint16(3000 * x), G: uint16(3500 * y), B: 0x8123, A: 0xffff})
			}
		}
	}
	grey, grey16 := image.NewGray(r), image.NewGray16(r)
	rgba, nrgba, nrgba64 := image.NewRGBA(r), image.NewNRGBA(r), image.NewNRGBA64(r)
	palette := image.NewPaletted(r, color.Palette{color.Black, color.White, color.NRGBA{R: 200, A: 255}})
	for _, set := range []func(int, int, color.Color){grey.Set, grey16.Set, rgba.Set, nrgba.Set, nrgba64.Set, palette.Set} {
		fill(set)
	}
	nrgba.SetNRGBA(4, 6, color.NRGBA{R: 9, G: 8, B: 7, A: 77})
	for _, c := range []struct{ in, kind image.Image }{
		{grey, &image.Gray{}}, {grey16, &image.Gray16{}}, {rgba, &image.NRGBA{}}, {nrgba, &image.NRGBA{}},
		{nrgba64, &image.NRGBA64{}}, {palette, &image.NRGBA{}}, {image.NewGray(image.Rect(0, 0, 1, 1)), &image.Gray{}},
		{image.NewNRGBA(image.Rect(0, 0, 1, 9)), &image.NRGBA{}}, {image.NewNRGBA(image.Rect(0, 0, 9, 1)), &image.NRGBA{}},
	} {
		out, _, err := restore.Denoise(t.Context(), c.in, restore.Sigma(0.05))
		require.NoError(t, err)
		require.IsType(t, c.kind, out)
		require.Equal(t, c.in.Bounds().Size(), out.Bounds().Size())
		k, err := deblur.Motion(3, 0)
		require.NoError(t, err)
		out, _, err = restore.Deblur(t.Context(), c.in, k, restore.Sigma(0.05), restore.Iterations(2))
		require.NoError(t, err)
		require.IsType(t, c.kind, out)
		require.Equal(t, c.in.Bounds().Size(), out.Bounds().Size())
		if c.in == image.Image(nrgba) {
			require.EqualValues(t, 77, out.(*image.NRGBA).NRGBAAt(1, 1).A, "alpha is carried along")
		}
	}
}

func TestInputIsNotChanged(t *testing.T) {
	y := noisy(picture(3, 20, 30), 0.1, 1)
	before := append([]float32(nil), y.Pix...)
	k, err := deblur.Gaussian(1)
	require.NoError(t, err)
	_, _, err = restore.Denoise(t.Context(), y)
	require.NoError(t, err)
	_, _, err = restore.Deblur(t.Context(), y, k)
	require.NoError(t, err)
	require.Equal(t, before, y.Pix)
}

// The same bits with any number of threads, and for jobs that run at the same
// time.
func TestSameBits(t *testing.T) {
	h, w := 60, 70
	if testing.Short() { // the race detector makes a minute of it; go test ./... has the large one
		h, w = 24, 31
	}
	y := noisy(picture(3, h, w), 0.1, 1)
	k, err := deblur.Shake(9, 2)
	require.NoError(t, err)
	run := func(threads int) []float32 {
		a, _, err := restore.Denoise(t.Context(), y, restore.Threads(threads))
		require.NoError(t, err)
		b, _, err := restore.Deblur(t.Context(), y, k, restore.Threads(threads), restore.Iterations(5))
		require.NoError(t, err)
		return append(append([]float32(nil), a.(*restore.Planar).Pix...), b.(*restore.Planar).Pix...)
	}
	want := run(1)
	var wg sync.WaitGroup
	results := make([][]float32, 4)
	if testing.Short() { // with one thread and with two
		results = results[:2]
	}
	for i := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			results[i] = run(i + 1)
		}()
	}
	wg.Wait()
	for i, got := range results {
		require.Equal(t, want, got, "%d threads", i+1)
	}
}

// Another device gives the same picture: computed in float64, asynchronously.
func TestAnotherDevice(t *testing.T) {
	h, w := 30, 40
	if testing.Short() { // plain loops in float64; go test ./... has the large one
		h, w = 12, 17
	}
	y := noisy(picture(3, h, w), 0.05, 1)
	k, err := deblur.Motion(5, 45)
	require.NoError(t, err)
	dev := refdevice.New(refdevice.Options{})
	defer dev.Close()
	for name, run := range map[string]func(...restore.Option) (image.Image, *restore.Report, error){
		"denoise": func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return restore.Denoise(t.Context(), y, o...)
		},
		"deblur": func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return restore.Deblur(t.Context(), y, k, append(o, restore.Sigma(0.05), restore.Iterations(3))...)
		},
	} {
		a, _, err := run()
		require.NoError(t, err)
		b, _, err := run(restore.Device(dev))
		require.NoError(t, err)
		require.Greater(t, psnr(t, a.(*restore.Planar), b.(*restore.Planar)), 60.0, name)
	}
	small := refdevice.New(refdevice.Options{Memory: 4096})
	defer small.Close()
	_, _, err = restore.Denoise(t.Context(), y, restore.Device(small))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	_, _, err = restore.Deblur(t.Context(), y, k, restore.Device(small))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

func TestWhatIsRefused(t *testing.T) {
	img := picture(1, 8, 8)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	for _, o := range []restore.Option{
		restore.Sigma(0), restore.Sigma(-1), restore.Sigma(math.NaN()), restore.Sigma(math.Inf(1)),
		restore.Strength(0), restore.Strength(math.NaN()), restore.Iterations(0), restore.Tolerance(0), restore.Tolerance(1),
		restore.StepSize(0), restore.StepSize(math.Inf(1)), restore.Device(nil), restore.Threads(-1), restore.Method("magic"),
	} {
		_, _, err := restore.Denoise(t.Context(), img, o)
		require.Error(t, err)
		_, _, err = restore.Deblur(t.Context(), img, k, o)
		require.Error(t, err)
	}
	_, _, err = restore.Denoise(t.Context(), img, restore.Method("magic"))
	require.ErrorIs(t, err, restore.ErrMethod)
	require.ErrorContains(t, err, "tv")
	_, _, err = restore.Deblur(t.Context(), img, k, restore.StepSize(2.1), restore.Method("tv"))
	require.ErrorContains(t, err, "2/‖K‖²")
	broken := picture(1, 8, 8)
	broken.Pix[9] = float32(math.NaN())
	_, _, err = restore.Denoise(t.Context(), broken)
	require.ErrorContains(t, err, "column 1, row 1")
	for _, bad := range []*restore.Planar{{}, {Width: 2, Height: 2, Channels: 2, Pix: make([]float32, 8)}, {Width: 2, Height: 2, Channels: 1, Pix: make([]float32, 3)}} {
		_, _, err = restore.Denoise(t.Context(), bad)
		require.Error(t, err)
		_, err = restore.EstimateNoise(t.Context(), bad)
		require.Error(t, err)
	}
	_, _, err = restore.Denoise(t.Context(), nil)
	require.Error(t, err)
	_, _, err = restore.Deblur(t.Context(), img, deblur.Kernel{})
	require.Error(t, err)
}

// endsWhenTold checks that a run reports rising progress, least times or more, and ends with the error of Progress and with
// its context.
func endsWhenTold(t *testing.T, name string, least int, run func(context.Context, ...restore.Option) error) {
	enough := errors.New("enough")
	var last backend.Progress
	calls := 0
	require.NoError(t, run(t.Context(), restore.Progress(func(p backend.Progress) error {
		require.GreaterOrEqual(t, p.Fraction, last.Fraction, name)
		require.LessOrEqual(t, p.Fraction, 1.0, name)
		last = p
		calls++
		return nil
	})), name)
	require.GreaterOrEqual(t, calls, least, name)
	require.Equal(t, 1.0, last.Fraction, name)
	require.ErrorIs(t, run(t.Context(), restore.Progress(func(backend.Progress) error { return enough })), enough, name)
	ctx, cancel := context.WithCancel(t.Context())
	err := run(ctx, restore.Progress(func(backend.Progress) error { cancel(); return nil }))
	require.ErrorIs(t, err, context.Canceled, name)
	cancel()
	require.ErrorIs(t, run(ctx), context.Canceled, name)
}

func TestRunsEndWhenTold(t *testing.T) {
	y := noisy(picture(3, 40, 56), 0.1, 1)
	k, err := deblur.Shake(9, 2)
	require.NoError(t, err)
	tv := restore.Method("tv") // networks: TestNetworkRunsEndWhenTold
	runs := map[string]func(context.Context, ...restore.Option) error{
		"denoise": func(ctx context.Context, o ...restore.Option) error {
			_, _, err := restore.Denoise(ctx, y, o...)
			return err
		},
		"deblur": func(ctx context.Context, o ...restore.Option) error {
			_, _, err := restore.Deblur(ctx, y, k, append(o, tv)...)
			return err
		},
		"check": func(ctx context.Context, o ...restore.Option) error {
			_, err := restore.Check(ctx, y, k, append(o, tv, restore.Iterations(20))...)
			return err
		},
	}
	for name, run := range runs {
		endsWhenTold(t, name, 3, run)
	}
}

func TestCheckHolds(t *testing.T) {
	y := noisy(picture(3, 40, 60), 0.02, 1)
	tv := restore.Method("tv")
	report, err := restore.Check(t.Context(), y, deblur.Kernel{}, tv, restore.Iterations(40))
	require.NoError(t, err)
	require.True(t, report.Holds, "%v", report.Violations)
	require.Len(t, report.Rows, 40)
	require.Contains(t, report.Denoiser, "firmly nonexpansive")
	require.Less(t, report.Rows[39].Distance, report.Rows[0].Distance)
	certificate, err := restore.Check(t.Context(), nil, deblur.Kernel{}, tv, restore.Constraint(pnp.Unconstrained))
	require.NoError(t, err)
	require.True(t, certificate.Holds)
	require.Empty(t, certificate.Rows)
	require.False(t, certificate.Certificate.FixedPointExists())
}

func TestPlanarIsAnImage(t *testing.T) {
	p := restore.NewPlanar(3, 2, 2)
	copy(p.Pix, []float32{0, 1, 2, -1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25})
	require.Equal(t, color.NRGBA64{R: 0xffff, G: 0x8000, B: 0x4000, A: 0xffff}, p.At(1, 0))
	require.Equal(t, color.NRGBA64{R: 0xffff, G: 0x8000, B: 0x4000, A: 0xffff}, p.At(0, 1))
	require.Equal(t, color.NRGBA64{R: 0, G: 0x8000, B: 0x4000, A: 0xffff}, p.At(1, 1))
	require.Equal(t, color.NRGBA64{}, p.At(5, 5))
	require.Equal(t, color.Gray16{Y: 0x8000}, (&restore.Planar{Width: 1, Height: 1, Channels: 1, Pix: []float32{0.5}}).At(0, 0))
	require.Equal(t, image.Pt(2, 2), p.Bounds().Size())
	require.Equal(t, []float32{0.25, 0.25, 0.25, 0.25}, p.Plane(2))
}

// A sample whose square float32 cannot hold is refused as itself, before a network meets it.
func TestPlanarRefusesSamples(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e19, -3e38} {
		p := picture(1, 5, 4)
		p.Pix[7] = float32(v)
		_, err := restore.EstimateNoise(t.Context(), p)
		require.ErrorContains(t, err, "the sample at column 3, row 1 is")
		require.ErrorContains(t, err, "want a number within ±1e18")
	}
}

// The picture that the documentation shows is the one that the code renders.
func TestSceneFile(t *testing.T) {
	f, err := os.Open("../testdata/scene.png")
	require.NoError(t, err)
	defer f.Close()
	img, _, err := image.Decode(f)
	require.NoError(t, err)
	require.Equal(t, image.Pt(480, 320), img.Bounds().Size())
}
