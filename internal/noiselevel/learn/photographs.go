package main

import (
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/learning"
	"github.com/averaged/imaging/internal/noiselevel"
)

// photograph is a clean one, or one with noise; of one plane where it is grey.
type photograph learning.Photograph

// sample is what is learned from: the features of a noisy picture, and the level of its noise.
type sample struct {
	Features []float64
	Level    float64
	White    bool // in colour
}

// draw makes the sample with a number: a crop of a photograph, at its scale or smaller, with one kind
// of noise. The same number gives the same sample. ok is false where nothing can be measured.
func draw(list []learning.Photograph, number uint64, grey bool) (_ sample, ok bool, err error) {
	r := rand.New(rand.NewPCG(number, 77))
	p := photograph(list[r.IntN(len(list))])
	if r.Float64() < 0.5 {
		factor := 1 + 1.5*r.Float64()
		if p.Pix, p.Height, p.Width, err = cameranoise.Resized(p.Pix, p.Height, p.Width, factor, cameranoise.Area); err != nil {
			return sample{}, false, err
		}
	}
	side := []int{160, 224, 320}[r.IntN(3)]
	p = p.crop(min(side, p.Height), min(side, p.Width), r)
	noisy, clean, err := p.degraded(r)
	if err != nil {
		return sample{}, false, err
	}
	channels := 3
	if grey {
		noisy, clean, channels = noisy.brightness(), clean.brightness(), 1
	}
	f, err := noiselevel.Features(noisy.Pix, channels, noisy.Height, noisy.Width)
	if err != nil || f == nil {
		return sample{}, false, err
	}
	noise := make([]float32, len(noisy.Pix))
	for i := range noise {
		noise[i] = noisy.Pix[i] - clean.Pix[i]
	}
	return sample{f, noiselevel.TrueLevel(noise, channels, noisy.Height, noisy.Width), noiselevel.WhiteInColour(noisy.Pix, channels, noisy.Height, noisy.Width)}, true, nil
}

func (p photograph) crop(h, w int, r *rand.Rand) photograph {
	top, left := r.IntN(p.Height-h+1), r.IntN(p.Width-w+1)
	return photograph(learning.Photograph(p).Crop(top, left, h, w))
}

func (p photograph) brightness() photograph {
	n := p.Height * p.Width
	out := photograph{make([]float32, n), p.Height, p.Width}
	for i := range out.Pix {
		out.Pix[i] = (p.Pix[i] + p.Pix[n+i] + p.Pix[2*n+i]) / 3
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
		p.Pix = cameranoise.Blurred(p.Pix, p.Height, p.Width, learning.Between(r, 0.6, 2.5)) // out of focus
	} else if r.Float64() < 0.4 {
		p.Pix = p.sharpened(learning.Between(r, 0.2, 1.2))
	}
	noisy, clean = p, p
	switch {
	case kind < cleanPart:
		if r.Float64() < 0.4 { // saved and made smaller, as pictures on the web are
			j := cameranoise.JPEG{Quality: 70 + r.IntN(30), Subsampling: cameranoise.Subsampling(r.IntN(3))}
			if noisy.Pix, err = cameranoise.Compressed(p.Pix, p.Height, p.Width, j); err != nil {
				return
			}
		}
	case kind < whitePart:
		noisy.Pix = p.withNoise(math.Exp(learning.Between(r, math.Log(0.004), math.Log(0.4))), 0, r)
	case kind < blurredPart:
		noisy.Pix = p.withNoise(math.Exp(learning.Between(r, math.Log(0.006), math.Log(0.15))), learning.Between(r, 0.4, 1.4), r)
	default:
		camera := cameranoise.Random(r.Uint64())
		switch u := r.Float64(); {
		case u < smoothShare:
			camera.Resize = 1
			camera.LumaSmoothing = max(camera.LumaSmoothing, learning.Between(r, 0.5, 1.3))
			camera.ChromaSmoothing = max(camera.ChromaSmoothing, learning.Between(r, 1.5, 4))
			if r.Float64() < 0.6 {
				p.Pix = cameranoise.Blurred(p.Pix, p.Height, p.Width, learning.Between(r, 0.5, 1.8))
			}
		case u < smoothShare+sparseShare:
			camera.Resize, camera.Resampling = max(camera.Resize, learning.Between(r, 2, 4)), cameranoise.Nearest
			camera.LumaSmoothing, camera.ChromaSmoothing = 0, 0
		}
		saved := camera.JPEG
		camera.JPEG = nil
		if noisy.Pix, err = camera.Apply(p.Pix, p.Height, p.Width, r.Uint64()); err != nil {
			return
		}
		if clean.Pix, err = camera.Clean(p.Pix, p.Height, p.Width); err != nil {
			return
		}
		noisy.Height, noisy.Width = camera.Size(p.Height, p.Width)
		clean.Height, clean.Width = noisy.Height, noisy.Width
		if r.Float64() < 0.5 {
			noisy.Pix = cameranoise.Smoothed(noisy.Pix, noisy.Height, noisy.Width, learning.Between(r, 0.5, 3))
		}
		for _, j := range saved {
			if noisy.Pix, err = cameranoise.Compressed(noisy.Pix, noisy.Height, noisy.Width, j); err != nil {
				return
			}
		}
	}
	if r.Float64() < 0.2 {
		factor, way := learning.Between(r, 1.2, 2.5), cameranoise.Resampling(r.IntN(2))
		if noisy.Pix, _, _, err = cameranoise.Resized(noisy.Pix, noisy.Height, noisy.Width, factor, way); err != nil {
			return
		}
		if clean.Pix, clean.Height, clean.Width, err = cameranoise.Resized(clean.Pix, clean.Height, clean.Width, factor, way); err != nil {
			return
		}
		noisy.Height, noisy.Width = clean.Height, clean.Width
	}
	if kind < blurredPart && r.Float64() < 0.5 {
		j := cameranoise.JPEG{Quality: 60 + r.IntN(40), Subsampling: cameranoise.Subsampling(r.IntN(3))}
		noisy.Pix, err = cameranoise.Compressed(noisy.Pix, noisy.Height, noisy.Width, j)
		return
	}
	return photograph(learning.Photograph(noisy).Round()), clean, nil
}

// sharpened is an unsharp mask with a Gaussian of 0.8 pixels.
func (p photograph) sharpened(amount float64) []float32 {
	out := cameranoise.Blurred(p.Pix, p.Height, p.Width, 0.8)
	for i, v := range p.Pix {
		out[i] = min(max(v+float32(amount)*(v-out[i]), 0), 1)
	}
	return out
}

// withNoise adds noise of a standard deviation, blurred by a Gaussian unless that is 0 wide, of which
// the channels have a part in common, and which may grow with brightness.
func (p photograph) withNoise(sigma, blur float64, r *rand.Rand) []float32 {
	n := p.Height * p.Width
	common := []float64{0, 0, 0.3, 0.6}[r.IntN(4)]
	signal := r.Float64() < 0.4
	shared := field(p.Height, p.Width, blur, r)
	out := make([]float32, 3*n)
	for c := range 3 {
		own := field(p.Height, p.Width, blur, r)
		for i := range n {
			v := float64(p.Pix[c*n+i])
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
