package cuda

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// address is what a buffer or a view of one is in.
type address struct {
	pointer driver.Pointer
	block   *block // nil in a view
}

// buffer is an operand.
type buffer devicekit.Array[address]

func own(a devicekit.Array[address]) *buffer { return (*buffer)(&a) }

// ownUnlessNil is own of what may be nil.
func ownUnlessNil(a *devicekit.Array[address]) *buffer { return (*buffer)(a) }

// pointer is where the buffer begins.
func (b *buffer) pointer() driver.Pointer { return b.Data.pointer }

// bytes is the size of the buffer.
func (b *buffer) bytes() int64 { return int64(b.Shape.Len()) * 4 }

// array is how a kernel sees images: where they begin, and the distances, in elements,
// between images, channels and rows.
type array struct {
	pointer      driver.Pointer
	image, plane int
	pitch        int
}

// arrayAt is an array of this shape at an address.
func arrayAt(p driver.Pointer, s backend.Shape) array {
	return array{p, s.C * s.Plane(), s.Plane(), s.W}
}

func (b *buffer) array() array { return arrayAt(b.pointer(), b.Shape) }

// from is the array that begins at a pixel of this one.
func (a array) from(y, x int) array {
	a.pointer += driver.Pointer(4 * (y*a.pitch + x))
	return a
}

// images leaves the first n images out.
func (a array) skip(n int) array {
	if a.pointer != 0 {
		a.pointer += driver.Pointer(4 * n * a.image)
	}
	return a
}

// checkSize returns ErrOutOfMemory for shapes that the kernels' 32-bit indices of pixels and
// of channels do not reach.
func checkSize(s backend.Shape) error {
	if s.H > math.MaxInt32/s.W || s.N > math.MaxInt32/s.C {
		return fmt.Errorf("%w: %v has more than 2³¹−1 pixels or channels", backend.ErrOutOfMemory, s)
	}
	return nil
}

// Alloc implements devicekit.Kernels.
func (d *gpu) Alloc(s backend.Shape) (m address, err error) {
	if err := checkSize(s); err != nil {
		return m, err
	}
	if m.block, err = d.pool.Alloc(4 * int64(s.Len())); err != nil {
		return m, err
	}
	m.pointer = begin(m.block)
	if err := d.gpu.Fill(d.stream, m.pointer, 0, int64(s.Len())); err != nil {
		d.pool.Release(m.block)
		return address{}, translate(err)
	}
	return m, nil
}

// Free implements devicekit.Kernels. What is allocated next may get the memory at once: the
// work on it comes later on the stream.
func (d *gpu) Free(m address) { d.pool.Release(m.block) }

// View implements devicekit.Kernels.
func (d *gpu) View(m address, offset, _ int) address {
	return address{pointer: m.pointer + driver.Pointer(4*offset)}
}

// Upload implements devicekit.Kernels.
func (d *gpu) Upload(dst devicekit.Array[address], src []float32) error {
	return translate(d.staging.upload(dst.Data.pointer, src))
}

// Download implements devicekit.Kernels.
func (d *gpu) Download(dst []float32, src devicekit.Array[address]) error {
	return translate(d.staging.download(dst, src.Data.pointer))
}

// scratch are blocks of one operation; the next one on the stream may have them.
type scratch struct {
	pool   *pool
	blocks []*block
}

func (d *gpu) scratch() *scratch { return &scratch{pool: d.pool} }

// alloc returns memory of undefined contents.
func (s *scratch) alloc(bytes int64) (driver.Pointer, error) {
	b, err := s.pool.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	s.blocks = append(s.blocks, b)
	return begin(b), nil
}

func (s *scratch) free() {
	for _, b := range s.blocks {
		s.pool.Release(b)
	}
}

// bytes is how much memory the blocks have.
func (s *scratch) bytes() (n int64) {
	for _, b := range s.blocks {
		n += b.Bytes
	}
	return n
}
