package hostblur

import (
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// tap is a nonzero weight of a kernel: sample (y, x) of the result gets it times
// sample (y+dy, x+dx) of the extended image.
type tap struct {
	dy, dx int
	weight float32
}

func tapsOf(s *backend.BlurSpec) []tap {
	var taps []tap
	for i, v := range s.Kernel {
		if v != 0 {
			taps = append(taps, tap{dy: s.KH - 1 - i/s.KW, dx: s.KW - 1 - i%s.KW, weight: v})
		}
	}
	return taps
}

// mirrored returns the taps of the full correlation, applied to a result padded with
// KH−1 and KW−1 zeros all around.
func mirrored(taps []tap, kh, kw int) []tap {
	m := make([]tap, len(taps))
	for i, t := range taps {
		m[i] = tap{dy: kh - 1 - t.dy, dx: kw - 1 - t.dx, weight: t.weight}
	}
	return m
}

// bandRows is how many rows of the result are made at a time: with the rows above
// and below them that a small kernel needs they fit the second-level cache.
const bandRows = 32

// convolveDirectly sums over the taps; src has all rows and columns that they reach.
func convolveDirectly(pool *parallel.Pool, planes int, dst, src fft.Rows, taps []tap) {
	reach := src.H - dst.H
	height := max(bandRows, reach)
	bands := (dst.H + height - 1) / height
	room := (height+reach)*src.W + dst.W
	pool.For(planes*bands, func(i int) {
		plane, first := i/bands, i%bands*height
		n := min(height, dst.H-first)
		scratch := borrowFloats(room)
		defer bandScratch.Put(scratch)
		band, row := (*scratch)[:(n+reach)*src.W], (*scratch)[room-dst.W:room]
		for y := range n + reach {
			src.Row(plane, first+y, band[y*src.W:(y+1)*src.W])
		}
		for y := range n {
			sumTaps(row, band[y*src.W:], src.W, taps)
			dst.Row(plane, first+y, row)
		}
	})
}

var bandScratch sync.Pool

func borrowFloats(n int) *[]float32 {
	if s, ok := bandScratch.Get().(*[]float32); ok && cap(*s) >= n {
		*s = (*s)[:n]
		return s
	}
	s := make([]float32, n)
	return &s
}

// sumTaps sets row[x] to Σ weight·band[dy·stride + x + dx].
func sumTaps(row, band []float32, stride int, taps []tap) {
	clear(row)
	addTaps(row, band, stride, taps)
}

// tapsAtOnce is how many products addTaps adds up before it adds them to a sample.
const tapsAtOnce = 8

// addTaps adds Σ weight·band[dy·stride + x + dx] to row[x].
func addTaps(row, band []float32, stride int, taps []tap) {
	n := len(row)
	at := func(t tap) []float32 { return band[t.dy*stride+t.dx:][:n] }
	for ; len(taps) >= tapsAtOnce; taps = taps[tapsAtOnce:] {
		a, b, c, d := at(taps[0]), at(taps[1]), at(taps[2]), at(taps[3])
		e, f, g, h := at(taps[4]), at(taps[5]), at(taps[6]), at(taps[7])
		ka, kb, kc, kd := taps[0].weight, taps[1].weight, taps[2].weight, taps[3].weight
		ke, kf, kg, kh := taps[4].weight, taps[5].weight, taps[6].weight, taps[7].weight
		for x := range row {
			row[x] += (ka*a[x] + kb*b[x]) + (kc*c[x] + kd*d[x]) + ((ke*e[x] + kf*f[x]) + (kg*g[x] + kh*h[x]))
		}
	}
	for _, t := range taps {
		for x, v := range at(t) {
			row[x] += t.weight * v
		}
	}
}

// directCost estimates the time of one plane, in units of one tap at one sample:
// the mean of the blur, which computes its range, and of the adjoint, which
// computes the extended image.
func directCost(s *backend.BlurSpec) float64 {
	h, w := s.Range()
	taps := 0
	for _, v := range s.Kernel {
		if v != 0 {
			taps++
		}
	}
	extended := float64(h+s.KH-1) * float64(w+s.KW-1)
	return float64(taps) * (float64(h)*float64(w) + extended) / 2
}
