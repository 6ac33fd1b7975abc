package jpegblock

import "math"

// maxBlocks is how many blocks RoundingNoise looks at, at most.
const maxBlocks = 4096

// RoundingNoise returns the standard deviation of what the rounding of coefficients has changed in the samples of luma, where
// 1 is white. Coefficients of one frequency are taken for Laplacian, with the share that was not rounded to 0 (Lam and
// Goodman, 2000). Those that all are 0 tell nothing, and count as exact. y has rows of stride samples, and blocks begin at
// its first one. A plane without a whole block has no noise.
func RoundingNoise(y []uint8, stride, width, height int, steps *[64]uint16) float64 {
	across, down := width/8, height/8
	blocks := across * down
	if blocks == 0 {
		return 0
	}
	every := (blocks + maxBlocks - 1) / maxBlocks
	for every > 1 && across%every == 0 { // the same columns in every row
		every++
	}
	var kept [64]int
	seen := 0
	for k := 0; k < blocks; k += every {
		var b [64]float32
		at := 8 * (k/across*stride + k%across)
		for i := range b {
			b[i] = float32(y[at+i/8*stride+i%8]) - 128
		}
		Forward(&b)
		for i, v := range b {
			if 2*math.Abs(float64(v)) >= float64(steps[i]) {
				kept[i]++
			}
		}
		seen++
	}
	power := 0.0
	for i, n := range kept {
		power += roundingPower(float64(n)/float64(seen), float64(steps[i]))
	}
	return math.Sqrt(power/64) / 255
}

// roundingPower is the mean square of the error of rounding Laplacian numbers to multiples of step, of which a share is not
// rounded to 0. Beyond the first step the error is taken for uniform.
func roundingPower(share, step float64) float64 {
	uniform := step * step / 12
	if share == 0 || share == 1 {
		return share * uniform
	}
	half := step / 2
	rate := -math.Log(share) / half // of the exponential distribution of magnitudes
	return 2/(rate*rate) - share*(half*half+2*half/rate+2/(rate*rate)) + share*uniform
}
