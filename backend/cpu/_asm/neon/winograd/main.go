// Command winograd writes the assembly of package internal/winograd for arm64, the
// kernels of Winograd's F(6×6, 3×3), and its Go declarations.
//
// Lanes are channels, so that no kernel but those that change the layout, and the
// projection, ever moves a number from one lane to another.
package main

import "github.com/averaged/imaging/backend/cpu/_asm/neon"

// The sizes of package winograd.
const (
	tile  = 6
	patch = 8
	block = 16
)

// lanes are those of a vector, and parts the vectors of a block of channels.
const (
	lanes = 4
	parts = block / lanes
)

// bytes is the size of a vector, and blockBytes that of a block.
const (
	bytes      = 16
	blockBytes = parts * bytes
)

func main() {
	var p neon.Program
	input(&p)
	multiply(&p)
	activate(&p)
	update(&p)
	pack(&p)
	unpack(&p, false)
	unpack(&p, true)
	spread(&p)
	correlate(&p)
	expand(&p)
	contract(&p)
	for _, size := range []int{4, 8, 16} {
		project(&p, size)
	}
	p.Write()
}

// distance takes a parameter in floats and returns it in bytes.
func distance(f *neon.Function, name string) neon.R {
	r := f.Parameter(name)
	f.ShiftLeft(r, r, 2)
	return r
}

// strides addresses n arrays at a fixed distance, with an index register for each
// but the first.
type strides []neon.R

// newStrides takes a distance in bytes, whose register becomes one of the indices.
func newStrides(f *neon.Function, distance neon.R, n int) strides {
	s := strides{0, distance}
	for len(s) < n {
		r := f.General()
		f.Add(r, s[len(s)-1], distance)
		s = append(s, r)
	}
	return s
}

// at returns the address of array k.
func (s strides) at(base neon.R, k int) neon.Mem {
	if k == 0 {
		return neon.At(base, 0)
	}
	return neon.Indexed(base, s[k])
}
