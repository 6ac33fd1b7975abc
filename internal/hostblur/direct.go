package hostblur

import (
	"image"
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

// tapGroup is taps that are added up before they are added to a sample: tapsAtOnce of them, or one of those that are left.
type tapGroup struct {
	taps  []tap
	reach image.Rectangle // holds (dx, dy) of all taps
}

const tapsAtOnce = 8

// directKernel is a kernel for direct sums, of the blur and of its adjoint.
type directKernel struct{ taps, mirrored []tapGroup }

func newDirectKernel(s *backend.BlurSpec) directKernel {
	taps := tapsOf(s)
	return directKernel{grouped(taps), grouped(mirrored(taps, s.KH, s.KW))}
}

// units is how many roundings a term of sumTaps passes through at most: a product, three sums in its group, and one for each
// group.
func (k *directKernel) units() float64 {
	units := float64(1 + 3 + len(k.taps))
	return units / (1 - 2*units*0x1p-24)
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

func grouped(taps []tap) (groups []tapGroup) {
	for len(taps) > 0 {
		n := 1
		if len(taps) >= tapsAtOnce {
			n = tapsAtOnce
		}
		g := tapGroup{taps: taps[:n]}
		for _, t := range g.taps {
			g.reach = g.reach.Union(image.Rect(t.dx, t.dy, t.dx+1, t.dy+1))
		}
		groups, taps = append(groups, g), taps[n:]
	}
	return groups
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
func convolveDirectly(pool *parallel.Pool, planes int, dst, src fft.Rows, taps []tapGroup) {
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
func sumTaps(row, band []float32, stride int, groups []tapGroup) {
	clear(row)
	for i := range groups {
		groups[i].addTo(row, band, stride)
	}
}

// addTo adds Σ weight·band[dy·stride + x + dx] to row[x].
func (g *tapGroup) addTo(row, band []float32, stride int) {
	n, taps := len(row), g.taps
	at := func(t tap) []float32 { return band[t.dy*stride+t.dx:][:n] }
	if len(taps) < tapsAtOnce {
		weight := taps[0].weight
		for x, v := range at(taps[0]) {
			row[x] += weight * v
		}
		return
	}
	a, b, c, d := at(taps[0]), at(taps[1]), at(taps[2]), at(taps[3])
	e, f, o, h := at(taps[4]), at(taps[5]), at(taps[6]), at(taps[7])
	ka, kb, kc, kd := taps[0].weight, taps[1].weight, taps[2].weight, taps[3].weight
	ke, kf, ko, kh := taps[4].weight, taps[5].weight, taps[6].weight, taps[7].weight
	for x := range row {
		row[x] += (ka*a[x] + kb*b[x]) + (kc*c[x] + kd*d[x]) + ((ke*e[x] + kf*f[x]) + (ko*o[x] + kh*h[x]))
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
