package estimate

import "math"

// plane is one channel, row by row.
type plane struct {
	h, w int
	pix  []float32
}

func newPlane(h, w int) plane { return plane{h, w, make([]float32, h*w)} }

func (p plane) row(y int) []float32 { return p.pix[y*p.w : (y+1)*p.w] }

// crop returns a copy of h×w samples from row y and column x on.
func (p plane) crop(y, x, h, w int) plane {
	c := newPlane(h, w)
	for i := range h {
		copy(c.row(i), p.row(y + i)[x:])
	}
	return c
}

// resized returns the plane with h×w samples. On the way down it is smoothed, by a
// triangle that reaches as far as the new samples are apart, so that a blurred image becomes
// the smaller image under the smaller kernel; on the way up this is linear interpolation.
func (p plane) resized(h, w int) plane {
	if h == p.h && w == p.w {
		return p
	}
	across := newPlane(p.h, w)
	taps := triangles(p.w, w)
	for y := range p.h {
		from, to := p.row(y), across.row(y)
		for x, t := range taps {
			sum := float32(0)
			for i, weight := range t.weights {
				sum += float32(weight * from[t.first+i])
			}
			to[x] = sum
		}
	}
	out := newPlane(h, w)
	for y, t := range triangles(p.h, h) {
		to := out.row(y)
		for i, weight := range t.weights {
			for x, v := range across.row(t.first + i) {
				to[x] += float32(weight * v)
			}
		}
	}
	return out
}

// above tells which samples are above least.
func (p plane) above(least float32) []bool {
	all := make([]bool, len(p.pix))
	for i, v := range p.pix {
		all[i] = v > least
	}
	return all
}

// reached tells which samples have one above least in the square of radius r around them.
func (p plane) reached(r int, least float32) []bool {
	lit := make([]bool, len(p.pix))
	spread := func(of func(i int) bool, to []bool, lines, line, n, step int) {
		for l := range lines {
			last := -r - 1 // where one was seen
			for i := range n + r {
				if i < n && of(l*line+i*step) {
					last = i
				}
				if at := i - r; at >= 0 && last >= at-r {
					to[l*line+at*step] = true
				}
			}
		}
	}
	spread(func(i int) bool { return p.pix[i] > least }, lit, p.h, p.w, p.w, 1)
	both := make([]bool, len(p.pix))
	spread(func(i int) bool { return lit[i] }, both, p.w, 1, p.h, p.w)
	return both
}

// zeroExtent is the first and the last row and column with a sample of 0. What lies beyond is above 0 throughout.
func (p plane) zeroExtent() (top, bottom, left, right int) {
	rows, columns := make([]bool, p.h), make([]bool, p.w)
	for i, v := range p.pix {
		if v == 0 {
			rows[i/p.w], columns[i%p.w] = true, true
		}
	}
	top, bottom = ends(rows)
	left, right = ends(columns)
	return top, bottom, left, right
}

// ends are the first and the last index of what is true, len(all) and −1 if nothing is.
func ends(all []bool) (first, last int) {
	first, last = len(all), -1
	for i, of := range all {
		if of {
			first, last = min(first, i), i
		}
	}
	return first, last
}

// taps are the samples from first on that a new sample is a mean of.
type taps struct {
	first   int
	weights []float32
}

// triangles are those of n new samples on m old ones; what lies beyond the end is left out.
func triangles(m, n int) []taps {
	step := float64(m) / float64(n)
	reach := max(step, 1)
	all := make([]taps, n)
	for i := range all {
		at := (float64(i)+.5)*step - .5
		first, last := max(int(math.Ceil(at-reach)), 0), min(int(math.Floor(at+reach)), m-1)
		t := taps{first: first}
		sum := 0.0
		for j := first; j <= last; j++ {
			weight := max(1-math.Abs(float64(j)-at)/reach, 0)
			t.weights = append(t.weights, float32(weight))
			sum += weight
		}
		for j := range t.weights {
			t.weights[j] = float32(float64(t.weights[j]) / sum)
		}
		all[i] = t
	}
	return all
}
