package dispatch

import "github.com/averaged/imaging/backend"

// GPU is what a backend brings. B is a block of its memory. Methods are called one at a time, and work is done
// in the order of the calls. After an error that does not wrap backend.ErrOutOfMemory only Fault, Free and
// Close are called.
type GPU[B comparable] interface {
	Description() backend.Description
	Shaders() Shaders

	// Alloc returns a block of at least so many bytes, of undefined contents. Free gives it back after the
	// work that was asked for.
	Alloc(bytes int64) (B, error)
	Free(b B)

	// Fill sets bytes of a block to a word of four bytes.
	Fill(b B, offset, bytes int64, word uint32) error
	// Upload copies bytes to a block. They may be changed when it returns.
	Upload(b B, offset int64, src []byte) error
	// Download waits for all work before it, and copies bytes of a block.
	Download(dst []byte, b B, offset int64) error

	Dispatch(d *Dispatch[B]) error
	// Finish waits for all work.
	Finish() error
	// Close gives all back. failed tells whether a call has failed.
	Close(failed bool) error
	// Fault says which device and driver have failed.
	Fault(err error) error
}

// Shaders is what differs between the shaders of backends.
type Shaders struct {
	// Float64 tells whether there is a shader "reduce", which adds in float64. Otherwise the host adds.
	Float64 bool
	// Alignment is what an operand's first number is a multiple of, or 0 if a shader sees whole blocks.
	Alignment int
	// Operations is how many arithmetic operations a dispatch may have, so that none takes long.
	Operations float64
	// Tiling chooses the shader of a convolution. It looks at the filter alone, so that images of all sizes,
	// and with fewer channels than the filter, are computed in the same way.
	Tiling func(outputs, kh, kw int) Tiling
	// Half tells whether Tiling returns shaders with factors in half precision.
	Half bool
}

// Tiling is a shader that computes convolutions, and how.
type Tiling struct {
	Shader        string
	Constants     []uint32 // after ADDS and BALL
	Rows, Columns int      // of a workgroup's pixels
	Outputs       int      // of a workgroup, a multiple of 8
	// Half tells whether factors are in half precision: weights are packed by the shader "packhalf", and two
	// more constants say whether a word of the source and of the result is two channels.
	Half bool
}

const (
	// GroupThreads is how many invocations a workgroup of every shader has.
	GroupThreads = 256
	// MaxGroups is how many workgroups a dispatch may have along an axis, on every device.
	MaxGroups = 65535
)

// Dispatch is a run of a shader.
type Dispatch[B comparable] struct {
	Shader     string
	Constants  []uint32 // values of its specialization constants from 0 on
	Operands   []Operand[B]
	Push       []uint32 // what all invocations read
	X, Y       int      // workgroups
	Operations float64
}

// Operand is Count numbers of a block from the number First on. One without a block is never read or written.
type Operand[B comparable] struct {
	Block        B
	First, Count int
}
