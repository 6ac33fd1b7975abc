package fft

import (
	"errors"
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
// if there are more than those of one image: 32 MiB.
const inFlight = 1 << 18

// Apply filters images: it reads src, of which what the images have beyond
// src.H×src.W is zero, multiplies with the filter's spectrum, or with its complex
// conjugate, which is the adjoint, and writes the first dst.H×dst.W samples of
// each. All rows of an image are read before one of it is written.
func (f *Filter) Apply(pool *parallel.Pool, images int, dst, src Rows, conjugate bool) error {
	if conjugate {
		return Spread(pool, []*Filter{f}, images, dst, src)
	}
	return Sum(pool, []*Filter{f}, images, dst, src)
}

// Sum is Apply for several filters of one plan, whose results are added: image i of dst is made of
// images i·n to i·n+n−1 of src, each by one of the n filters. The sum takes one transform back.
func Sum(pool *parallel.Pool, filters []*Filter, images int, dst, src Rows) error {
	return apply(pool, filters, images, dst, src, len(filters), 1, sumColumn)
}

// Spread is the adjoint of Sum: image i of src becomes images i·n to i·n+n−1 of dst. A row of dst is
// written for one of these n at a time, in their order.
func Spread(pool *parallel.Pool, filters []*Filter, images int, dst, src Rows) error {
	return apply(pool, filters, images, dst, src, 1, len(filters), spreadColumn)
}

// apply makes outs images of each ins, of which one is 1 and the other as many as there are filters.
// column works on a group of columns of all spectra, half(j) of filter j.
func apply(pool *parallel.Pool, filters []*Filter, images int, dst, src Rows, ins, outs int,
	column func(filters []*Filter, s *scratch, half func(j int) []record, g, zero int)) error {
	if len(filters) == 0 {
		return errors.New("fft: no filters")
	}
	p := filters[0].plan
	for _, f := range filters {
		if f.plan != p {
			return errors.New("fft: filters of several plans")
		}
	}
	for _, r := range [...]Rows{dst, src} {
		if r.H < 1 || r.W < 1 || r.H > p.h || r.W > p.w {
			return fmt.Errorf("fft: images of %d×%d samples in a transform of %d×%d", r.H, r.W, p.h, p.w)
		}
	}
	size := p.h * p.groups
	together := min(max(1, inFlight/(size*len(filters))), max(1, images))
	spectra := p.borrow(together * len(filters))
	defer p.giveBack(spectra)
	half := func(i, j int) []record { return spectra[(i*len(filters)+j)*size:][:size] }
	for from := 0; from < images; from += together {
		n := min(together, images-from)
		blocks := p.blocks(src.H)
		pool.For(n*ins*blocks, func(i int) {
			image := i / blocks
			p.forwardRows(half(image/ins, image%ins), src, from*ins+image, i%blocks)
		})
		zero := min(blocks*2*lanes, p.h)
		pool.For(n*p.groups, func(i int) {
			s := p.scratches.Get().(*scratch)
			defer p.scratches.Put(s)
			column(filters, s, func(j int) []record { return half(i/p.groups, j) }, i%p.groups, zero)
		})
		blocks = p.blocks(dst.H)
		pool.For(n*blocks, func(i int) {
			for j := range outs {
				p.inverseRows(dst, half(i/blocks, j), (from+i/blocks)*outs+j, i%blocks)
			}
		})
	}
	return nil
}

// sumColumn filters a group of columns of each spectrum, of which the rows from zero on are zero and
// have not been set, and leaves the sum in the first.
func sumColumn(filters []*Filter, s *scratch, half func(j int) []record, g, zero int) {
	p := filters[0].plan
	sum := half(0)[g*p.h : (g+1)*p.h]
	for j, f := range filters {
		group := half(j)[g*p.h : (g+1)*p.h]
		clear(group[zero:])
		p.columns.forward(p.kernels, group, s.room)
		p.kernels.multiply(&group[0], &f.half[g*p.h], p.h)
		if j > 0 {
			add(sum, group)
		}
	}
	p.columns.inverse(p.kernels, sum, s.room)
}

// spreadColumn is its adjoint.
func spreadColumn(filters []*Filter, s *scratch, half func(j int) []record, g, zero int) {
	p := filters[0].plan
	one := half(0)[g*p.h : (g+1)*p.h]
	clear(one[zero:])
	p.columns.forward(p.kernels, one, s.room)
	for j := len(filters) - 1; j >= 0; j-- { // the first, which all are made of, comes last
		group := half(j)[g*p.h : (g+1)*p.h]
		copy(group, one)
		p.kernels.multiplyConjugate(&group[0], &filters[j].half[g*p.h], p.h)
		p.columns.inverse(p.kernels, group, s.room)
	}
}

func add(to, from []record) {
	from = from[:len(to)]
	for j := range to {
		a, b := &to[j], &from[j]
		for i := range a {
			a[i] += b[i]
		}
	}
}

// Bytes is the memory that a filter of h×w samples holds.
func Bytes(h, w int) int64 {
	return int64(h) * int64((w/2+lanes)/lanes) * 2 * lanes * 4
}
