package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/methodnoise"
	"github.com/averaged/imaging/restore"
)

// photograph is a clean one, in colour.
type photograph struct {
	pix           []float32
	height, width int
}

func readPhotographs(ctx context.Context, folder string) ([]photograph, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []photograph
	for _, e := range entries {
		m, err := imagefile.ReadContext(ctx, filepath.Join(folder, e.Name()), imagefile.ReadOptions{})
		if err != nil {
			return nil, err
		}
		if m.Channels == 3 {
			list = append(list, photograph{m.Pix, m.Height, m.Width})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no colour photographs", folder)
	}
	return list, nil
}

// strengths are those at which pictures are denoised.
var strengths = []float64{methodnoise.LeastFactor, 0.2, 0.35, 0.5, 0.7, 1, methodnoise.MostFactor}

// sample is what is learned from: the signs of a noisy picture, and what each strength gives.
type sample struct {
	Photograph int
	Signs      methodnoise.Signs
	Before     float64   // PSNR of the noisy picture
	After      []float64 // PSNR at strengths
}

// measure makes the sample with a number. The same number gives the same sample; ok is false where the picture is not one
// that Denoise tries its strength on.
func measure(ctx context.Context, r *restore.Restorer, list []photograph, number uint64) (_ sample, ok bool, err error) {
	random := rand.New(rand.NewPCG(number, 78))
	s := sample{Photograph: random.IntN(len(list))}
	p, err := list[s.Photograph].scene(random)
	if err != nil {
		return s, false, err
	}
	noisy, clean, err := p.taken(random)
	if err != nil || min(noisy.height, noisy.width) < leastSide {
		return s, false, err
	}
	img := noisy.planar()
	e, err := restore.EstimateNoise(img)
	if err != nil || e.Kind != restore.CoarseNoise {
		return s, false, err
	}
	trial, err := r.Trial(ctx, img, restore.Noise(e))
	if err != nil || trial == nil {
		return s, false, err
	}
	s.Signs = methodnoise.Signs{Together: trial.Together, Along: trial.Along, Colour: trial.Colour, Spread: trial.Spread, Floor: trial.Floor}
	s.Before = psnr(noisy.pix, clean.pix)
	for _, strength := range strengths {
		out, _, err := r.Denoise(ctx, img, restore.Noise(e), restore.Strength(strength), restore.Adaptation(false))
		if err != nil {
			return s, false, err
		}
		s.After = append(s.After, psnr(out.(*restore.Planar).Pix, clean.pix))
	}
	return s, true, nil
}

// leastSide is the least side of a picture, in pixels.
const leastSide = 100

func (p photograph) planar() *restore.Planar {
	return &restore.Planar{Channels: 3, Height: p.height, Width: p.width, Pix: p.pix}
}

// psnr is rounded to 8 bits, where nothing is better than rounding.
func psnr(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		d := 255 * (min(max(float64(v), 0), 1) - float64(b[i]))
		sum += float64(d * d)
	}
	const rounding = 0.5
	return 10 * math.Log10(255*255/(sum/float64(len(a))+rounding))
}

// scene is a crop of the photograph, at its scale or smaller, often the one with the most texture.
func (p photograph) scene(r *rand.Rand) (_ photograph, err error) {
	if r.Float64() < 0.6 {
		factor := 1 + r.Float64()
		if p.pix, p.height, p.width, err = cameranoise.Resized(p.pix, p.height, p.width, factor, cameranoise.Area); err != nil {
			return p, err
		}
	}
	if r.Float64() < 0.25 { // a lens
		p.pix = cameranoise.Blurred(p.pix, p.height, p.width, between(r, 0.4, 0.7))
	}
	if r.Float64() < 0.65 {
		return p.textured(min(224, p.height), min(320, p.width)), nil
	}
	h, w := min(320, p.height), min(480, p.width)
	return p.crop(r.IntN(p.height-h+1), r.IntN(p.width-w+1), h, w), nil
}

func (p photograph) crop(top, left, h, w int) photograph {
	out := photograph{make([]float32, 0, 3*h*w), h, w}
	for c := range 3 {
		for y := range h {
			out.pix = append(out.pix, p.pix[(c*p.height+top+y)*p.width+left:][:w]...)
		}
	}
	return out
}

// textured is the crop whose calmest tenth has the most fine detail.
func (p photograph) textured(h, w int) photograph {
	const step = 32
	best, top, left := -1.0, 0, 0
	for y := 0; y+h <= p.height; y += step {
		for x := 0; x+w <= p.width; x += step {
			if d := p.calmest(y, x, h, w); d > best {
				best, top, left = d, y, x
			}
		}
	}
	return p.crop(top, left, h, w)
}

// calmest is the mean square of the Laplacian of green, in squares of 8×8, that a tenth of them has less of.
func (p photograph) calmest(top, left, h, w int) float64 {
	const side = 8
	green := p.pix[p.height*p.width:]
	var energies []float64
	for y := top; y+side <= top+h; y += side {
		for x := left; x+side <= left+w; x += side {
			sum := 0.0
			for dy := 1; dy < side-1; dy++ {
				for dx := 1; dx < side-1; dx++ {
					i := (y+dy)*p.width + x + dx
					l := float64(4*green[i] - green[i-1] - green[i+1] - green[i-p.width] - green[i+p.width])
					sum += l * l
				}
			}
			energies = append(energies, sum)
		}
	}
	slices.Sort(energies)
	return energies[len(energies)/10]
}

// taken is the scene by a camera, with noise, and without it but the same otherwise.
func (p photograph) taken(r *rand.Rand) (noisy, clean photograph, err error) {
	camera := cameranoise.Random(r.Uint64())
	if r.Float64() < 0.65 { // of any ISO number, at the sensor's size
		t := cameranoise.Typical()
		camera.Reduction, camera.Exposure = t.Reduction, t.Exposure
		camera.FullWell, camera.ReadNoise, camera.RowNoise, camera.BlackLevel, camera.Bits = t.FullWell, t.ReadNoise, t.RowNoise, t.BlackLevel, t.Bits
		camera.Resize, camera.Resampling, camera.JPEG = t.Resize, t.Resampling, nil
		camera.ISO = math.Exp(between(r, math.Log(100), math.Log(8000)))
		if r.Float64() < 0.4 {
			camera.JPEG = []cameranoise.JPEG{{Quality: 80 + r.IntN(17), Subsampling: cameranoise.Subsampling(r.IntN(3))}}
		}
	}
	if noisy.pix, err = camera.Apply(p.pix, p.height, p.width, r.Uint64()); err != nil {
		return
	}
	if clean.pix, err = camera.Clean(p.pix, p.height, p.width); err != nil {
		return
	}
	noisy.height, noisy.width = camera.Size(p.height, p.width)
	clean.height, clean.width = noisy.height, noisy.width
	for i, v := range noisy.pix {
		noisy.pix[i] = float32(math.Round(255*float64(v)) / 255)
	}
	return
}

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }
