package noise

import (
	"math"

	"github.com/averaged/imaging/internal/parallel"
)

// fromDifferences measures images with a side shorter than a patch. Second differences, along both directions where
// both have three pixels, cancel linear content; their median absolute value is divided by what noise of standard
// deviation 1 gives (Immerkær 1996, "Fast noise variance estimation", has the mean in place of the median).
func fromDifferences(pix []float32, channels, height, width int) WhiteNoise {
	e := WhiteNoise{Note: noteNarrow, PerChannel: make([]float64, channels)}
	parallel.Concurrently(channels, func(c int) {
		e.PerChannel[c] = bySecondDifferences(pix[c*height*width:(c+1)*height*width], height, width)
	})
	square := 0.0
	for _, sigma := range e.PerChannel {
		square += sigma * sigma
	}
	e.Sigma = math.Sqrt(square / float64(channels))
	return e
}

func bySecondDifferences(plane []float32, height, width int) float64 {
	filter := func(side int) (mask []float64, energy float64) {
		if side < 3 {
			return []float64{1}, 1
		}
		return []float64{1, -2, 1}, 6
	}
	down, downEnergy := filter(height)
	across, acrossEnergy := filter(width)
	if len(across)*len(down) == 1 {
		return 0
	}
	var values []float32
	for y := range height - len(down) + 1 {
		for x := range width - len(across) + 1 {
			sum := 0.0
			for i, a := range down {
				for j, b := range across {
					sum += a * b * float64(plane[(y+i)*width+x+j])
				}
			}
			values = append(values, float32(math.Abs(sum)))
		}
	}
	return float64(selected(values, len(values)/2)) / (normalMAD * math.Sqrt(downEnergy*acrossEnergy))
}
