package noiselevel

import "math"

// fromDifferences measures images with a side shorter than a patch. Second
// differences, along both directions where both have three pixels, cancel linear
// content; their median absolute value is divided by what noise of standard
// deviation 1 gives (Immerkær 1996, "Fast noise variance estimation", has the mean
// in place of the median).
func fromDifferences(pix []float32, channels, height, width int) Estimation {
	e := Estimation{Note: noteNarrow}
	square := 0.0
	for c := range channels {
		plane := pix[c*height*width : (c+1)*height*width]
		sigma := secondDifferences(plane, height, width)
		e.PerChannel = append(e.PerChannel, sigma)
		square += sigma * sigma
	}
	e.Sigma = math.Sqrt(square / float64(channels))
	return e
}

func secondDifferences(plane []float32, height, width int) float64 {
	across := []float64{1}
	if width >= 3 {
		across = []float64{1, -2, 1}
	}
	down := []float64{1}
	if height >= 3 {
		down = []float64{1, -2, 1}
	}
	if len(across)*len(down) == 1 {
		return 0
	}
	energy := 1.0
	for _, mask := range [][]float64{across, down} {
		if len(mask) == 3 {
			energy *= 6
		}
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
	return float64(median(values)) / (normalMAD * math.Sqrt(energy))
}
