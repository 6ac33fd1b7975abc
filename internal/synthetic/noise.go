package synthetic

import (
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
)

// White returns a picture with Gaussian noise of standard deviation sigma added to each sample. It is
// not clipped.
func White(pix []float32, sigma float64, seed uint64) []float32 {
	out := make([]float32, len(pix))
	for i, v := range pix {
		out[i] = v + float32(sigma)*backend.GaussianAt(seed, uint64(i))
	}
	return out
}

// Brightness returns a picture of three planes with the same Gaussian noise of standard deviation
// sigma added to all of them, so that the noise has no colour. It is not clipped.
func Brightness(rgb []float32, sigma float64, seed uint64) []float32 {
	n := len(rgb) / 3
	out := make([]float32, len(rgb))
	for i, v := range rgb {
		out[i] = v + float32(sigma)*backend.GaussianAt(seed, uint64(i%n))
	}
	return out
}

// SaltAndPepper returns a picture of the given number of planes in which a share of the pixels, from 0
// to 1, is replaced by black or white, equally often.
func SaltAndPepper(pix []float32, channels int, share float64, seed uint64) []float32 {
	r := random(seed)
	out := append([]float32(nil), pix...)
	n := len(pix) / channels
	for i := range n {
		if r.Float64() >= share {
			continue
		}
		v := float32(r.IntN(2))
		for c := range channels {
			out[c*n+i] = v
		}
	}
	return out
}

// HotPixels returns a picture of the given number of planes in which a share of the pixels, from 0 to
// 1, has one sample, of any plane, that is brighter by 0.3 to 1, at most 1: sensor elements that charge by
// themselves.
func HotPixels(pix []float32, channels int, share float64, seed uint64) []float32 {
	r := random(seed)
	out := append([]float32(nil), pix...)
	n := len(pix) / channels
	for i := range n {
		if r.Float64() >= share {
			continue
		}
		at := r.IntN(channels)*n + i
		out[at] = min(out[at]+0.3+0.7*r.Float32(), 1)
	}
	return out
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5ce11e5)) }
