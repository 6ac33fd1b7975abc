package restore_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/inpaint"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// scatteredMask is white in a share of the pixels, at random.
func scatteredMask(h, w int, share float64) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, w, h))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		if random.Float64() < share {
			m.Pix[i] = 255
		}
	}
	return m
}

// damaged returns a picture with white in the masked pixels.
func damaged(p *restore.Planar, mask *image.Gray) *restore.Planar {
	q := restore.NewPlanar(p.Channels, p.Height, p.Width)
	for i, v := range p.Pix {
		if q.Pix[i] = v; mask.Pix[i%len(mask.Pix)] > 0 {
			q.Pix[i] = 1
		}
	}
	return q
}

// diffused is the fill that Inpaint starts from.
func diffused(t testing.TB, p *restore.Planar, mask *image.Gray) *restore.Planar {
	dev := cputest.Open(t)
	defer dev.Close()
	known := make([]bool, len(mask.Pix))
	for i, v := range mask.Pix {
		known[i] = v == 0
	}
	m, err := inpaint.NewMask(dev, known, p.Height, p.Width)
	require.NoError(t, err)
	defer m.Free()
	q := restore.NewPlanar(p.Channels, p.Height, p.Width)
	require.NoError(t, m.Diffuse(t.Context(), q.Pix, p.Pix))
	return q
}

// The network gains on the diffusion that it starts from, known pixels stay to the bit,
// and the proof covers the run.
func TestInpaintGains(t *testing.T) {
	leaveGains(t)
	for _, channels := range []int{1, 3} {
		x := leaves(channels, 72, 96)
		mask := scatteredMask(72, 96, 0.5)
		y := damaged(x, mask)
		out, report, err := restore.Inpaint(t.Context(), y, mask)
		require.NoError(t, err)
		got, start := psnr(t, x, out.(*restore.Planar)), psnr(t, x, diffused(t, y, mask))
		t.Logf("channels %d: %.2f dB from %.2f in %d iterations", channels, got, start, report.Iteration.Count)
		require.Greater(t, got, start+0.4)
		for i, v := range out.(*restore.Planar).Pix {
			if mask.Pix[i%len(mask.Pix)] == 0 {
				require.Equal(t, x.Pix[i], v, "a known pixel")
			}
		}
		require.Equal(t, restore.DefaultPrior(), report.Method)
		require.Zero(t, report.Noise.Sigma)
		require.Nil(t, report.Noise.Estimate)
		require.True(t, report.Iteration.Converged)
		certificate := report.Iteration.Run.Certificate
		require.True(t, certificate.Converges() && certificate.FixedPointExists())
		require.Equal(t, 1.0, certificate.Norm)
		require.Contains(t, certificate.NormReason, "projection")

		byTV, report, err := restore.Inpaint(t.Context(), y, mask, restore.Method("tv"))
		require.NoError(t, err)
		require.Positive(t, report.Weight)
		require.Greater(t, got, psnr(t, x, byTV.(*restore.Planar)), "the network is the better prior")
	}
}

// Inpaint by a network is two runs: one for the known pixels, and one for these and what the
// first has left of them.
func TestInpaintByNetworkRunsTwice(t *testing.T) {
	const sigma = 0.05
	dev := newCPU(t)
	n := loaded(t, dev, open(t, weights.Small))
	mask := scatteredMask(30, 36, 0.5)
	photograph := damaged(noisy(leaves(3, 30, 36), sigma, 5), mask)
	out, report, err := restore.Inpaint(t.Context(), photograph, mask, restore.Network(n), restore.Sigma(sigma))
	require.NoError(t, err)

	known := make([]bool, len(mask.Pix))
	for i, v := range mask.Pix {
		known[i] = v == 0
	}
	op, err := inpaint.NewMask(dev, known, 30, 36)
	require.NoError(t, err)
	defer op.Free()
	phi, err := n.For(t.Context(), report.Network.Level)
	require.NoError(t, err)
	defer phi.Free()
	shape := backend.Image(3, 30, 36)
	upload := func(x []float32) backend.Buffer {
		b, err := dev.Alloc(shape)
		require.NoError(t, err)
		t.Cleanup(b.Free)
		require.NoError(t, dev.Upload(b, x))
		return b
	}
	measured := slices.Clone(photograph.Pix)
	for i := range measured {
		if !known[i%len(known)] {
			measured[i] = 0
		}
	}
	y, rest := upload(measured), upload(measured)
	start := upload(diffused(t, photograph, mask).Pix)
	var steps []int
	for _, tolerance := range []float64{4 * 5e-5, 5e-5} {
		x, r, err := pnp.Solve(t.Context(), dev, y, op, phi, pnp.Options{Start: start, Tolerance: tolerance, Acceleration: pnp.Anderson})
		require.NoError(t, err)
		t.Cleanup(x.Free)
		steps, start = append(steps, r.Iterations), x
		if len(steps) == 1 {
			require.NoError(t, op.Apply(rest, x))
			require.NoError(t, dev.LinearCombination(y, backend.Term{A: 2, X: y}, backend.Term{A: -1, X: rest}))
		}
	}
	want := make([]float32, shape.Len())
	require.NoError(t, dev.Download(want, start))
	require.Equal(t, want, pixels(out))
	require.Equal(t, steps[0]+steps[1], report.Iteration.Count)
	require.Equal(t, steps[1], report.Iteration.Run.Iterations)
}

// A hole is filled from around it, and what was in it does not matter.
func TestInpaintAHole(t *testing.T) {
	leaveRuns(t)
	x := leaves(3, 60, 70)
	mask := image.NewGray(image.Rect(0, 0, 70, 60))
	for y := 20; y < 34; y++ {
		for x := 30; x < 50; x++ {
			mask.SetGray(x, y, color.Gray{Y: 255})
		}
	}
	first, _, err := restore.Inpaint(t.Context(), x, mask)
	require.NoError(t, err)
	second, _, err := restore.Inpaint(t.Context(), damaged(x, mask), mask)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Greater(t, psnr(t, x, second.(*restore.Planar)), psnr(t, x, damaged(x, mask))+6)
}

// With noise in the known pixels it is removed; with a blur too.
func TestInpaintNoiseAndBlur(t *testing.T) {
	leaveRuns(t)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	x := leaves(3, 64, 80)
	mask := scatteredMask(64, 80, 0.2)
	y := damaged(noisy(x, 0.05, 3), mask)
	out, report, err := restore.Inpaint(t.Context(), y, mask, small, restore.Sigma(0.05))
	require.NoError(t, err)
	require.Equal(t, 0.05, report.Noise.Sigma)
	exact, _, err := restore.Inpaint(t.Context(), y, mask, small)
	require.NoError(t, err)
	require.Greater(t, psnr(t, x, out.(*restore.Planar)), psnr(t, x, exact.(*restore.Planar))+2)
	_, report, err = restore.Inpaint(t.Context(), y, mask, small, restore.SigmaAuto())
	require.NoError(t, err)
	require.NotNil(t, report.Noise.Estimate)
	require.InDelta(t, 0.045, report.Noise.Sigma, 0.02)

	k, err := deblur.Motion(5, 30)
	require.NoError(t, err)
	for b := deblur.Unknown; b <= deblur.Reflect; b++ {
		blurry := noisy(blurred(t, x, k, b), 0.01, 3)
		truth := x
		if b == deblur.Unknown {
			truth = crop(x, k.H-1-k.CY, k.W-1-k.CX, blurry.Height, blurry.Width)
		}
		mask := scatteredMask(blurry.Height, blurry.Width, 0.1)
		y := damaged(blurry, mask)
		out, report, err := restore.Inpaint(t.Context(), y, mask, small, restore.Sigma(0.01), restore.Kernel(k), restore.Boundary(b))
		require.NoError(t, err)
		require.Greater(t, psnr(t, truth, out.(*restore.Planar)), psnr(t, truth, diffused(t, y, mask))+1.5, "boundary %v", b)
		require.True(t, report.Iteration.Run.Certificate.Converges())
	}
}

// Every kind of image comes back as its kind, with its alpha; white in a mask is what is
// brighter than a tenth of its range, and hardly transparent.
func TestInpaintKindsOfImages(t *testing.T) {
	leaveRuns(t)
	r := image.Rect(3, 5, 3+19, 5+13)
	mask := image.NewNRGBA64(image.Rect(-2, 1, 17, 14))
	mask.Set(5, 5, color.White)
	mask.Set(6, 5, color.Gray16{Y: 0x199a})
	mask.Set(7, 5, color.Gray16{Y: 0x1999})
	mask.Set(8, 5, color.NRGBA64{R: 0xffff, G: 0xffff, B: 0xffff, A: 0x1900})
	for _, in := range []interface {
		image.Image
		Set(x, y int, c color.Color)
	}{image.NewGray(r), image.NewGray16(r), image.NewNRGBA(r), image.NewNRGBA64(r)} {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				in.Set(x, y, color.NRGBA64{R: uint16(3000 * x), G: uint16(3500 * y), B: 0x8123, A: 0xffff})
			}
		}
		in.Set(4, 6, color.NRGBA{R: 9, G: 8, B: 7, A: 77})
		out, _, err := restore.Inpaint(t.Context(), in, mask)
		require.NoError(t, err)
		require.IsType(t, in, out)
		require.Equal(t, image.Pt(19, 13), out.Bounds().Size())
		changed := 0
		for y := range 13 {
			for x := range 19 {
				if out.At(x, y) != in.At(3+x, 5+y) {
					changed++
					require.Equal(t, 4, y)
					require.Contains(t, []int{7, 8}, x)
				}
			}
		}
		require.LessOrEqual(t, changed, 2)
	}
}

func TestInpaintSizes(t *testing.T) {
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	for _, s := range [][2]int{{1, 2}, {7, 1}, {3, 5}} {
		x := leaves(3, s[0], s[1])
		mask := image.NewGray(image.Rect(0, 0, s[1], s[0]))
		mask.Pix[0] = 255
		for _, method := range []string{restore.DefaultPrior(), "tv"} {
			_, _, err := r.Inpaint(t.Context(), x, mask, restore.Method(method), restore.Iterations(20))
			require.NoError(t, err)
		}
	}
}

func TestInpaintOnThreads(t *testing.T) {
	x := leaves(3, 24, 30)
	mask := scatteredMask(24, 30, 0.4)
	before := append([]float32(nil), x.Pix...)
	one, _, err := restore.Inpaint(t.Context(), x, mask, restore.Threads(1), restore.Iterations(4))
	require.NoError(t, err)
	three, _, err := restore.Inpaint(t.Context(), x, mask, restore.Threads(3), restore.Iterations(4))
	require.NoError(t, err)
	require.Equal(t, one, three)
	require.Equal(t, before, x.Pix, "the input is not changed")
}

func TestInpaintOnAnotherDevice(t *testing.T) {
	small, mask := leaves(3, 12, 14), scatteredMask(12, 14, 0.4)
	dev := refdevice.New(refdevice.Options{})
	defer dev.Close()
	here, _, err := restore.Inpaint(t.Context(), small, mask, restore.Method("tv"))
	require.NoError(t, err)
	there, _, err := restore.Inpaint(t.Context(), small, mask, restore.Method("tv"), restore.Device(dev))
	require.NoError(t, err)
	require.Greater(t, psnr(t, here.(*restore.Planar), there.(*restore.Planar)), 60.0)
	tight := refdevice.New(refdevice.Options{Memory: 1024})
	defer tight.Close()
	_, _, err = restore.Inpaint(t.Context(), small, mask, restore.Device(tight))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

func TestInpaintRefuses(t *testing.T) {
	x := leaves(1, 8, 9)
	black := image.NewGray(image.Rect(0, 0, 9, 8))
	_, _, err := restore.Inpaint(t.Context(), x, black)
	require.ErrorIs(t, err, restore.ErrMask)
	require.ErrorContains(t, err, "white marks the pixels to fill")
	white := scatteredMask(8, 9, 1.1)
	_, _, err = restore.Inpaint(t.Context(), x, white)
	require.ErrorIs(t, err, restore.ErrMask)
	require.ErrorContains(t, err, "black marks the pixels to keep")
	_, _, err = restore.Inpaint(t.Context(), x, scatteredMask(9, 8, 0.5))
	require.ErrorIs(t, err, restore.ErrMask)
	require.ErrorContains(t, err, "it has 8×9 pixels and the image 9×8")
	_, _, err = restore.Inpaint(t.Context(), x, nil)
	require.ErrorIs(t, err, restore.ErrMask)
	mask := scatteredMask(8, 9, 0.5)
	_, _, err = restore.Inpaint(t.Context(), nil, mask)
	require.Error(t, err)
	for i, o := range []restore.Option{
		restore.Kernel(deblur.Kernel{}), restore.StepSize(2.1), restore.Boundary(9), restore.Method("magic"), restore.Sigma(0),
	} {
		if i == 2 {
			k, err := deblur.Box(3)
			require.NoError(t, err)
			_, _, err = restore.Inpaint(t.Context(), x, mask, restore.Kernel(k), o)
			require.Error(t, err)
			continue
		}
		_, _, err := restore.Inpaint(t.Context(), x, mask, o)
		require.Error(t, err, "option %d", i)
	}
}

// Runs of both kinds end when told to, and tell their progress.
func TestInverseRunsEndWhenTold(t *testing.T) {
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	y := leaves(3, 24, 30)
	mask := scatteredMask(24, 30, 0.5)
	enough := errors.New("enough")
	for name, run := range map[string]func(context.Context, ...restore.Option) error{
		"inpaint": func(ctx context.Context, o ...restore.Option) error {
			_, _, err := r.Inpaint(ctx, y, mask, o...)
			return err
		},
		"upscale": func(ctx context.Context, o ...restore.Option) error {
			_, _, err := r.Upscale(ctx, y, 2, append(o, restore.Sigma(0.02))...)
			return err
		},
	} {
		last, calls := backend.Progress{}, 0
		require.NoError(t, run(t.Context(), restore.Iterations(8), restore.Progress(func(p backend.Progress) error {
			require.GreaterOrEqual(t, p.Fraction, last.Fraction, name)
			last = p
			calls++
			return nil
		})), name)
		require.Greater(t, calls, 2, name)
		require.Equal(t, 1.0, last.Fraction, name)
		require.ErrorIs(t, run(t.Context(), restore.Progress(func(backend.Progress) error { return enough })), enough, name)
		ctx, cancel := context.WithCancel(t.Context())
		err := run(ctx, restore.Progress(func(backend.Progress) error { cancel(); return nil }))
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, run(ctx), context.Canceled, name)
	}
}

func ExampleInpaint() {
	photo := image.NewGray(image.Rect(0, 0, 32, 24))
	mask := image.NewGray(photo.Rect)
	for i := range photo.Pix {
		photo.Pix[i] = uint8(60 + i%32*4)
	}
	for y := range 24 { // a scratch
		photo.SetGray(16, y, color.Gray{Y: 255})
		mask.SetGray(16, y, color.Gray{Y: 255})
	}
	out, report, err := restore.Inpaint(context.Background(), photo, mask)
	if err != nil {
		fmt.Println(err)
		return
	}
	before, after := photo.GrayAt(16, 12).Y, out.(*image.Gray).GrayAt(16, 12).Y
	fmt.Println(before, "became about", (int(after)+2)/5*5, "and convergence is proven:", report.Iteration.Run.Certificate.Converges())
	// Output:
	// 255 became about 125 and convergence is proven: true
}

// Where pixels share colours, those beside missing ones are filled too, and all others stay.
func TestInpaintFillsSharedColours(t *testing.T) {
	leaves := leaves(3, 40, 40)
	mask := image.NewGray(image.Rect(0, 0, 40, 40))
	for y := 10; y < 30; y++ {
		mask.SetGray(20, y, color.Gray{Y: 255})
	}
	marked := restore.NewPlanar(3, 40, 40)
	for i, v := range leaves.Pix {
		if marked.Pix[i] = v; i%40 >= 19 && i%40 <= 21 && i%1600/40 >= 10 && i%1600/40 < 30 {
			marked.Pix[i] = float32(i / 1600 % 2) // as the colour of a red stroke beside it
		}
	}
	filled, _, err := restore.Inpaint(t.Context(), marked, mask, restore.Compressed(restore.Compression{ChromaX: 2, ChromaY: 1}))
	require.NoError(t, err)
	out := filled.(*restore.Planar)
	for i, v := range marked.Pix {
		if v == leaves.Pix[i] {
			require.Equal(t, v, out.Pix[i])
		}
	}
	require.Greater(t, psnr(t, out, leaves), 30.0)
	kept, _, err := restore.Inpaint(t.Context(), marked, mask)
	require.NoError(t, err)
	require.Less(t, psnr(t, kept.(*restore.Planar), leaves), 25.0)
}
