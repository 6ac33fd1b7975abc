package restore_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/upscale"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// leaves is a picture of disks of random colours, one in front of the other, the small ones
// more frequent (dead leaves): the edges and scales of a photograph, drawn in a moment.
func leaves(channels, h, w int) *restore.Planar {
	p := restore.NewPlanar(channels, h, w)
	random := rand.New(rand.NewPCG(3, 4))
	for range h * w / 30 {
		cy, cx := random.Float64()*float64(h), random.Float64()*float64(w)
		r := 4 / math.Sqrt(random.Float64()+.02)
		var colour [3]float64
		grey := .1 + .8*random.Float64()
		for c := range colour {
			colour[c] = grey + .1*random.Float64()
		}
		for y := max(0, int(cy-r-1)); y < min(h, int(cy+r+2)); y++ {
			for x := max(0, int(cx-r-1)); x < min(w, int(cx+r+2)); x++ {
				// How much of the pixel the disk covers, nearly.
				cover := float32(min(max(r-math.Hypot(float64(y)-cy, float64(x)-cx)+.5, 0), 1))
				for c := range channels {
					v := &p.Plane(c)[y*w+x]
					*v += cover * (float32(colour[c]) - *v)
				}
			}
		}
	}
	return p
}

// scaledDown is a picture after a kernel and downsampling; its sides are multiples of the
// factor.
func scaledDown(t testing.TB, p *restore.Planar, k deblur.Kernel, factor int) *restore.Planar {
	dev := cputest.Open(t)
	defer dev.Close()
	q := restore.NewPlanar(p.Channels, p.Height/factor, p.Width/factor)
	d, err := upscale.NewDownsampling(dev, k, deblur.Reflect, factor, q.Height, q.Width)
	require.NoError(t, err)
	defer d.Free()
	x, err := dev.Wrap(backend.Image(p.Channels, p.Height, p.Width), p.Pix)
	require.NoError(t, err)
	y, err := dev.Wrap(backend.Image(p.Channels, q.Height, q.Width), q.Pix)
	require.NoError(t, err)
	require.NoError(t, d.Apply(y, x))
	return q
}

func interpolated(t testing.TB, p *restore.Planar, factor int) *restore.Planar {
	q := restore.NewPlanar(p.Channels, factor*p.Height, factor*p.Width)
	require.NoError(t, upscale.Interpolate(q.Pix, p.Pix, p.Height, p.Width, factor, 0))
	return q
}

// Every factor and blur gains on cubic interpolation, with a proof of convergence.
func TestUpscaleGains(t *testing.T) {
	leaveGains(t)
	for _, c := range []struct {
		factor, channels int
		antialias        upscale.Antialias
		gain             float64
	}{
		{2, 3, upscale.Bicubic, 1.2}, {2, 1, upscale.GaussianBlur, 1.2}, {3, 3, upscale.Area, 0.8},
		{3, 1, upscale.Bicubic, 0.8}, {4, 3, upscale.GaussianBlur, 0.5},
	} {
		x := leaves(c.channels, 24*c.factor, 32*c.factor)
		k, err := c.antialias.Kernel(c.factor)
		require.NoError(t, err)
		y := scaledDown(t, x, k, c.factor)
		out, report, err := restore.Upscale(t.Context(), y, c.factor, restore.Antialias(c.antialias), restore.Sigma(0.002))
		require.NoError(t, err)
		got, start := psnr(t, x, out.(*restore.Planar)), psnr(t, x, interpolated(t, y, c.factor))
		t.Logf("%v by %d, %d channels: %.2f dB, interpolated %.2f, in %d iterations", c.antialias, c.factor, c.channels, got, start, report.Iteration.Count)
		require.Greater(t, got, start+c.gain)
		require.Equal(t, restore.DefaultPrior(), report.Method)
		certificate := report.Iteration.Run.Certificate
		require.True(t, certificate.Converges() && certificate.FixedPointExists())
		require.Less(t, certificate.Norm, 1.25/float64(c.factor), certificate.NormReason)
		byTV, report, err := restore.Upscale(t.Context(), y, c.factor, restore.Antialias(c.antialias), restore.Method("tv"), restore.Sigma(0.002))
		require.NoError(t, err)
		require.Positive(t, report.Weight)
		require.Greater(t, psnr(t, x, byTV.(*restore.Planar)), start+c.gain/2)
	}
}

// A blur of the scene is removed too, and so is noise.
func TestUpscaleBlurAndNoise(t *testing.T) {
	leaveGains(t)
	x := leaves(3, 64, 80)
	k, err := deblur.Disk(1.6)
	require.NoError(t, err)
	area, err := upscale.Area.Kernel(2)
	require.NoError(t, err)
	both, err := deblur.Convolve(k, area)
	require.NoError(t, err)
	y := noisy(scaledDown(t, x, both, 2), 0.005, 4)
	options := []restore.Option{restore.Antialias(upscale.Area), restore.Sigma(0.005)}
	sharp, _, err := restore.Upscale(t.Context(), y, 2, append(options, restore.Kernel(k))...)
	require.NoError(t, err)
	soft, _, err := restore.Upscale(t.Context(), y, 2, options...)
	require.NoError(t, err)
	require.Greater(t, psnr(t, x, sharp.(*restore.Planar)), psnr(t, x, soft.(*restore.Planar))+1)

	// The kernel may be the whole blur.
	whole, _, err := restore.Upscale(t.Context(), y, 2, restore.Antialias(upscale.NoAntialias), restore.Sigma(0.005), restore.Kernel(both))
	require.NoError(t, err)
	require.Equal(t, sharp, whole)

	y = noisy(scaledDown(t, x, area, 2), 0.05, 4)
	out, report, err := restore.Upscale(t.Context(), y, 2, restore.Antialias(upscale.Area))
	require.NoError(t, err)
	require.NotNil(t, report.Noise.Estimate)
	require.InEpsilon(t, 0.05, report.Noise.Sigma, 0.3)
	require.Greater(t, psnr(t, x, out.(*restore.Planar)), psnr(t, x, interpolated(t, y, 2))+1)
}

// Every kind of image and alpha, any boundary, and the smallest sizes.
func TestUpscaleKindsOfImages(t *testing.T) {
	leaveRuns(t)
	r := image.Rect(3, 5, 3+9, 5+7)
	for _, in := range []interface {
		image.Image
		Set(x, y int, c color.Color)
	}{image.NewGray(r), image.NewGray16(r), image.NewNRGBA(r), image.NewNRGBA64(r)} {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				a := uint16(0xffff)
				if x >= 8 {
					a = 0
				}
				in.Set(x, y, color.NRGBA64{R: 0x4000, G: 0x8000, B: 0xc000, A: a})
			}
		}
		for factor := 2; factor <= 4; factor++ {
			out, _, err := restore.Upscale(t.Context(), in, factor, restore.Sigma(0.01), restore.Method(weights.Small), restore.Iterations(2))
			require.NoError(t, err)
			require.IsType(t, in, out)
			require.Equal(t, image.Rect(0, 0, 9*factor, 7*factor), out.Bounds())
			if c, ok := out.(*image.NRGBA); ok {
				require.EqualValues(t, 255, c.NRGBAAt(0, 0).A)
				require.EqualValues(t, 255, c.NRGBAAt(3*factor, 3*factor).A)
				require.Zero(t, c.NRGBAAt(9*factor-1, 7*factor-1).A)
				edge := c.NRGBAAt(5*factor, 3*factor).A
				require.True(t, edge > 0 && edge < 255, "%d", edge)
			}
		}
	}
	for _, s := range [][2]int{{1, 1}, {1, 6}, {5, 1}} {
		for b := deblur.Unknown; b <= deblur.Reflect; b++ {
			for _, method := range []string{weights.Small, "tv"} {
				out, _, err := restore.Upscale(t.Context(), leaves(3, s[0], s[1]), 3,
					restore.Sigma(0.01), restore.Boundary(b), restore.Method(method), restore.Iterations(3))
				require.NoError(t, err)
				require.Equal(t, image.Pt(3*s[1], 3*s[0]), out.Bounds().Size())
			}
		}
	}
}

func TestEnlargeAlpha(t *testing.T) {
	opaque := []uint16{0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff}
	out, err := restore.EnlargeAlpha(opaque, 2, 3, 4, 0)
	require.NoError(t, err)
	require.Len(t, out, 8*12)
	for _, a := range out {
		require.EqualValues(t, 0xffff, a)
	}
	_, err = restore.EnlargeAlpha(opaque, 2, 4, 2, 0)
	require.Error(t, err)
}

func TestUpscaleSameBits(t *testing.T) {
	x := leaves(3, 20, 26)
	before := append([]float32(nil), x.Pix...)
	one, _, err := restore.Upscale(t.Context(), x, 2, restore.Threads(1), restore.Iterations(4))
	require.NoError(t, err)
	three, _, err := restore.Upscale(t.Context(), x, 2, restore.Threads(3), restore.Iterations(4))
	require.NoError(t, err)
	require.Equal(t, one, three)
	require.Equal(t, before, x.Pix)
	dev := refdevice.New(refdevice.Options{})
	defer dev.Close()
	small := crop(x, 0, 0, 8, 9)
	options := []restore.Option{restore.Method("tv"), restore.Sigma(0.02), restore.Iterations(20)}
	here, _, err := restore.Upscale(t.Context(), small, 2, options...)
	require.NoError(t, err)
	there, _, err := restore.Upscale(t.Context(), small, 2, append(options, restore.Device(dev))...)
	require.NoError(t, err)
	require.Greater(t, psnr(t, here.(*restore.Planar), there.(*restore.Planar)), 60.0)
}

func TestUpscaleRefuses(t *testing.T) {
	x := leaves(1, 8, 9)
	for _, factor := range []int{-1, 0, 1, 5, math.MaxInt} {
		_, _, err := restore.Upscale(t.Context(), x, factor)
		require.ErrorContains(t, err, "want 2, 3 or 4")
	}
	_, _, err := restore.Upscale(t.Context(), nil, 2)
	require.Error(t, err)
	for i, o := range []restore.Option{
		restore.Antialias(9), restore.Kernel(deblur.Kernel{}), restore.StepSize(100), restore.Boundary(9), restore.Method("magic"), restore.Sigma(0),
	} {
		_, _, err := restore.Upscale(t.Context(), x, 2, o)
		require.Error(t, err, "option %d", i)
	}
	_, _, err = restore.Upscale(t.Context(), x, 2, restore.Antialias(upscale.NoAntialias), restore.Sigma(0.01))
	require.ErrorContains(t, err, "needs a Kernel")
	// A step that is too long for a blur alone is right for its downsampling.
	_, _, err = restore.Upscale(t.Context(), x, 4, restore.StepSize(10), restore.Sigma(0.01), restore.Iterations(2))
	require.NoError(t, err)
	dev := refdevice.New(refdevice.Options{Memory: 1024})
	defer dev.Close()
	_, _, err = restore.Upscale(t.Context(), x, 2, restore.Device(dev), restore.Sigma(0.01))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

// A JPEG whose coding noise is told is enlarged better than by cubic interpolation, and better than without it.
func TestUpscaleRemovesCodingNoise(t *testing.T) {
	truth := leaves(3, 96, 96)
	kernel, err := upscale.Area.Kernel(2)
	require.NoError(t, err)
	small := scaledDown(t, truth, kernel, 2)
	drawn := image.NewRGBA(image.Rect(0, 0, 48, 48))
	for i := range 48 * 48 {
		for c := range 3 {
			drawn.Pix[4*i+c] = uint8(math.Round(255 * float64(small.Plane(c)[i])))
		}
		drawn.Pix[4*i+3] = 255
	}
	var file bytes.Buffer
	require.NoError(t, jpeg.Encode(&file, drawn, &jpeg.Options{Quality: 75}))
	m, err := imagefile.Decode(t.Context(), bytes.NewReader(file.Bytes()), imagefile.ReadOptions{CodingNoise: true})
	require.NoError(t, err)
	coded := restore.NewPlanar(3, 48, 48)
	copy(coded.Pix, m.Pix)
	plain, report, err := restore.Upscale(t.Context(), coded, 2)
	require.NoError(t, err)
	require.Less(t, report.Noise.Sigma, m.JPEG.Noise)
	how := restore.Compressed(restore.Compression{Noise: m.JPEG.Noise})
	told, report, err := restore.Upscale(t.Context(), coded, 2, how)
	require.NoError(t, err)
	require.Greater(t, report.Noise.Sigma, m.JPEG.Noise)
	require.Greater(t, psnr(t, told.(*restore.Planar), truth), psnr(t, plain.(*restore.Planar), truth)+0.3)
	require.Greater(t, psnr(t, told.(*restore.Planar), truth), psnr(t, interpolated(t, coded, 2), truth)+0.3)

	_, report, err = restore.Upscale(t.Context(), coded, 2, how, restore.Sigma(0.001), restore.Iterations(1))
	require.NoError(t, err)
	require.Equal(t, 0.001, report.Noise.Sigma, "a level that is given stays")
	for _, wrong := range []restore.Compression{{Noise: -1}, {Noise: math.NaN()}, {Noise: math.Inf(1)}, {ChromaX: -1}, {ChromaY: 5}} {
		var option *restore.OptionError
		require.ErrorAs(t, restore.Validate(restore.Compressed(wrong)), &option)
	}
}
