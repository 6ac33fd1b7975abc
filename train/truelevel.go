package train

import (
	"math"

	"github.com/averaged/imaging/internal/noise"
)

// trueLevel is the level of noise that is known, as the difference of two images of one or three channels:
// the standard deviation of white noise that a denoiser should be told of. With the deviations s₁, s₂, s₃ of
// brightness at periods of 12, 6 and 3.5 pixels it is
//
//	0.95·√(0.35·s₁² + 0.4·s₂² + 0.25·s₃²):
//
// what counts is the density of the noise at low frequencies, since a denoiser that is told less
// takes coarse noise for content.
func trueLevel(pix []float32, channels, height, width int) float64 {
	basis := noise.CosineBasis()
	var energy, counts [3]float64
	for top := 0; top+trueLevelSide <= height; top += trueLevelSide {
		for left := 0; left+trueLevelSide <= width; left += trueLevelSide {
			var light, rows [trueLevelSide][trueLevelSide]float32
			for y := range light {
				for x := range light[y] {
					light[y][x] = axisOfBrightness(pix, (top+y)*width+left+x, channels, height*width)
				}
			}
			for y := range light {
				for u := range basis {
					rows[u][y] = trueLevelDot(&basis[u], &light[y])
				}
			}
			for u := range basis {
				for v := range basis {
					if b := bandOf(u, v); b >= 0 {
						f := float64(trueLevelDot(&basis[v], &rows[u]))
						energy[b] += f * f
						counts[b]++
					}
				}
			}
		}
	}
	sum := 0.0
	for b, weight := range [3]float64{0.35, 0.4, 0.25} {
		sum += weight * energy[b] / max(counts[b], 1)
	}
	return 0.95 * math.Sqrt(sum)
}

// axisOfBrightness is a pixel along (1,1,1)/√3.
func axisOfBrightness(pix []float32, i, channels, plane int) float32 {
	if channels == 1 {
		return pix[i]
	}
	return (pix[i] + pix[plane+i] + pix[2*plane+i]) * (1 / 1.7320508075688772)
}

// bandOf returns the band of the coefficient (u, v) of 8×8 pixels, whose period is 16/√(u²+v²) pixels, or −1.
func bandOf(u, v int) int {
	switch r := math.Hypot(float64(u), float64(v)); {
	case r < 0.9 || r >= 5.7:
		return -1
	case r < 2:
		return 0
	case r < 3.7:
		return 1
	}
	return 2
}

// trueLevelSide is the side of the squares that are transformed.
const trueLevelSide = 8

func trueLevelDot(a, b *[trueLevelSide]float32) (sum float32) {
	for i, v := range a {
		sum += float32(v * b[i])
	}
	return sum
}
