package cuda

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter is a bank of weights on the GPU twice: for A, and with input and output exchanged
// and both axes reversed, which is Aᵀ written as a convolution (exactly, zero padding
// included: a tap that reaches outside the frame has no counterpart on either side).
type filter struct {
	shape            backend.Shape // Out, In, KH, KW
	block            *block
	forward, adjoint bank
}

// bank is what a convolution kernel reads of a filter.
type bank struct {
	weights         driver.Pointer
	inputs, outputs int
	kh, kw          int
	padded          int  // outputs with padding
	words           int  // of 4 bytes, in all
	tensor          bool // in the order of internal/kernels/tensorcores.cu, else of convolution.cu
	form            form // what its factors are, and those of the source must be
}

// form is how internal/kernels/tensorcores.cu takes its factors.
type form uint8

const (
	exact form = iota // float32
	tf32              // float32, rounded by the kernel
	half              // pairs of channels in half precision
)

func (f form) String() string { return [...]string{"exact", "tf32", "half"}[f] }

// The geometry of the convolution kernels.
const (
	fragmentInputs = 8  // words of the source in a chunk of internal/kernels/tensorcores.cu
	fragmentTile   = 8  // outputs of a tile there
	tensorTile     = 16 // side of a block's tile of pixels there
	narrowBlock    = 32 // outputs of a block there
	wideBlock      = 64 // and where two such blocks fit on a multiprocessor
)

// channels returns how many channels a word of the source has.
func (f form) channels() int {
	if f == half {
		return 2
	}
	return 1
}

// newBank says how the weights of a convolution are kept. It looks at the filter only, so
// that an image has the same bits at any size.
func (d *gpu) newBank(outputs, inputs, kh, kw int) bank {
	b := bank{inputs: inputs, outputs: outputs, kh: kh, kw: kw}
	if d.hasTensorCores() && !(d.plain && d.precision == Float32) && kh == 3 && kw == 3 && max(inputs, outputs) >= fragmentTile {
		b.tensor, b.form = true, form(d.precision)
		block := wideBlock
		switch {
		case outputs <= fragmentTile:
			block = fragmentTile
		case outputs <= narrowBlock:
			block = narrowBlock
		}
		b.padded = block * ceil(outputs, block)
		chunks := ceil(ceil(inputs, b.form.channels()), fragmentInputs)
		b.words = chunks * fragmentInputs * kh * kw * b.padded
		return b
	}
	v := variantFor(outputs)
	b.padded = v.outputs * ceil(outputs, v.outputs)
	b.words = inputs * kh * kw * b.padded
	return b
}

// NewFilter implements devicekit.Kernels.
func (d *gpu) NewFilter(w devicekit.Array[address]) (*filter, error) {
	s := w.Shape
	if max(s.N, s.C)+64 > math.MaxInt32/s.Plane() {
		return nil, fmt.Errorf("%w: a filter %v", backend.ErrUnsupported, s)
	}
	f := &filter{shape: s, forward: d.newBank(s.N, s.C, s.H, s.W), adjoint: d.newBank(s.C, s.N, s.H, s.W)}
	var err error
	if f.block, err = d.pool.Alloc(4 * int64(f.forward.words+f.adjoint.words)); err != nil {
		return nil, err
	}
	f.forward.weights = begin(f.block)
	f.adjoint.weights = begin(f.block) + driver.Pointer(4*f.forward.words)
	if err := d.prepare(f, own(w)); err != nil {
		d.pool.Release(f.block)
		return nil, err
	}
	return f, nil
}

// FreeFilter implements devicekit.Kernels.
func (d *gpu) FreeFilter(f *filter) { d.pool.Release(f.block) }

// UpdateFilter implements devicekit.Kernels.
func (d *gpu) UpdateFilter(f *filter, w devicekit.Array[address]) error { return d.prepare(f, own(w)) }

// prepare puts the weights into the order in which the kernels read them.
func (d *gpu) prepare(f *filter, w *buffer) error {
	s := f.shape
	for _, b := range []*bank{&f.forward, &f.adjoint} {
		args := []driver.Arg{
			driver.Ptr(b.weights), driver.Ptr(w.pointer()), number(s.N), number(s.C), number(s.Plane()), flag(b == &f.adjoint),
		}
		kernel := "pack_rows"
		if b.tensor {
			kernel = "pack_fragments"
			args = append(args, number(b.padded/fragmentTile), flag(b.form == half), flag(b.form == tf32))
		} else {
			args = append(args, number(b.padded))
		}
		if err := d.launch("filters", kernel, elements(b.words), 0, append(args, long(b.words))...); err != nil {
			return err
		}
	}
	return nil
}
