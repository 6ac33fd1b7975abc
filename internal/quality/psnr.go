package quality

import (
	"errors"
	"fmt"
	"math"
)

// ErrShape is wrapped by the error about images that cannot be compared because
// their numbers of samples differ.
var ErrShape = errors.New("quality: images differ in size")

// MSE returns the mean of (estimate − reference)² over all samples.
func MSE(reference, estimate []float32) (float64, error) {
	if len(reference) != len(estimate) || len(reference) == 0 {
		return 0, fmt.Errorf("%w: %d and %d samples", ErrShape, len(reference), len(estimate))
	}
	// Blocks keep the rounding of a long sum small: 24 megapixels are 7·10⁷ terms.
	const block = 1 << 12
	total := 0.0
	for from := 0; from < len(reference); from += block {
		to := min(from+block, len(reference))
		sum := 0.0
		for i, r := range reference[from:to] {
			d := float64(estimate[from+i]) - float64(r)
			sum += float64(d * d)
		}
		total += sum
	}
	return total / float64(len(reference)), nil
}

// PSNR returns the peak signal-to-noise ratio 10·log₁₀(peak²/MSE) in dB: +Inf
// for equal images. The peak must be positive and finite; it is 1 for images on
// [0,1], or Peak of the reference (the definition of Sherry et al. and of
// several toolboxes).
func PSNR(reference, estimate []float32, peak float64) (float64, error) {
	if !(peak > 0) || math.IsInf(peak, 0) {
		return 0, fmt.Errorf("quality: peak %v, want a positive and finite number", peak)
	}
	mse, err := MSE(reference, estimate)
	if err != nil {
		return 0, err
	}
	return 20*math.Log10(peak) - 10*math.Log10(mse), nil
}

// Peak returns the largest sample; −Inf of no samples.
func Peak(reference []float32) float64 {
	peak := math.Inf(-1)
	for _, v := range reference {
		peak = math.Max(peak, float64(v))
	}
	return peak
}
