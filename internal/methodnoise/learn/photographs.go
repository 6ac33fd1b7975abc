package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/learning"
	"github.com/averaged/imaging/internal/methodnoise"
	"github.com/averaged/imaging/restore"
)

// photograph is a clean one, or one by a camera.
type photograph learning.Photograph

// strengths are those at which pictures are denoised.
var strengths = []float64{methodnoise.LeastFactor, 0.2, 0.35, 0.5, 0.7, 1, 1.4, methodnoise.MostFactor}

// sample is what is learned from: the signs of a noisy picture, and what each strength gives.
type sample struct {
	Photograph int
	Signs      methodnoise.Signs // without Share, until it is learned
	Squares    []square
	Left       float64   // mean squared error of the trial, in squared 255ths
	Before     float64   // PSNR of the noisy picture
	After      []float64 // PSNR at strengths; none where only the network of shares learns from it
}

// measure makes the sample with a number, with the PSNR at each strength or without. The same number gives the same sample; ok
// is false where the picture is not one that Denoise tries its strength on.
func measure(ctx context.Context, r *restore.Restorer, list []learning.Photograph, number uint64, of lesson, strengthsToo bool) (_ sample, ok bool, err error) {
	random := rand.New(rand.NewPCG(number, 78))
	s := sample{Photograph: random.IntN(len(list))}
	p, err := photograph(list[s.Photograph]).scene(random)
	if err != nil {
		return s, false, err
	}
	take := p.taken
	if of.method == restore.Guided {
		take = p.takenAnyhow
	}
	noisy, clean, err := take(random)
	if err != nil || min(noisy.Height, noisy.Width) < leastSide {
		return s, false, err
	}
	if of.grey {
		noisy, clean = noisy.greyed(true), clean.greyed(false)
	}
	img := noisy.planar()
	e, err := restore.EstimateNoise(img)
	if err != nil || e.Kind != restore.CoarseNoise && of.method == restore.Camera {
		return s, false, err
	}
	var shown *methodnoise.Trial
	trial, err := r.Trial(methodnoise.WithObserver(ctx, func(t methodnoise.Trial) { shown = &t }), img, restore.Noise(e))
	if err != nil || trial == nil || shown.Known.Method != of.method {
		return s, false, err
	}
	s.Signs, ok = methodnoise.Measure(shown.Sample, shown.Denoised, shown.Known)
	if !ok {
		return s, false, errors.New("a trial that says nothing has a report")
	}
	s.Squares, s.Left = squaresOf(*shown, s.Signs, clean)
	if !strengthsToo {
		return s, true, nil
	}
	s.Before = psnr(noisy.Pix, clean.Pix)
	for _, strength := range strengths {
		out, _, err := r.Denoise(ctx, img, restore.Noise(e), restore.Strength(strength), restore.Adaptation(false))
		if err != nil {
			return s, false, err
		}
		s.After = append(s.After, psnr(out.(*restore.Planar).Pix, clean.Pix))
	}
	return s, true, nil
}

// leastSide is the least side of a picture, in pixels.
const leastSide = 100

func (p photograph) planar() *restore.Planar {
	return &restore.Planar{Channels: len(p.Pix) / (p.Height * p.Width), Height: p.Height, Width: p.Width, Pix: p.Pix}
}

// greyed is the brightness of the photograph as JFIF has it, of one that is rounded to 8 bits rounded again.
func (p photograph) greyed(rounded bool) photograph {
	n := p.Height * p.Width
	grey := photograph{make([]float32, n), p.Height, p.Width}
	for i := range n {
		grey.Pix[i] = float32(0.299*p.Pix[i]) + float32(0.587*p.Pix[n+i]) + float32(0.114*p.Pix[2*n+i])
	}
	if rounded {
		return photograph(learning.Photograph(grey).Round())
	}
	return grey
}

// psnr is of values from black to white, and no better than what rounding to 8 bits leaves.
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
		if p.Pix, p.Height, p.Width, err = cameranoise.Resized(p.Pix, p.Height, p.Width, factor, cameranoise.Area); err != nil {
			return p, err
		}
	}
	if r.Float64() < 0.25 { // a lens
		p.Pix = cameranoise.Blurred(p.Pix, p.Height, p.Width, learning.Between(r, 0.4, 0.7))
	}
	if r.Float64() < 0.65 {
		return p.textured(min(224, p.Height), min(320, p.Width)), nil
	}
	h, w := min(320, p.Height), min(480, p.Width)
	return p.crop(r.IntN(p.Height-h+1), r.IntN(p.Width-w+1), h, w), nil
}

func (p photograph) crop(top, left, h, w int) photograph {
	return photograph(learning.Photograph(p).Crop(top, left, h, w))
}

// textured is the crop whose calmest tenth has the most fine detail.
func (p photograph) textured(h, w int) photograph {
	const step = 32
	best, top, left := -1.0, 0, 0
	for y := 0; y+h <= p.Height; y += step {
		for x := 0; x+w <= p.Width; x += step {
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
	green := p.Pix[p.Height*p.Width:]
	var energies []float64
	for y := top; y+side <= top+h; y += side {
		for x := left; x+side <= left+w; x += side {
			sum := 0.0
			for dy := 1; dy < side-1; dy++ {
				for dx := 1; dx < side-1; dx++ {
					i := (y+dy)*p.Width + x + dx
					l := float64(4*green[i] - green[i-1] - green[i+1] - green[i-p.Width] - green[i+p.Width])
					sum += l * l
				}
			}
			energies = append(energies, sum)
		}
	}
	slices.Sort(energies)
	return energies[len(energies)/10]
}

// takenAnyhow is taken for a network that denoises white noise as well, and what is told of photographs without noise: a fifth
// have either.
func (p photograph) takenAnyhow(r *rand.Rand) (noisy, clean photograph, err error) {
	switch u := r.Float64(); {
	case u < 0.6:
		return p.taken(r)
	case u < 0.8:
		sigma := math.Exp(learning.Between(r, math.Log(0.005), math.Log(0.1)))
		noisy = photograph{slices.Clone(p.Pix), p.Height, p.Width}
		for i := range noisy.Pix {
			noisy.Pix[i] = min(max(noisy.Pix[i]+float32(sigma*r.NormFloat64()), 0), 1)
		}
		return photograph(learning.Photograph(noisy).Round()), p, nil
	}
	return photograph(learning.Photograph(p).Round()), p, nil
}

// taken is the scene by a camera, with noise, and without it but the same otherwise.
func (p photograph) taken(r *rand.Rand) (noisy, clean photograph, err error) {
	camera := cameranoise.Random(r.Uint64())
	if r.Float64() < 0.65 { // of any ISO number, at the sensor's size
		t := cameranoise.Typical()
		camera.Reduction, camera.Exposure = t.Reduction, t.Exposure
		camera.FullWell, camera.ReadNoise, camera.RowNoise, camera.BlackLevel, camera.Bits = t.FullWell, t.ReadNoise, t.RowNoise, t.BlackLevel, t.Bits
		camera.Resize, camera.Resampling, camera.JPEG = t.Resize, t.Resampling, nil
		camera.ISO = math.Exp(learning.Between(r, math.Log(100), math.Log(8000)))
		if r.Float64() < 0.4 {
			camera.JPEG = []cameranoise.JPEG{{Quality: 80 + r.IntN(17), Subsampling: cameranoise.Subsampling(r.IntN(3))}}
		}
	}
	if noisy.Pix, err = camera.Apply(p.Pix, p.Height, p.Width, r.Uint64()); err != nil {
		return
	}
	if clean.Pix, err = camera.Clean(p.Pix, p.Height, p.Width); err != nil {
		return
	}
	noisy.Height, noisy.Width = camera.Size(p.Height, p.Width)
	clean.Height, clean.Width = noisy.Height, noisy.Width
	return photograph(learning.Photograph(noisy).Round()), clean, nil
}
