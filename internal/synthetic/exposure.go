package synthetic

import (
	"math"
	"slices"

	"github.com/averaged/imaging/internal/srgb"
)

// Exposed returns a picture of a scene with light times as much light, in linear light (sRGB's curve
// undone and done again), clipped at white. Values must be in [0,1].
func Exposed(pix []float32, light float64) []float32 {
	out := Relit(pix, light)
	for i, v := range out {
		out[i] = min(v, 1)
	}
	return out
}

// Relit is Exposed without clipping: what is brighter than white is above 1. A sensor clips after its noise, so that
// where light is far too much nothing is left of the noise.
func Relit(pix []float32, light float64) []float32 {
	out := make([]float32, len(pix))
	for i, v := range pix {
		out[i] = float32(srgb.Encoded(light * srgb.Linear(float64(v))))
	}
	return out
}

// Overexposed returns a picture with as much more light as clips a share of its samples, from 0 to 1,
// at white. A picture that has as many white samples already stays as it is.
func Overexposed(pix []float32, share float64) []float32 {
	return Exposed(pix, Overexposure(pix, share))
}

// Overexposure is the light, at least 1, that clips a share of the samples of a picture at white.
func Overexposure(pix []float32, share float64) float64 {
	sorted := slices.Clone(pix)
	slices.Sort(sorted)
	at := int(float64(len(sorted)-1) * (1 - share))
	// A picture that is mostly black has no such light; 64 times is enough for the others.
	return max(1/max(srgb.Linear(float64(sorted[at])), 1./64), 1)
}

// Rounded returns a picture as a file of integers holds it: clipped to [0,1] and rounded to multiples
// of 1/largest, where largest is 255 for 8 bits and 65535 for 16.
func Rounded(pix []float32, largest int) []float32 {
	out := make([]float32, len(pix))
	for i, v := range pix {
		out[i] = float32(math.Round(float64(clipped(v))*float64(largest)) / float64(largest))
	}
	return out
}

// Scaled returns a picture with all samples times a factor, for ranges of values that are not [0,1].
func Scaled(pix []float32, factor float64) []float32 {
	out := make([]float32, len(pix))
	for i, v := range pix {
		out[i] = v * float32(factor)
	}
	return out
}
