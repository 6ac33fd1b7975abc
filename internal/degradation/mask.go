package degradation

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// BlackAndWhite is a mask that is white where m is brighter than half, and black elsewhere.
func BlackAndWhite(m image.Image) *image.Gray {
	b := m.Bounds()
	mask := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for i := range mask.Pix {
		if color.Gray16Model.Convert(m.At(b.Min.X+i%b.Dx(), b.Min.Y+i/b.Dx())).(color.Gray16).Y >= 0x8000 {
			mask.Pix[i] = 255
		}
	}
	return mask
}

// MissingPixels draws a mask of a share of the pixels, rounded, but at least one and not all of
// them: selection sampling (Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S).
func MissingPixels(h, w int, share float64, seed uint64) *image.Gray {
	mask := image.NewGray(image.Rect(0, 0, w, h))
	n := h * w
	left := min(max(int(math.Round(share*float64(n))), 1), n-1)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range mask.Pix {
		if random.IntN(n-i) < left {
			mask.Pix[i] = 255
			left--
		}
	}
	return mask
}
