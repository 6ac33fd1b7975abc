package noiselevel

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
		v := pix[x]
		if channels == 3 {
			v = 0.299*v + 0.587*pix[plane+x] + 0.114*pix[2*plane+x]
		}
		row[x] = float32(int32(255*v + 0.5))
	}
}
