package imagetest

import (
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
)

// Random returns an image of random samples that its depth can hold exactly.
func Random(width, height, channels, depth int, alpha bool) *picture.Image {
	rng := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	m := picture.New(width, height, channels, depth, alpha)
	for i := range m.Pix {
		switch depth {
		case 8:
			m.Pix[i] = samples.Unit8[rng.IntN(256)]
		case 16:
			m.Pix[i] = samples.Unit16(uint16(rng.IntN(65536)))
		default:
			m.Pix[i] = float32(rng.NormFloat64())
		}
	}
	for i := range m.Alpha {
		m.Alpha[i] = uint16(rng.IntN(65536))
		if depth == 8 {
			m.Alpha[i] = uint16(rng.IntN(256)) * 257
		}
	}
	return m
}

// Smooth returns an image that JPEG codes well, without symmetry.
func Smooth(width, height, channels int) *picture.Image {
	m := picture.New(width, height, channels, 8, false)
	for c := range channels {
		p := m.Plane(c)
		for y := range height {
			for x := range width {
				v := 0.5 + 0.3*math.Sin(0.11*float64(x)+float64(c))*math.Cos(0.07*float64(y)) + 0.15*float64(x)/float64(width)
				p[y*width+x] = samples.Unit8[samples.Quantise(float32(v), 255)]
			}
		}
	}
	return m
}

// PSNR is the peak signal-to-noise ratio of samples whose white is 1, in dB.
func PSNR(a, b []float32) float64 {
	var s float64
	for i := range a {
		d := float64(a[i] - b[i])
		s += d * d
	}
	return -10 * math.Log10(s/float64(len(a)))
}
