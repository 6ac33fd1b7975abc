package restore_test

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// hidingColours returns for every pixel a colour that is to be hidden.
var hidingColours = map[string]func(i int) float32{
	"black":  func(int) float32 { return 0 },
	"white":  func(int) float32 { return 1 },
	"random": func(i int) float32 { return rand.New(rand.NewPCG(uint64(i), 3)).Float32() },
}

// cutOut returns a noisy picture of which a disc is visible, with an edge of half opacity, a hole, and
// the given colours in what is not.
func cutOut(channels, h, w int, hiding func(i int) float32) *restore.Planar {
	p := noisy(leaves(channels, h, w), 0.05, 7)
	p.Alpha = make([]uint16, h*w)
	for i := range p.Alpha {
		y, x := float64(i/w-h/2), float64(i%w-w/2)
		switch r := math.Hypot(y, x) / float64(min(h, w)/2); {
		case r < 0.1 || r > 0.9:
		case r > 0.85:
			p.Alpha[i] = 0x8080
		default:
			p.Alpha[i] = 0xffff
		}
	}
	for i := range p.Pix {
		if p.Pix[i] = min(max(p.Pix[i], 0), 1); p.Alpha[i%(h*w)] == 0 {
			p.Pix[i] = hiding(i)
		}
	}
	return p
}

// Nothing visible depends on what is hidden, in any task and for any type, and in an image of the same size
// what is hidden stays as it is.
func TestHiddenColoursTakeNoPart(t *testing.T) {
	leaveRuns(t)
	const h, w = 40, 48
	stroke := image.NewGray(image.Rect(0, 0, w, h))
	for x := range w {
		stroke.Pix[h/2*w+x], stroke.Pix[(h/2+1)*w+x] = 255, 255
	}
	kernel, err := deblur.Gaussian(1)
	require.NoError(t, err)
	tv := []restore.Option{restore.Method("tv"), restore.Iterations(8)}
	tasks := map[string]func(image.Image) (image.Image, *restore.Report, error){
		"denoise": func(img image.Image) (image.Image, *restore.Report, error) { return restore.Denoise(t.Context(), img) },
		"denoise tv": func(img image.Image) (image.Image, *restore.Report, error) {
			return restore.Denoise(t.Context(), img, tv...)
		},
		"deblur": func(img image.Image) (image.Image, *restore.Report, error) {
			return restore.Deblur(t.Context(), img, kernel, tv...)
		},
		"inpaint": func(img image.Image) (image.Image, *restore.Report, error) {
			return restore.Inpaint(t.Context(), img, stroke, tv...)
		},
		"inpaint noisy": func(img image.Image) (image.Image, *restore.Report, error) {
			return restore.Inpaint(t.Context(), img, stroke, append(tv, restore.SigmaAuto(), restore.Kernel(kernel))...)
		},
		"upscale": func(img image.Image) (image.Image, *restore.Report, error) {
			return restore.Upscale(t.Context(), img, 2, tv...)
		},
	}
	// The kinds of images that have an alpha channel.
	kinds := map[string]func(p *restore.Planar) image.Image{
		"planar":  func(p *restore.Planar) image.Image { return p },
		"nrgba":   func(p *restore.Planar) image.Image { return painted(p, image.NewNRGBA(p.Bounds())) },
		"nrgba64": func(p *restore.Planar) image.Image { return painted(p, image.NewNRGBA64(p.Bounds())) },
		"rgba":    func(p *restore.Planar) image.Image { return painted(p, image.NewRGBA(p.Bounds())) },
		"other": func(p *restore.Planar) image.Image {
			return struct{ image.Image }{painted(p, image.NewNRGBA(p.Bounds()))}
		},
	}
	for task, run := range tasks {
		for kind, as := range kinds {
			if kind != "planar" && task != "denoise tv" && task != "upscale" {
				continue // the way to a planar image is the same for all tasks
			}
			for _, channels := range []int{1, 3} {
				var first image.Image
				var sigma float64
				for name, hiding := range hidingColours {
					in := as(cutOut(channels, h, w, hiding))
					out, report, err := run(in)
					require.NoError(t, err)
					if first == nil {
						first, sigma = out, report.Noise.Sigma
					}
					require.Equal(t, sigma, report.Noise.Sigma)
					same := out.Bounds() == in.Bounds()
					for y := range out.Bounds().Dy() {
						for x := range out.Bounds().Dx() {
							if at := out.At(x, y).(interface{ RGBA() (r, g, b, a uint32) }); visible(at) {
								require.Equal(t, first.At(x, y), at, "%s of %s, %s at %d,%d", task, kind, name, x, y)
							} else if same && kind != "rgba" {
								require.Equal(t, color.NRGBA64Model.Convert(in.At(x, y)), color.NRGBA64Model.Convert(at))
							}
						}
					}
				}
			}
		}
	}
}

func visible(c color.Color) bool {
	_, _, _, a := c.RGBA()
	return a > 0
}

func painted(p *restore.Planar, to interface {
	image.Image
	Set(x, y int, c color.Color)
}) image.Image {
	for y := range p.Height {
		for x := range p.Width {
			to.Set(x, y, p.At(x, y))
		}
	}
	return to
}

// A sticker of one colour keeps it to its edge when it is enlarged: a picture from a public report, whose hidden
// black made a dashed outline.
func TestEnlargedStickerKeepsItsColour(t *testing.T) {
	leaveRuns(t)
	m, err := imagefile.Read(t.Context(), filepath.Join("testdata", "sticker.png"), imagefile.ReadOptions{})
	require.NoError(t, err)
	out, _, err := restore.Upscale(t.Context(), m.ToImage(), 2)
	require.NoError(t, err)
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			if c := out.At(x, y).(color.NRGBA); c.A > 0 {
				require.InDelta(t, 230, c.R, 1)
				require.InDelta(t, 191, c.G, 1)
				require.InDelta(t, 153, c.B, 1)
			}
		}
	}
}

// The noise of a cut-out is that of what is visible, however much is not.
func TestNoiseOfACutOut(t *testing.T) {
	p := cutOut(3, 160, 160, hidingColours["black"])
	e, err := restore.EstimateNoise(t.Context(), p)
	require.NoError(t, err)
	require.InDelta(t, 0.05, e.Sigma, 0.012)
}

// An image of which nothing is visible is restored all the same, and opaque alpha changes nothing.
func TestAlphaOfOneOpacity(t *testing.T) {
	p := noisy(leaves(3, 24, 20), 0.05, 1)
	want, _, err := restore.Denoise(t.Context(), p, restore.Method("tv"))
	require.NoError(t, err)
	for _, a := range []uint16{0, 0x1234, 0xffff} {
		q := *p
		q.Alpha = make([]uint16, 24*20)
		for i := range q.Alpha {
			q.Alpha[i] = a
		}
		out, _, err := restore.Denoise(t.Context(), &q, restore.Method("tv"))
		require.NoError(t, err)
		require.Equal(t, want.(*restore.Planar).Pix, out.(*restore.Planar).Pix)
		require.Equal(t, q.Alpha, out.(*restore.Planar).Alpha)
	}
}

// Drawings with soft edges have no noise, though what fills the invisible squares is smooth and not flat.
func TestDrawingsOnTransparencyHaveNoNoise(t *testing.T) {
	const side = 100
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := image.NewNRGBA(image.Rect(0, 0, side, side))
		for range 6 {
			cx, cy, radius, thick := side*r.Float64(), side*r.Float64(), 8+40*r.Float64(), 1+2*r.Float64()
			c := color.NRGBA{R: uint8(r.IntN(256)), G: uint8(r.IntN(256)), B: uint8(r.IntN(256))}
			for i := range side * side {
				distance := math.Abs(math.Hypot(float64(i%side)-cx, float64(i/side)-cy) - radius)
				if a := min(1, max(0, thick-distance)); a > 0 {
					c.A = uint8(255 * a)
					m.SetNRGBA(i%side, i/side, c)
				}
			}
		}
		e, err := restore.EstimateNoise(t.Context(), m)
		require.NoError(t, err)
		require.Zero(t, e.Sigma, seed)
	}
}

// What an invisible part of a photograph is filled with is not its blur, and is not taken for data.
func TestHiddenIsNoData(t *testing.T) {
	leaveRuns(t)
	const side = 96
	clean := still(side+8, side+8)
	kernel, err := deblur.Box(9)
	require.NoError(t, err)
	y := noisy(blurred(t, clean, kernel, deblur.Unknown), 0.01, 5)
	truth := crop(clean, 4, 4, side, side)
	seen := func(p *restore.Planar) *restore.Planar {
		q := crop(p, 0, 0, side, side)
		for i := range q.Pix {
			if y, x := i/side%side, i%side; y >= 30 && y < 60 && x >= 40 && x < 70 {
				q.Pix[i] = 0
			}
		}
		return q
	}
	of := func(y *restore.Planar) float64 {
		out, report, err := restore.Deblur(t.Context(), y, kernel, restore.Sigma(0.01))
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.Converges())
		require.Zero(t, report.Noise.Clipped)
		return psnr(t, seen(truth), seen(out.(*restore.Planar)))
	}
	whole := of(y)
	y.Alpha = make([]uint16, side*side)
	for i := range y.Alpha {
		if row, x := i/side, i%side; row < 30 || row >= 60 || x < 40 || x >= 70 {
			y.Alpha[i] = 0xffff
		}
	}
	part := of(y)
	t.Logf("%.2f dB, with a hole %.2f", whole, part)
	require.Greater(t, part, whole-0.7)
}
