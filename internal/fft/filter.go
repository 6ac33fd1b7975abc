package fft

import (
	"fmt"

	"github.com/averaged/imaging/internal/parallel"
)

// Filter multiplies spectra of images with one spectrum, which is a circular
// convolution of h×w samples. It is safe for concurrent use.
type Filter struct {
	plan *Plan
	half []record // divided by 2hw: what the passes owe
}

// Filter prepares a multiplication with a copy of the spectrum.
func (s *Spectrum) Filter() *Filter {
	p := s.plan
	f := &Filter{plan: p, half: make([]record, len(s.half))}
	scale := float32(1 / (2 * float64(p.h) * float64(p.w)))
	for j := range f.half {
		for i, v := range s.half[j] {
			f.half[j][i] = scale * v
		}
	}
	return f
}

// inFlight limits the spectra that are in memory at the same time, in records,
// if there are more than one: 32 MiB.
const inFlight = 1 << 18

// Apply filters images: it reads src, of which what the images have beyond
// src.H×src.W is zero, multiplies with the filter's spectrum, or with its complex
// conjugate, which is the adjoint, and writes the first dst.H×dst.W samples of
// each. All rows of an image are read before one of it is written.
func (f *Filter) Apply(pool *parallel.Pool, images int, dst, src Rows, conjugate bool) error {
	p := f.plan
	for _, r := range [...]Rows{dst, src} {
		if r.H < 1 || r.W < 1 || r.H > p.h || r.W > p.w {
			return fmt.Errorf("fft: images of %d×%d samples in a transform of %d×%d", r.H, r.W, p.h, p.w)
		}
	}
	size := p.h * p.groups
	together := min(max(1, inFlight/size), max(1, images))
	spectra := p.borrow(together)
	defer p.giveBack(spectra)
	for from := 0; from < images; from += together {
		n := min(together, images-from)
		half := func(i int) []record { return spectra[i*size : (i+1)*size] }
		blocks := p.blocks(src.H)
		pool.For(n*blocks, func(i int) {
			p.forwardRows(half(i/blocks), src, from+i/blocks, i%blocks)
		})
		zero := min(blocks*2*lanes, p.h)
		pool.For(n*p.groups, func(i int) {
			f.column(half(i/p.groups), i%p.groups, zero, conjugate)
		})
		blocks = p.blocks(dst.H)
		pool.For(n*blocks, func(i int) {
			p.inverseRows(dst, half(i/blocks), from+i/blocks, i%blocks)
		})
	}
	return nil
}

// column filters a group of columns, of which the rows from zero on are zero and
// have not been set.
func (f *Filter) column(half []record, g, zero int, conjugate bool) {
	p := f.plan
	s := p.scratches.Get().(*scratch)
	defer p.scratches.Put(s)
	group := half[g*p.h : (g+1)*p.h]
	factors := f.half[g*p.h : (g+1)*p.h]
	clear(group[zero:])
	p.columns.forward(p.kernels, group, s.room)
	multiply := p.kernels.multiply
	if conjugate {
		multiply = p.kernels.multiplyConjugate
	}
	multiply(&group[0], &factors[0], p.h)
	p.columns.inverse(p.kernels, group, s.room)
}

// Bytes is the memory that a filter of h×w samples holds.
func Bytes(h, w int) int64 {
	return int64(h) * int64((w/2+lanes)/lanes) * 2 * lanes * 4
}
