package noise

import (
	"math"
	"slices"
)

// mark sets bad. Suspects are bad where they differ from their good neighbours; other samples where they are outliers
// among good ones.
func (p *plane) mark() {
	for _, o := range p.outliers {
		p.bad[o.at] = o.ratio >= clearRatio
	}
	room := make([]float32, 0, 24)
	for y := range p.h {
		for x := range p.w {
			at := y*p.w + x
			if s := p.suspect[at]; s != 0 {
				p.bad[at] = p.bad[at] || p.strange(y, x, s, room)
				continue
			}
			if !p.bad[at] && p.calls(y, x) {
				good := p.good(y, x, 1, room)
				p.bad[at] = len(good) >= 3 && p.outside(p.v[at], good) && !p.blurred(y, x)
			}
		}
	}
}

// strange tells whether a suspect is an impulse: it is not, where half of its 5×5 neighbours are the same or the good
// ones are near.
func (p *plane) strange(y, x int, sign int8, room []float32) bool {
	same, all := 0, 0
	for ny := max(y-2, 0); ny <= min(y+2, p.h-1); ny++ {
		for nx := max(x-2, 0); nx <= min(x+2, p.w-1); nx++ {
			all++
			if p.suspect[ny*p.w+nx] == sign {
				same++
			}
		}
	}
	if 2*same >= all {
		return false
	}
	good := p.good(y, x, 2, room)
	return len(good) == 0 || float32(sign)*(p.v[y*p.w+x]-median(good)) > impulseStep
}

// calls is a cheap test that refuses nearly all samples: an outlier differs from both neighbours in its row, unless one
// is bad.
func (p *plane) calls(y, x int) bool {
	at := y*p.w + x
	differs := func(n int) bool {
		d := p.v[at] - p.v[n]
		return d > impulseStep || d < -impulseStep || p.bad[n] || p.suspect[n] != 0
	}
	return (x == 0 || differs(at-1)) && (x == p.w-1 || differs(at+1))
}

// outside tells whether a sample exceeds its good neighbours by impulseStep and by clearRatio times their spread. It
// sorts them.
func (p *plane) outside(v float32, good []float32) bool {
	m := median(good)
	low, high := good[0], good[len(good)-1]
	return v-high > max(impulseStep, clearRatio*max(high-m, p.spread)) || low-v > max(impulseStep, clearRatio*max(m-low, p.spread))
}

// blurred tells whether what differs at a pixel went through a lens, as stars do: the mean of the good samples beside it
// is beyond all those that are two rows or columns away, by more than the typical spread, so that it is no chance.
func (p *plane) blurred(y, x int) bool {
	sum, count, low, high := float32(0), float32(0), float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for ny := max(y-2, 0); ny <= min(y+2, p.h-1); ny++ {
		for nx := max(x-2, 0); nx <= min(x+2, p.w-1); nx++ {
			switch at, square := ny*p.w+nx, (ny-y)*(ny-y)+(nx-x)*(nx-x); {
			case p.bad[at] || p.suspect[at] != 0:
			case square == 1:
				sum, count = sum+p.v[at], count+1
			case square >= 4:
				low, high = min(low, p.v[at]), max(high, p.v[at])
			}
		}
	}
	v, mean := p.v[y*p.w+x], sum/count
	return low <= high && (v > mean && mean > high+p.spread || v < mean && mean < low-p.spread)
}

// good appends the neighbours of a pixel within a radius that are neither bad nor suspect.
func (p *plane) good(y, x, radius int, room []float32) []float32 {
	for ny := max(y-radius, 0); ny <= min(y+radius, p.h-1); ny++ {
		for nx := max(x-radius, 0); nx <= min(x+radius, p.w-1); nx++ {
			if at := ny*p.w + nx; (ny != y || nx != x) && !p.bad[at] && p.suspect[at] == 0 {
				room = append(room, p.v[at])
			}
		}
	}
	return room
}

// median sorts values, of which there is at least one, and returns the middle.
func median(values []float32) float32 {
	slices.Sort(values)
	low, high := values[(len(values)-1)/2], values[len(values)/2]
	return min(max(low/2+high/2, low), high) // halves of the smallest numbers are rounded
}

// FillImpulses returns a copy of a picture in which the bad samples are the median of the good ones among their eight
// neighbours of the same channel, from the outside inward. A plane without good samples stays. A nil mask changes
// nothing.
func FillImpulses(pix []float32, bad []bool, channels, h, w int) []float32 {
	out := slices.Clone(pix)
	if bad == nil {
		return out
	}
	for c := range channels {
		p := &plane{v: out[c*h*w:][:h*w], h: h, w: w, suspect: make([]int8, h*w), bad: slices.Clone(bad[c*h*w:][:h*w])}
		p.fill()
	}
	return out
}

func (p *plane) fill() {
	var left []int
	for at, b := range p.bad {
		if b {
			left = append(left, at)
		}
	}
	room := make([]float32, 0, 8)
	// Three good neighbours make a median that one bad guess does not move.
	for least := 3; len(left) > 0; {
		var filled []int
		rest := left[:0]
		for _, at := range left {
			if good := p.good(at/p.w, at%p.w, 1, room); len(good) >= least {
				p.v[at] = median(good) // still bad, so that this pass does not use it
				filled = append(filled, at)
			} else {
				rest = append(rest, at)
			}
		}
		for _, at := range filled {
			p.bad[at] = false
		}
		left = rest
		if len(filled) == 0 {
			if least == 1 {
				return
			}
			least = 1
		}
	}
}
