package estimate

import (
	"math"

	"github.com/averaged/imaging/deblur"
)

// A kernel k limits how much neighbouring samples of a photograph differ: by at most half of Σ|k(s+1) − k(s)| times the range
// of the sharp image, because Σ k(s+1) − k(s) = 0. Blurred photographs stay below that, for it would take an edge from black to
// white along the kernel. But programs that reduce and sharpen photographs let glints come near it and beyond: of 37 shaken
// ones that others have published 13 have some of 0.66 of the limit, and 5 of lamps and glints more than one in 10,000. Of 40
// sharp ones from which the kernel of a shake was estimated 30 have.
const (
	mostContrast  = 0.66
	mostContrasts = 1. / 10000 // of all differences
)

// mostEven is the variation over the frame up to which one kernel is that of all parts. The mean of different kernels is
// smoother than each.
const mostEven = 0.15

// sharperThan says whether neighbouring samples of the photograph, with noise of standard deviation sigma, differ by more than
// is to be expected under a kernel. What a lamp brighter than white can reach does not count.
func (p part) sharperThan(k deblur.Kernel, sigma float64) bool {
	const noise = 5 * math.Sqrt2 // standard deviations of a difference that noise exceeds nowhere in a photograph
	v := p.v
	low, high := v.pix[0], v.pix[0]
	for _, a := range v.pix {
		low, high = min(low, a), max(high, a)
	}
	lit := p.lamps.reached(max(k.H, k.W)/2, 0)
	down, across := differences(k)
	limit := func(differences float64) float64 { return mostContrast*differences/2*float64(high-low) + noise*sigma }
	count, of := 0, 0
	for _, d := range []struct {
		step, h, w int
		limit      float64
	}{{1, v.h, v.w - 1, limit(across)}, {v.w, v.h - 1, v.w, limit(down)}} {
		for y := range d.h {
			for x := range d.w {
				i := y*v.w + x
				if lit[i] || lit[i+d.step] {
					continue
				}
				of++
				if math.Abs(float64(v.pix[i+d.step]-v.pix[i])) > d.limit {
					count++
				}
			}
		}
	}
	return float64(count) > mostContrasts*float64(of)
}

// differences are the sums of |k(s+1) − k(s)| down the columns and along the rows.
func differences(k deblur.Kernel) (down, across float64) {
	at := func(y, x int) float64 {
		if y < 0 || x < 0 || y >= k.H || x >= k.W {
			return 0
		}
		return float64(k.Weights[y*k.W+x])
	}
	for y := range k.H + 1 {
		for x := range k.W + 1 {
			down += math.Abs(at(y, x) - at(y-1, x))
			across += math.Abs(at(y, x) - at(y, x-1))
		}
	}
	return down, across
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
