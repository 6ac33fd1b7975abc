package deblur

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/response"
)

// reflectBound bounds the norm of a reflecting blur of h×w samples by Collatz and
// Wielandt's theorem on A = |K|, A[p,q] = Σ |k| over the ways from q to p.
//
// Far from the edges everything repeats. AᵀA reaches KH−1 rows to each side and sees
// an edge only from as near, so that v after t steps from v = 1, and (AᵀAv)/v, are the
// same in all rows that are at least 2(t+1)(KH−1) away from both edges; the same goes
// for columns. It is therefore enough to look at an image of no more than
// 4(t+1)(KH−1)+1 rows, whatever the photograph's size.
func reflectBound(k Kernel, h, w int) (bound float64, reason string) {
	const maxSteps = 6
	taps := 0
	for _, v := range k.Weights {
		if v != 0 {
			taps++
		}
	}
	best, steps := schurBound(k, h, w), 0
	for t := 1; t <= maxSteps; t++ {
		hh, ww := min(h, 4*(t+1)*(k.H-1)+1), min(w, 4*(t+1)*(k.W-1)+1)
		if float64(2*(t+1)*taps)*float64(hh)*float64(ww) > response.Affordable {
			break
		}
		// All terms are nonnegative, so that rounding is relative: two sums of as many
		// terms as the kernel and the reflections have, and a division.
		top := newNonnegativeBlur(k, hh, ww).ratio(t)
		top *= 1 + float64(4*len(k.Weights)+16)*response.Unit
		gain := 1 - top/best
		if top < best {
			best, steps = top, t
		}
		if gain < 2e-3 {
			break
		}
	}
	bound = math.Nextafter(math.Sqrt(best), math.Inf(1))
	if steps == 0 {
		return bound, "reflect: Schur's test, the root of the largest row sum times the largest column sum of |K|"
	}
	return bound, fmt.Sprintf("reflect: Collatz and Wielandt's bound of |K| with a positive vector of %d power steps", steps)
}

// schurBound is the case v = 1, with A1 = S in all rows and column sums from partial
// sums of the kernel. A column sum differs from S only within KH−1 rows or KW−1 columns
// of an edge.
func schurBound(k Kernel, h, w int) float64 {
	h, w = min(h, 2*k.H-1), min(w, 2*k.W-1)
	// sums[i][j] is the sum of the first i rows and j columns of |k|.
	stride := k.W + 1
	sums := make([]float64, (k.H+1)*stride)
	for i := range k.H {
		row := 0.0
		for j := range k.W {
			row += math.Abs(float64(k.Weights[i*k.W+j]))
			sums[(i+1)*stride+j+1] = sums[i*stride+j+1] + row
		}
	}
	total := sums[len(sums)-1]
	// Sample e of the extended axis gets weight i from sample e−(size−1)+i of the
	// blurred one, if there is such a sample.
	part := func(e, n, size int) (from, to int) {
		return max(0, size-1-e), min(size, size-1-e+n)
	}
	columns := make([]float64, h*w)
	for ey := range h + k.H - 1 {
		y0, y1 := part(ey, h, k.H)
		q := mirror(ey-(k.H-1-k.CY), h) * w
		for ex := range w + k.W - 1 {
			x0, x1 := part(ex, w, k.W)
			columns[q+mirror(ex-(k.W-1-k.CX), w)] +=
				sums[y1*stride+x1] - sums[y0*stride+x1] - sums[y1*stride+x0] + sums[y0*stride+x0]
		}
	}
	top := 0.0
	for _, v := range columns {
		top = max(top, v)
	}
	// The mean of the column sums is S, so the largest is no less, and an error of so
	// many units of S for each of the copies of a sample is a relative one.
	copies := float64(k.H/h+2) * float64(k.W/w+2)
	return total * top * (1 + copies*float64(8*len(k.Weights)+16)*response.Unit)
}

// nonnegativeBlur is A in float64 on an image of h×w samples.
type nonnegativeBlur struct {
	k    Kernel
	h, w int
	// wide is a reflected image, of h+KH−1 rows and w+KW−1 columns.
	wide []float64
}

func newNonnegativeBlur(k Kernel, h, w int) *nonnegativeBlur {
	return &nonnegativeBlur{k: k, h: h, w: w, wide: make([]float64, (h+k.H-1)*(w+k.W-1))}
}

// ratio returns max (AᵀAv)ᵢ/vᵢ for v = (AᵀA)ᵗ1, scaled now and then.
func (a *nonnegativeBlur) ratio(t int) float64 {
	v := make([]float64, a.h*a.w)
	for i := range v {
		v[i] = 1
	}
	next := make([]float64, len(v))
	blurred := make([]float64, len(v))
	for step := 0; ; step++ {
		a.apply(blurred, v)
		a.adjoint(next, blurred)
		top, largest := 0.0, 0.0
		for i := range v {
			top = max(top, next[i]/v[i])
			largest = max(largest, next[i])
		}
		if step == t || largest == 0 {
			return top
		}
		for i := range v {
			// A sample that no weight reaches has a zero in every column of A: any
			// positive number will do for it.
			v[i] = max(next[i]/largest, 1e-3)
		}
	}
}

// each calls f for all weights but zeros with the offset of the wide image's sample
// that the weight takes to sample 0 of the blurred one.
func (a *nonnegativeBlur) each(f func(offset int, weight float64)) {
	stride := a.w + a.k.W - 1
	for i, v := range a.k.Weights {
		if v != 0 {
			f((a.k.H-1-i/a.k.W)*stride+a.k.W-1-i%a.k.W, math.Abs(float64(v)))
		}
	}
}

func (a *nonnegativeBlur) apply(dst, src []float64) {
	stride, top, left := a.w+a.k.W-1, a.k.H-1-a.k.CY, a.k.W-1-a.k.CX
	for i := range a.wide {
		a.wide[i] = src[mirror(i/stride-top, a.h)*a.w+mirror(i%stride-left, a.w)]
	}
	clear(dst)
	a.each(func(offset int, weight float64) {
		for y := range a.h {
			from := a.wide[y*stride+offset:][:a.w]
			to := dst[y*a.w:][:a.w]
			for x, v := range from {
				to[x] += weight * v
			}
		}
	})
}

func (a *nonnegativeBlur) adjoint(dst, src []float64) {
	stride, top, left := a.w+a.k.W-1, a.k.H-1-a.k.CY, a.k.W-1-a.k.CX
	clear(a.wide)
	a.each(func(offset int, weight float64) {
		for y := range a.h {
			to := a.wide[y*stride+offset:][:a.w]
			from := src[y*a.w:][:a.w]
			for x, v := range from {
				to[x] += weight * v
			}
		}
	})
	clear(dst)
	for i, v := range a.wide {
		dst[mirror(i/stride-top, a.h)*a.w+mirror(i%stride-left, a.w)] += v
	}
}
