package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/noiselevel"
)

// photograph is a clean one, in colour.
type photograph struct {
	pix           []float32
	height, width int
}

func readPhotographs(folder string) ([]photograph, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []photograph
	for _, e := range entries {
		m, err := imagefile.ReadContext(context.Background(), filepath.Join(folder, e.Name()), imagefile.ReadOptions{})
		if err != nil {
			return nil, err
		}
		if m.Channels != 3 {
			continue
		}
		list = append(list, photograph{m.Pix, m.Height, m.Width})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no colour photographs", folder)
	}
	return list, nil
}

// sample is what is learned from: the features of a noisy picture, and the level of its noise.
type sample struct {
	Features []float64
	Level    float64
	White    bool // in colour
}

// draw makes the sample with a number: a crop of a photograph, at its scale or smaller, with one kind
// of noise. The same number gives the same sample. ok is false where nothing can be measured.
func draw(list []photograph, number uint64, grey bool) (_ sample, ok bool, err error) {
	r := rand.New(rand.NewPCG(number, 77))
	p := list[r.IntN(len(list))]
	if r.Float64() < 0.5 {
		factor := 1 + 1.5*r.Float64()
		if p.pix, p.height, p.width, err = cameranoise.Resized(p.pix, p.height, p.width, factor, cameranoise.Area); err != nil {
			return sample{}, false, err
		}
	}
	side := []int{160, 224, 320}[r.IntN(3)]
	p = p.crop(min(side, p.height), min(side, p.width), r)
	noisy, clean, err := p.degraded(r)
	if err != nil {
		return sample{}, false, err
	}
	channels := 3
	if grey {
		noisy, clean, channels = noisy.brightness(), clean.brightness(), 1
	}
	f, err := noiselevel.Features(noisy.pix, channels, noisy.height, noisy.width)
	if err != nil || f == nil {
		return sample{}, false, err
	}
	noise := make([]float32, len(noisy.pix))
	for i := range noise {
		noise[i] = noisy.pix[i] - clean.pix[i]
	}
	return sample{f, noiselevel.TrueLevel(noise, channels, noisy.height, noisy.width), noiselevel.WhiteInColour(noisy.pix, channels, noisy.height, noisy.width)}, true, nil
}

func (p photograph) crop(h, w int, r *rand.Rand) photograph {
	y0, x0 := r.IntN(p.height-h+1), r.IntN(p.width-w+1)
	out := photograph{make([]float32, 0, 3*h*w), h, w}
	for c := range 3 {
		for y := range h {
			out.pix = append(out.pix, p.pix[(c*p.height+y0+y)*p.width+x0:][:w]...)
		}
	}
	return out
}

func (p photograph) brightness() photograph {
	n := p.height * p.width
	out := photograph{make([]float32, n), p.height, p.width}
	for i := range out.pix {
		out.pix[i] = (p.pix[i] + p.pix[n+i] + p.pix[2*n+i]) / 3
	}
	return out
}

// The parts of all samples: photographs without noise, of which some are out of focus, white noise,
// blurred noise, and for the rest cameras.
const (
	softPart    = 0.08
	cleanPart   = 0.33
	whitePart   = 0.48
	blurredPart = 0.56
)

// Of the cameras, these shares make pictures as most people have them, and as the recipe "camera" of
// package train draws them: as large as the sensor and smoothed, colour most; or made smaller by leaving
// pixels out. The rest is of all kinds.
const smoothShare, sparseShare = 0.25, 0.08

// degraded returns the photograph with noise, and without it but the same otherwise.
func (p photograph) degraded(r *rand.Rand) (noisy, clean photograph, err error) {
	kind := r.Float64()
	if kind < softPart || r.Float64() < 0.1 {
		p.pix = cameranoise.Blurred(p.pix, p.height, p.width, between(r, 0.6, 2.5)) // out of focus
	} else if r.Float64() < 0.4 {
		p.pix = p.sharpened(between(r, 0.2, 1.2))
	}
	noisy, clean = p, p
	switch {
	case kind < cleanPart:
		if r.Float64() < 0.4 { // saved and made smaller, as pictures on the web are
			j := cameranoise.JPEG{Quality: 70 + r.IntN(30), Subsampling: cameranoise.Subsampling(r.IntN(3))}
			if noisy.pix, err = cameranoise.Compressed(p.pix, p.height, p.width, j); err != nil {
				return
			}
		}
	case kind < whitePart:
		noisy.pix = p.withNoise(math.Exp(between(r, math.Log(0.004), math.Log(0.4))), 0, r)
	case kind < blurredPart:
		noisy.pix = p.withNoise(math.Exp(between(r, math.Log(0.006), math.Log(0.15))), between(r, 0.4, 1.4), r)
	default:
		camera := cameranoise.Random(r.Uint64())
		switch u := r.Float64(); {
		case u < smoothShare:
			camera.Resize = 1
			camera.LumaSmoothing = max(camera.LumaSmoothing, between(r, 0.5, 1.3))
			camera.ChromaSmoothing = max(camera.ChromaSmoothing, between(r, 1.5, 4))
			if r.Float64() < 0.6 {
				p.pix = cameranoise.Blurred(p.pix, p.height, p.width, between(r, 0.5, 1.8))
			}
		case u < smoothShare+sparseShare:
			camera.Resize, camera.Resampling = max(camera.Resize, between(r, 2, 4)), cameranoise.Nearest
			camera.LumaSmoothing, camera.ChromaSmoothing = 0, 0
		}
		saved := camera.JPEG
		camera.JPEG = nil
		if noisy.pix, err = camera.Apply(p.pix, p.height, p.width, r.Uint64()); err != nil {
			return
		}
		if clean.pix, err = camera.Clean(p.pix, p.height, p.width); err != nil {
			return
		}
		noisy.height, noisy.width = camera.Size(p.height, p.width)
		clean.height, clean.width = noisy.height, noisy.width
		if r.Float64() < 0.5 {
			noisy.pix = cameranoise.Smoothed(noisy.pix, noisy.height, noisy.width, between(r, 0.5, 3))
		}
		for _, j := range saved {
			if noisy.pix, err = cameranoise.Compressed(noisy.pix, noisy.height, noisy.width, j); err != nil {
				return
			}
		}
	}
	if r.Float64() < 0.2 {
		factor, way := between(r, 1.2, 2.5), cameranoise.Resampling(r.IntN(2))
		if noisy.pix, _, _, err = cameranoise.Resized(noisy.pix, noisy.height, noisy.width, factor, way); err != nil {
			return
		}
		if clean.pix, clean.height, clean.width, err = cameranoise.Resized(clean.pix, clean.height, clean.width, factor, way); err != nil {
			return
		}
		noisy.height, noisy.width = clean.height, clean.width
	}
	if kind < blurredPart && r.Float64() < 0.5 {
		j := cameranoise.JPEG{Quality: 60 + r.IntN(40), Subsampling: cameranoise.Subsampling(r.IntN(3))}
		noisy.pix, err = cameranoise.Compressed(noisy.pix, noisy.height, noisy.width, j)
		return
	}
	rounded := make([]float32, len(noisy.pix))
	for i, v := range noisy.pix {
		rounded[i] = float32(math.Round(255*float64(v)) / 255)
	}
	noisy.pix = rounded
	return
}

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// sharpened is an unsharp mask with a Gaussian of 0.8 pixels.
func (p photograph) sharpened(amount float64) []float32 {
	out := cameranoise.Blurred(p.pix, p.height, p.width, 0.8)
	for i, v := range p.pix {
		out[i] = min(max(v+float32(amount)*(v-out[i]), 0), 1)
	}
	return out
}

// withNoise adds noise of a standard deviation, blurred by a Gaussian unless that is 0 wide, of which
// the channels have a part in common, and which may grow with brightness.
func (p photograph) withNoise(sigma, blur float64, r *rand.Rand) []float32 {
	n := p.height * p.width
	common := []float64{0, 0, 0.3, 0.6}[r.IntN(4)]
	signal := r.Float64() < 0.4
	shared := field(p.height, p.width, blur, r)
	out := make([]float32, 3*n)
	for c := range 3 {
		own := field(p.height, p.width, blur, r)
		for i := range n {
			v := float64(p.pix[c*n+i])
			s := sigma
			if signal {
				s *= math.Sqrt(0.3 + 1.4*v)
			}
			v += s * (math.Sqrt(common)*shared[i] + math.Sqrt(1-common)*own[i])
			out[c*n+i] = float32(min(max(v, 0), 1))
		}
	}
	return out
}

// field is Gaussian noise of standard deviation 1, blurred by a Gaussian.
func field(h, w int, blur float64, r *rand.Rand) []float64 {
	f := make([]float64, h*w)
	for i := range f {
		f[i] = r.NormFloat64()
	}
	if blur == 0 {
		return f
	}
	f = cameranoise.BlurredPlane(f, h, w, blur)
	square := 0.0
	for _, v := range f {
		square += v * v
	}
	scale := math.Sqrt(float64(len(f)) / square)
	for i := range f {
		f[i] *= scale
	}
	return f
}
