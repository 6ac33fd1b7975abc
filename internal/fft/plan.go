package fft

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Plan transforms real images of h×w samples. It is safe for concurrent use; its
// scratch memory is pooled.
type Plan struct {
	kernels   *Kernels
	h, w      int
	rows      *line // along a row, w elements
	columns   *line // along a column, h elements
	groups    int   // of columns in a half spectrum
	places    []int // of the records of full groups of columns in a line, as kernels want them
	scratches sync.Pool
	spectra   sync.Pool
}

// New returns the plan for images of h rows and w columns, at least 1 each, with the kernels of
// Selected. Any size works; the time per sample grows with the sum of the prime factors, so
// choose sizes by GoodSize where there is a choice.
func New(h, w int) (*Plan, error) {
	k, err := Selected()
	if err != nil {
		return nil, err
	}
	return NewWith(k, h, w)
}

// NewWith is New with the kernels of an instruction set that the processor has.
func NewWith(k *Kernels, h, w int) (*Plan, error) {
	if h < 1 || w < 1 || h > math.MaxInt32/w {
		return nil, fmt.Errorf("fft: transform of %d×%d samples, want 1×1 to 2³¹−1 in all", h, w)
	}
	p := &Plan{kernels: k, h: h, w: w, rows: newLine(w), columns: newLine(h), groups: (w/2 + lanes) / lanes}
	const size = int(unsafe.Sizeof(record{}))
	for g := range (w/2 + 1) / lanes { // the groups without padding
		var at [2 * lanes]int
		for i := range lanes {
			z, c := p.records(g*lanes + i)
			at[i], at[i+lanes] = z*size, c*size
		}
		p.places = append(p.places, at[:]...)
	}
	p.scratches.New = func() any {
		return &scratch{
			line: make([]record, w),
			room: make([]record, max(p.rows.room, p.columns.room)),
			flat: make([]float32, lanes*w),
		}
	}
	return p, nil
}

// Size returns the rows and columns of the images.
func (p *Plan) Size() (h, w int) { return p.h, p.w }

// GoodSize returns the smallest number that is at least n and 1, and has no prime
// factors other than 2, 3 and 5.
func GoodSize(n int) int {
	for n = max(n, 1); ; n++ {
		m := n
		for _, r := range [...]int{2, 3, 5} {
			for m%r == 0 {
				m /= r
			}
		}
		if m == 1 {
			return n
		}
	}
}

// scratch is what one task needs.
type scratch struct {
	line  []record          // a block of rows
	room  []record          // of stages without code of their own
	flat  []float32         // 16 rows as they come and go
	block [2 * lanes]record // 16 columns of the spectra of 32 rows
}

// records returns the places in a line of frequency k and of its mirror image.
func (p *Plan) records(k int) (z, c int) {
	return p.rows.position[k], p.rows.position[(p.w-k)%p.w]
}

// borrow returns n half spectra with arbitrary contents.
func (p *Plan) borrow(n int) []record {
	n *= p.h * p.groups
	if v, ok := p.spectra.Get().(*[]record); ok && cap(*v) >= n {
		return (*v)[:n]
	}
	return make([]record, n)
}

func (p *Plan) giveBack(s []record) { p.spectra.Put(&s) }
