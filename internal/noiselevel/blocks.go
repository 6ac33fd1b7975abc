package noiselevel

import "math"

// compressed tells whether flat areas are flat because JPEG made them so: then the steps between them
// lie on the grid of its blocks. In drawings they lie anywhere.
func compressed(pix []float32, channels, height, width int) bool {
	steps, onGrid := 0, 0
	row := make([]float32, width)
	for y := range height {
		luma(row, pix[y*width:], channels, height*width)
		for x := 2; x+1 < width; x++ {
			// A step with two equal neighbours on either side.
			if row[x] != row[x-1] && row[x-2] == row[x-1] && row[x+1] == row[x] {
				steps++
				if x%blockSide == 0 {
					onGrid++
				}
			}
		}
	}
	return float64(onGrid) >= leastSteps*float64(height*width/blockSide) && float64(onGrid) >= shareOnGrid*float64(steps)
}

const (
	blockSide = 8
	// Tuned on photographs of val at qualities 10 to 90, and on drawings saved without loss: of the
	// places on the grid so many have steps, and of the steps so many are on the grid, where an
	// eighth would be by chance.
	leastSteps, shareOnGrid = 0.01, 0.4
)

// luma sets a row to its brightness as JFIF has it, in steps of a 255th.
func luma(row, pix []float32, channels, plane int) {
	for x := range row {
		row[x] = float32(int32(255*brightnessAt(pix, x, channels, plane) + 0.5))
	}
}

// brightnessAt is the brightness of sample i as JFIF has it.
func brightnessAt(pix []float32, i, channels, plane int) float32 {
	if channels != 3 {
		return pix[i]
	}
	return 0.299*pix[i] + 0.587*pix[plane+i] + 0.114*pix[2*plane+i]
}

// Blocked tells whether an image shows the blocks of JPEG: between them, at every eighth row and column
// from the first on, brightness bends more than elsewhere.
func Blocked(pix []float32, channels, height, width int) bool {
	if height < 3*blockSide || width < 3*blockSide {
		return false
	}
	light := make([]float32, height*width)
	for i := range light {
		light[i] = brightnessAt(pix, i, channels, height*width)
	}
	return bends(light, height, width, width, 1) > leastBend && bends(light, width, height, 1, width) > leastBend
}

// leastBend is how much more brightness bends between blocks. Blurred photographs that are not
// compressed have 0.98 to 1.02, at qualities of 75 to 92 with noise of up to 2.55 of 255 1.33 to 2.25,
// at 97 without noise 1.11 to 1.35.
const leastBend = 1.1

// bends returns by how much more brightness bends at blocks' ends along lines, so many numbers from
// one line to the next and from one element to the next; 1 is not at all. Edges count no more than
// three times the mean.
func bends(light []float32, lines, elements, line, step int) float64 {
	most := math.Inf(1)
	var sums [blockSide]float64
	for range 2 {
		sums = [blockSide]float64{}
		for l := range lines {
			for e := 2; e+1 < elements; e++ {
				at := func(e int) float64 { return float64(light[l*line+e*step]) }
				bend := math.Abs(at(e) - at(e-1) - (at(e-1)-at(e-2)+at(e+1)-at(e))/2)
				sums[e%blockSide] += min(bend, most)
			}
		}
		total := 0.0
		for _, s := range sums {
			total += s
		}
		most = 3 * total / float64(lines*(elements-3))
	}
	within := 0.0
	for _, sum := range sums[1:] {
		within += sum
	}
	places := (elements - 2) / blockSide // of ends, along a line
	ends := sums[0] / float64(places)
	within /= float64(elements - 3 - places)
	if within == 0 {
		return 1
	}
	return ends / within
}
