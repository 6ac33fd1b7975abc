package fft

import (
	"fmt"

	"github.com/averaged/imaging/internal/parallel"
)

// Spectrum is the discrete Fourier transform of a real image,
//
//	X[fy,fx] = Σ x[y,x]·exp(−2πi·(y·fy/h + x·fx/w)),
//
// of which the half with 0 ≤ fx ≤ ⌊w/2⌋ is stored. The other half is X[−fy,−fx] =
// conj X[fy,fx].
type Spectrum struct {
	plan *Plan
	half []record
}

// Forward transforms an image of h×w samples, row by row.
func (p *Plan) Forward(pool *parallel.Pool, image []float32) (*Spectrum, error) {
	if len(image) != p.h*p.w {
		return nil, fmt.Errorf("fft: image of %d samples, want %d×%d", len(image), p.h, p.w)
	}
	half := make([]record, p.h*p.groups)
	rows := Rows{H: p.h, W: p.w, Row: func(_, y int, row []float32) { copy(row, image[y*p.w:]) }}
	pool.For(p.blocks(p.h), func(b int) { p.forwardRows(half, rows, 0, b) })
	pool.For(p.groups, func(g int) {
		s := p.scratches.Get().(*scratch)
		defer p.scratches.Put(s)
		group := half[g*p.h : (g+1)*p.h]
		p.columns.forward(p.kernels, group, s.room)
		for j := range group {
			for i := range group[j] {
				group[j][i] *= .5
			}
		}
	})
	return &Spectrum{plan: p, half: half}, nil
}

// Inverse transforms back into an image of h×w samples, row by row.
func (s *Spectrum) Inverse(pool *parallel.Pool, image []float32) error {
	p := s.plan
	if len(image) != p.h*p.w {
		return fmt.Errorf("fft: image of %d samples, want %d×%d", len(image), p.h, p.w)
	}
	half := p.borrow(1)
	defer p.giveBack(half)
	pool.For(p.groups, func(g int) {
		t := p.scratches.Get().(*scratch)
		defer p.scratches.Put(t)
		group := half[g*p.h : (g+1)*p.h]
		copy(group, s.half[g*p.h:])
		p.columns.inverse(p.kernels, group, t.room)
	})
	scale := float32(1 / (float64(p.h) * float64(p.w)))
	rows := Rows{H: p.h, W: p.w, Row: func(_, y int, row []float32) {
		for x, v := range row {
			image[y*p.w+x] = scale * v
		}
	}}
	pool.For(p.blocks(p.h), func(b int) { p.inverseRows(rows, half, 0, b) })
	return nil
}

// Each sets every stored coefficient X[fy,fx] to f(fy, fx, X[fy,fx]), where fy is in
// [0, h) and fx in [0, ⌊w/2⌋], in no particular order.
func (s *Spectrum) Each(f func(fy, fx int, x complex64) complex64) {
	p := s.plan
	for fx := range p.w/2 + 1 {
		group, i := s.half[fx/lanes*p.h:][:p.h], fx%lanes
		for j := range group {
			x := f(p.columns.frequency[j], fx, complex(group[j][i], group[j][i+lanes]))
			group[j][i], group[j][i+lanes] = real(x), imag(x)
		}
	}
}

// blocks is the number of blocks of 32 rows in h rows.
func (p *Plan) blocks(h int) int { return (h + 2*lanes - 1) / (2 * lanes) }
