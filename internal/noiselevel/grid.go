package noiselevel

import "slices"

// JPEG divides the coefficients of its blocks by steps and rounds them, so that of the finest ones nearly all are zero,
// however strong the noise was. Blocks on any other grid have some of all sizes. So noise that was saved as JPEG is
// known from noise that a camera has smoothed, with no look at the level of either.

const (
	// finestFrom is the least u+v of the coefficients that are counted, zeroWithin what counts as zero: the values of
	// pixels are rounded as well, after the transform back.
	finestFrom, zeroWithin = 8, 1.0 / 255
	// maxBlocks is about how many blocks are looked at on every grid.
	maxBlocks = 400
	// White noise of 0.03 to 0.1 in JPEG at qualities of 75 to 95 has 2.1 times as many zeros on its grid and more, 48
	// photographs without JPEG up to 1.1 times, photographs by cameras in JPEG anything in between.
	someRounded, surelyRounded = 1.5, 2.0
)

// rounded returns how certain it is, from 0 to 1, that JPEG has rounded what varies fastest in an image of one channel or
// three: by how many more of the finest coefficients of brightness are zero on one of the 64 grids than on the one in
// their middle. The grid need not begin at the corner, so that crops are known as well.
func rounded(pix []float32, channels, height, width int) float64 {
	const window = 2*blockSide - 1
	if min(height, width) < window {
		return 0
	}
	rows, cols := (height-window)/blockSide+1, (width-window)/blockSide+1
	stride := 1 // of blocks; odd, so that all parts of an image are looked at
	for (rows/stride+1)*(cols/stride+1) > maxBlocks {
		stride += 2
	}
	basis := cosineBasis()
	var zeros [blockSide * blockSide]float64
	for row := 0; row < rows; row += stride {
		for col := 0; col < cols; col += stride {
			countZeros(&zeros, &basis, pix[row*blockSide*width+col*blockSide:], channels, width, height*width)
		}
	}
	most := slices.Max(zeros[:])
	slices.Sort(zeros[:])
	middle := zeros[len(zeros)/2]
	return rise(most/max(middle, 1), someRounded, surelyRounded)
}

// countZeros adds, for every grid, the zeros among the finest coefficients of the block that begins at the grid's place
// in the square of 15×15 pixels at the start of pix.
func countZeros(zeros *[blockSide * blockSide]float64, basis *[patchSide][patchSide]float32, pix []float32, channels, width, plane int) {
	const window = 2*blockSide - 1
	var across [blockSide][blockSide][window]float32 // by the grid's column, frequency along the row, row
	for y := range window {
		var light [window]float32
		for x := range light {
			light[x] = brightnessAt(pix, y*width+x, channels, plane)
		}
		for left := range blockSide {
			part := [blockSide]float32(light[left:])
			for v := range blockSide {
				across[left][v][y] = float32(dot(&basis[v], &part))
			}
		}
	}
	for left := range blockSide {
		for top := range blockSide {
			for v := 1; v < blockSide; v++ {
				part := [blockSide]float32(across[left][v][top:])
				for u := finestFrom - v; u < blockSide; u++ {
					if c := dot(&basis[u], &part); c > -zeroWithin && c < zeroWithin {
						zeros[top*blockSide+left]++
					}
				}
			}
		}
	}
}
