package cpu

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/cpu/internal/tvrow"
)

// between returns n floats with a page that must not be touched right after them,
// or right before them.
func between(t *testing.T, n int, atEnd bool) []float32 {
	page := syscall.Getpagesize()
	pages := (4*n+page-1)/page + 2
	memory, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(memory)) })
	require.NoError(t, syscall.Mprotect(memory[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(memory[(pages-1)*page:], syscall.PROT_NONE))
	from := page
	if atEnd {
		from = (pages-1)*page - 4*n
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[from])), n)
}

// No kernel reads beyond its rows either: the pages around them are closed, so
// that a read would end the test program.
func TestTVKernelsReadNoOtherPage(t *testing.T) {
	const widest, channels = 40, tvrow.MaxFused
	step := tvrow.NewStep(0.3, 0.2, 0.4, 0.11)
	for _, atEnd := range []bool{true, false} {
		arrays := make([][]float32, 6)
		for i := range arrays {
			arrays[i] = between(t, 2*2*channels*widest, atEnd)
		}
		cut := func(i, n int) []float32 {
			if atEnd {
				return arrays[i][len(arrays[i])-n:]
			}
			return arrays[i][:n:n]
		}
		assembled(t, func(t *testing.T, set InstructionSet) {
			k := instructionSets[set].tv
			for width := 1; width <= widest; width++ {
				for c := 1; c <= channels; c++ {
					l := tvrow.Layout{Channels: c, Width: width, Plane: 2 * width, Stride: width}
					image := (2*c - 1) * width
					p, u, y := cut(0, 2*2*c*width), cut(1, image), cut(2, image)
					ubar, below := cut(3, c*width), cut(4, image)
					scratch, columns := make([]float32, l.Scratch()), make([]tvrow.Column, width)
					k.Sweep(p, u, y, ubar, scratch, l, &step)
					k.Dual(cut(0, (4*c-1)*width), ubar, cut(4, c*width), scratch, l, &step)
					k.Primal(cut(0, width), cut(1, width), cut(2, width), cut(3, width), cut(4, width), cut(5, width), &step)
					var sums tvrow.Sums
					k.Evaluate(&sums, cut(5, width), 0, cut(0, (4*c-1)*width), u, below, y, columns, l, 0.11)
					require.Zero(t, sums, "of zeros")
				}
			}
		})
	}
}
