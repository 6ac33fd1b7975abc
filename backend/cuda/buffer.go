package cuda

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// buffer is an array in the GPU's memory, or a view of another's channels. Its fields but
// freed do not change; freed is guarded by the device's mutex.
type buffer struct {
	device  *Device
	shape   backend.Shape
	pointer driver.Pointer
	block   *block  // nil in a view
	parent  *buffer // of a view
	freed   bool
}

// Shape implements backend.Buffer.
func (b *buffer) Shape() backend.Shape { return b.shape }

// Free implements backend.Buffer. What is allocated next may get the memory at once: the
// work on it comes later on the stream.
func (b *buffer) Free() {
	b.device.mu.Lock()
	defer b.device.mu.Unlock()
	if b.freed {
		return
	}
	b.device.settleBefore(b)
	b.freed = true
	b.device.pool.release(b.block)
}

// gone tells whether the buffer, or the one that it is a view of, was freed.
func (b *buffer) gone() bool { return b.freed || b.parent != nil && b.parent.gone() }

// bytes is the size of the buffer.
func (b *buffer) bytes() int64 { return int64(b.shape.Len()) * 4 }

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

func (b *buffer) array() array { return arrayAt(b.pointer, b.shape) }

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

// Alloc implements backend.Memory.
func (d *Device) Alloc(s backend.Shape) (backend.Buffer, error) {
	var b *buffer
	err := d.exclusively(func() (err error) {
		if err := s.Check(); err != nil {
			return err
		}
		if err := checkSize(s); err != nil {
			return err
		}
		b = &buffer{device: d, shape: s}
		if b.block, err = d.pool.alloc(b.bytes()); err != nil {
			return err
		}
		b.pointer = b.block.pointer
		if err := d.gpu.Fill(d.stream, b.pointer, 0, int64(s.Len())); err != nil {
			d.pool.release(b.block)
			return translate(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Channels implements backend.Memory.
func (d *Device) Channels(b backend.Buffer, from, count int) (backend.Buffer, error) {
	var view *buffer
	err := d.operate(func(b []*buffer) error {
		s := b[0].shape
		if err := devicekit.CheckChannels(s, from, count); err != nil {
			return err
		}
		s.C = count
		view = &buffer{device: d, shape: s, pointer: b[0].pointer + driver.Pointer(4*from*s.Plane()), parent: b[0]}
		return nil
	}, b)
	if err != nil {
		return nil, err
	}
	return view, nil
}

// Overlaps implements backend.Memory.
func (d *Device) Overlaps(a, b backend.Buffer) (shared bool, err error) {
	err = d.operate(func(b []*buffer) error {
		shared = overlap(b[0], b[1])
		return nil
	}, a, b)
	return shared, err
}

// Upload implements backend.Memory.
func (d *Device) Upload(dst backend.Buffer, src []float32) error {
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckUpload(b[0].shape, len(src)); err != nil {
			return err
		}
		return translate(d.staging.upload(b[0].pointer, src))
	}, dst)
}

// Download implements backend.Memory.
func (d *Device) Download(dst []float32, src backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckDownload(len(dst), b[0].shape); err != nil {
			return err
		}
		return translate(d.staging.download(dst, b[0].pointer))
	}, src)
}

// operate puts one operation on buffers of this device, in the order given, on the stream.
func (d *Device) operate(run func(b []*buffer) error, buffers ...backend.Buffer) error {
	return d.exclusively(func() error { return d.withOwn(run, buffers) })
}

// operateBeforeLate is operate for an operation that sees itself to what is late.
func (d *Device) operateBeforeLate(run func(b []*buffer) error, buffers ...backend.Buffer) error {
	return d.beforeLate(func() error { return d.withOwn(run, buffers) })
}

// withOwn runs an operation with this device's buffers behind those given.
func (d *Device) withOwn(run func(b []*buffer) error, buffers []backend.Buffer) error {
	var few [backend.MaxTerms + 1]*buffer
	own := few[:0]
	for _, b := range buffers {
		h, err := d.own(b)
		if err != nil {
			return err
		}
		own = append(own, h)
	}
	return run(own)
}

// own returns this device's buffer behind b.
func (d *Device) own(b backend.Buffer) (*buffer, error) {
	h, ok := b.(*buffer)
	if !ok || h == nil {
		return nil, fmt.Errorf("%w: buffer of type %T on a CUDA device", backend.ErrForeign, b)
	}
	if h.device != d {
		return nil, fmt.Errorf("%w: buffer of another CUDA device", backend.ErrForeign)
	}
	if h.gone() {
		return nil, fmt.Errorf("%w: buffer of %v", backend.ErrFreed, h.shape)
	}
	return h, nil
}

// overlap tells whether two buffers share memory.
func overlap(a, b *buffer) bool {
	return a.pointer < b.pointer+driver.Pointer(b.bytes()) && b.pointer < a.pointer+driver.Pointer(a.bytes())
}

// apart returns an error if dst shares memory with one of the sources.
func apart(dst *buffer, sources ...*buffer) error {
	for _, s := range sources {
		if overlap(dst, s) {
			return fmt.Errorf("%w: %v and %v", backend.ErrAlias, dst.shape, s.shape)
		}
	}
	return nil
}

// apartOrSame accepts a source that is the very same memory as dst, and refuses one that
// overlaps it in part.
func apartOrSame(dst *buffer, sources ...*buffer) error {
	for _, s := range sources {
		if dst.pointer == s.pointer && dst.bytes() == s.bytes() {
			continue
		}
		if err := apart(dst, s); err != nil {
			return err
		}
	}
	return nil
}

// scratch are blocks of one operation; the next one on the stream may have them.
type scratch struct {
	pool   *pool
	blocks []*block
}

func (d *Device) scratch() *scratch { return &scratch{pool: d.pool} }

// alloc returns memory of undefined contents.
func (s *scratch) alloc(bytes int64) (driver.Pointer, error) {
	b, err := s.pool.alloc(bytes)
	if err != nil {
		return 0, err
	}
	s.blocks = append(s.blocks, b)
	return b.pointer, nil
}

func (s *scratch) free() {
	for _, b := range s.blocks {
		s.pool.release(b)
	}
}

// bytes is how much memory the blocks have.
func (s *scratch) bytes() (n int64) {
	for _, b := range s.blocks {
		n += b.bytes
	}
	return n
}
