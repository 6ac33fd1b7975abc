// Package convrow has the inner loops of direct convolution, a block of some output
// channels by some columns of a row, whose sums stay in registers while all taps
// pass by; and of its gradient with respect to the weights. Each is a portable loop,
// and assembly for AVX2, for AVX-512 and for NEON.
//
// A sum of a convolution begins at +0 and takes the taps in their order, so that the
// bits of an output do not depend on the block or on its place in it. The assembly
// fuses every multiplication and addition; the portable loop does so only where Go
// does (on arm64, not on amd64 by default). AVX2, AVX-512 and NEON give the same
// bits; those of the gradient differ.
package convrow

//go:generate go -C ../../_asm run ./convrow -pkg convrow -out ../internal/convrow/kernels_amd64.s -stubs ../internal/convrow/kernels_amd64.go
//go:generate go -C ../../_asm run ./neon/convrow -out ../internal/convrow

// Columns is a number of columns that all instruction sets fill their blocks with: the last
// block of a longer row is the only one that is not full if rows are cut there.
const Columns = 48

// Lanes is how many columns the largest vector has. Kernels read whole vectors, so
// that a row must go on, with any numbers, to the next multiple of Lanes.
const Lanes = 16

// Taps are the places that an output's sum takes its samples from.
type Taps struct {
	offsets []int // in bytes, from the sample at the output's own column
	reach   int   // in floats, the largest
}

// NewTaps returns the taps of a kernel of kh rows and kw columns on some input
// channels, in the order of weights of shape [channels][kh][kw]. The first sample of
// the first channel is the one at the output's own column; channels are plane floats
// apart and rows pitch.
func NewTaps(channels, kh, kw, plane, pitch int) *Taps {
	t := &Taps{offsets: make([]int, 0, channels*kh*kw)}
	for i := range channels {
		for r := range kh {
			for s := range kw {
				at := i*plane + r*pitch + s
				t.offsets = append(t.offsets, 4*at)
				t.reach = max(t.reach, at)
			}
		}
	}
	return t
}

// Ending is what becomes of a sum: dst = Beta·dst + Scale·max(v, Slope·v), where v is
// the sum with its bias. With Beta = 0 the old dst is not read. Slope is in (0, 1].
type Ending struct{ Slope, Scale, Beta float32 }

// Kernels are the kernels of one instruction set; portable ones have no lanes.
type Kernels struct {
	lanes     int
	blocks    [maxChannels + 1][vectors]blockKernel // by channels, and vectors less one
	correlate [maxChannels + 1]correlateKernel      // by outputs
}

// The largest block.
const maxChannels, vectors = 8, 3

// blockKernel is Block in assembly. Its pointers are to the first elements of the
// slices, and last is how many columns the last vector has.
type blockKernel func(dst *float32, plane int, src *float32, offsets *int, taps int, weights *float32, stride, last int, bias *float32, end *[3]float32)

// Portable are the loops in Go.
var Portable = &Kernels{}

// The kernels for AVX2 and FMA, for AVX-512 F, and for NEON; nil where this build does not
// have them.
var AVX2, AVX512, NEON *Kernels

// Size returns the largest block that Block takes of an output of some channels and
// columns, both at least 1.
func (k *Kernels) Size(channels, columns int) (c, x int) {
	if k.lanes == 0 {
		return 1, min(columns, portableColumns)
	}
	c = min(channels, maxChannels)
	for k.blocks[c][0] == nil {
		c--
	}
	return c, min(columns, vectors*k.lanes)
}

// Block sets columns of some output channels, no more than Size gives: dst holds
// them, plane floats apart, and src begins at the first column's own sample. weights
// has a row of as many numbers as there are taps for every channel, and bias one
// number.
func (k *Kernels) Block(dst []float32, plane int, src []float32, t *Taps, weights, bias []float32, channels, columns int, e *Ending) {
	taps := len(t.offsets)
	dst, weights, bias = dst[:(channels-1)*plane+columns], weights[:channels*taps], bias[:channels]
	if k.lanes == 0 {
		src = src[:t.reach+columns]
		for c := range channels {
			blockPortable(dst[c*plane:][:columns], src, t.offsets, weights[c*taps:][:taps], bias[c], e)
		}
		return
	}
	n := (columns + k.lanes - 1) / k.lanes
	src = src[:t.reach+n*k.lanes]
	end := [3]float32{e.Slope, e.Scale, e.Beta}
	k.blocks[channels][n-1](&dst[0], plane, &src[0], &t.offsets[0], taps, &weights[0], taps, columns-(n-1)*k.lanes, &bias[0], &end)
}
