package noise

import "errors"

// valueRange is what one channel's values span, and whether they look clipped at either end: many are exactly there,
// where unclipped noise would leave one. The limits are the image's own, not 0 and 1: a black level or another scale
// makes no difference. Seeing clipping where there is none does no harm: unclipped noise stays several standard
// deviations from its extremes.
type valueRange struct {
	low, high                  float32
	clippedBelow, clippedAbove bool
}

func (r valueRange) clipped() bool { return r.clippedBelow || r.clippedAbove }

// countedValues is how many values of a channel are counted, about.
const countedValues = 1 << 20

var errNotFinite = errors.New("holds NaN or infinite values; every value must be finite")

// scan finds the range of a plane that has at least one value.
func scan(plane []float32) (valueRange, error) {
	r := valueRange{low: plane[0], high: plane[0]}
	for _, v := range plane {
		if v-v != 0 { // NaN for NaN and infinities
			return valueRange{}, errNotFinite
		}
		if v < r.low {
			r.low = v
		}
		if v > r.high {
			r.high = v
		}
	}
	// An odd step does not fall into step with rows of even length.
	step := len(plane)/countedValues | 1
	low, high, counted := 0, 0, 0
	for i := 0; i < len(plane); i += step {
		if plane[i] == r.low {
			low++
		}
		if plane[i] == r.high {
			high++
		}
		counted++
	}
	enough := max(clippedCount, int(clippedShare*float64(counted)))
	r.clippedBelow, r.clippedAbove = low >= enough, high >= enough
	return r, nil
}
