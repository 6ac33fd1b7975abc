package curves

import (
	"math"
)

// point is a number over an iteration, or over a learning rate.
type point struct{ x, y float64 }

// series are points in the order in which they are joined.
type series []point

// largest bounds what is drawn: axes of larger numbers would overflow.
const largest = 1e30

// drawable tells whether a number has a place on an axis.
func drawable(v float64, logarithmic bool) bool {
	if logarithmic {
		return v > 1/largest && v < largest
	}
	return v > -largest && v < largest
}

// smoothed returns the exponential moving average over about memory points. In the
// beginning, where a training changes fastest, it remembers a quarter of the points so
// far and no more. What is not finite is passed over, and left as it is.
func (s series) smoothed(memory float64) series {
	out := make(series, len(s))
	average, seen := 0.0, 0.0
	for i, p := range s {
		out[i] = p
		if !drawable(p.y, false) {
			continue
		}
		average += (p.y - average) / math.Max(1, math.Min(memory, seen/4))
		seen++
		out[i].y = average
	}
	return out
}

// thinned returns at most about n of the points, evenly, the last one among them: what
// changes slowly needs no more than there are pixels.
func (s series) thinned(n int) series {
	stride := (len(s) + n - 1) / n
	if stride < 2 {
		return s
	}
	var out series
	for i := 0; i < len(s); i += stride {
		out = append(out, s[i])
	}
	if (len(s)-1)%stride != 0 {
		out = append(out, s[len(s)-1])
	}
	return out
}

// afterStart leaves out the first twentieth of the iterations, where a training is far from its
// final state. If fewer than two points would be left, it returns the whole series.
func (s series) afterStart() series {
	if len(s) == 0 {
		return s
	}
	from := s[len(s)-1].x / 20
	for i, p := range s {
		if p.x >= from && len(s)-i >= 2 {
			return s[i:]
		}
	}
	return s
}
