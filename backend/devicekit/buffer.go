package devicekit

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// buffer is an array, or a view of another's channels.
type buffer[M, F any] struct {
	owned[M, F]
	shape  backend.Shape
	data   M
	memory *memory
	offset int // in numbers, of the memory
	parent *buffer[M, F]
	freed  atomic.Bool // of a view
}

// memory is what a buffer and its views are in. It is known by its address here.
type memory struct {
	lent []float32 // the caller's, or nil
}

// Shape implements backend.Buffer.
func (b *buffer[M, F]) Shape() backend.Shape { return b.shape }

// Free implements backend.Buffer.
func (b *buffer[M, F]) Free() {
	if b.parent != nil {
		b.freed.Store(true)
		return
	}
	b.device.free(b.life)
}

// gone tells whether the buffer is a view that was freed, or a view of one.
func (b *buffer[M, F]) gone() bool {
	return b.parent != nil && (b.freed.Load() || b.parent.gone())
}

func (b *buffer[M, F]) array() Array[M] { return Array[M]{b.shape, b.data} }

// span returns the numbers of the memory that the buffer has.
func (b *buffer[M, F]) span() (from, to int) { return b.offset, b.offset + b.shape.Len() }

// overlaps tells whether two buffers of a device share memory.
func (b *buffer[M, F]) overlaps(o *buffer[M, F]) bool {
	from, to := b.span()
	start, end := o.span()
	if b.memory == o.memory {
		return from < end && start < to
	}
	if b.memory.lent == nil || o.memory.lent == nil {
		return false
	}
	// Who lends memory twice may do so in part.
	x, y := b.memory.lent[from:to], o.memory.lent[start:end]
	first, second := uintptr(unsafe.Pointer(&x[0])), uintptr(unsafe.Pointer(&y[0]))
	return first < second+4*uintptr(len(y)) && second < first+4*uintptr(len(x))
}

// same tells whether two buffers of a device have the very same memory.
func (b *buffer[M, F]) same(o *buffer[M, F]) bool {
	if b.shape.Len() != o.shape.Len() {
		return false
	}
	if b.memory == o.memory {
		return b.offset == o.offset
	}
	return b.memory.lent != nil && o.memory.lent != nil && &b.memory.lent[b.offset] == &o.memory.lent[o.offset]
}

// buffer returns the device's own buffer behind b, or an empty one where something is wrong.
func (c *call[M, F]) buffer(b backend.Buffer) *buffer[M, F] {
	own, ok := b.(*buffer[M, F])
	switch {
	case c.err != nil:
	case !ok || own == nil:
		c.foreign("buffer", b)
	case own.device == c.device && own.gone():
		c.err = fmt.Errorf("%w: buffer %v", backend.ErrFreed, own.shape)
	case c.hold(&own.owned, "buffer", own.shape):
		return own
	}
	return &buffer[M, F]{memory: &memory{}}
}

// optional is buffer of one that may be nil, and its array.
func (c *call[M, F]) optional(b backend.Buffer) (*buffer[M, F], *Array[M]) {
	if b == nil {
		return nil, nil
	}
	own := c.buffer(b)
	a := own.array()
	return own, &a
}

// apart requires that dst shares no memory with the sources, some of which may be nil.
func (c *call[M, F]) apart(dst *buffer[M, F], sources ...*buffer[M, F]) {
	for _, s := range sources {
		if c.err == nil && s != nil && dst.overlaps(s) {
			c.err = fmt.Errorf("%w: %v and %v", backend.ErrAlias, dst.shape, s.shape)
		}
	}
}

// apartOrSame also allows sources to have the very same memory.
func (c *call[M, F]) apartOrSame(dst *buffer[M, F], sources ...*buffer[M, F]) {
	for _, s := range sources {
		if c.err == nil && !dst.same(s) {
			c.apart(dst, s)
		}
	}
}

// sameShape requires that all buffers have the first one's shape.
func (c *call[M, F]) sameShape(buffers ...*buffer[M, F]) {
	if c.err == nil {
		c.err = arguments.CheckSameShape(buffers...)
	}
}

// Alloc implements backend.Memory.
func (d *Device[M, F]) Alloc(s backend.Shape) (backend.Buffer, error) {
	c := d.begin()
	defer c.end()
	c.check(s.Check())
	if c.err != nil {
		return nil, c.err
	}
	m, err := d.kernels.Alloc(s)
	if err != nil {
		return nil, err
	}
	return d.newBuffer(s, m, &memory{}, func() { d.kernels.Free(m) }), nil
}

func (d *Device[M, F]) newBuffer(s backend.Shape, data M, in *memory, release func()) *buffer[M, F] {
	return &buffer[M, F]{owned: owned[M, F]{d, newLifetime(release)}, shape: s, data: data, memory: in}
}

// Wrap is backend.HostMemory's for a device that computes in the host's memory, which it calls m.
func Wrap[M, F any](d *Device[M, F], s backend.Shape, data []float32, m M) (backend.Buffer, error) {
	c := d.begin()
	defer c.end()
	c.check(s.Check())
	c.check(arguments.CheckUpload(s, len(data)))
	if c.err != nil {
		return nil, c.err
	}
	return d.newBuffer(s, m, &memory{lent: data}, func() {}), nil
}

// Operand returns what kernels are given for a buffer of a device: for what a device does beside
// backend.Device, and for tests of kernels.
func Operand[M, F any](d *Device[M, F], b backend.Buffer) (Array[M], error) {
	c := d.begin()
	defer c.end()
	own := c.buffer(b)
	return own.array(), c.err
}

// Channels implements backend.Memory.
func (d *Device[M, F]) Channels(b backend.Buffer, from, count int) (backend.Buffer, error) {
	c := d.begin()
	defer c.end()
	own := c.buffer(b)
	s := own.shape
	c.check(arguments.CheckChannels(s, from, count))
	if c.err != nil {
		return nil, c.err
	}
	s.C = count
	return &buffer[M, F]{
		owned: own.owned, shape: s, parent: own, memory: own.memory, offset: own.offset + from*s.Plane(),
		data: d.kernels.View(own.data, from*s.Plane(), s.Len()),
	}, nil
}

// Overlaps implements backend.Memory.
func (d *Device[M, F]) Overlaps(a, b backend.Buffer) (bool, error) {
	c := d.begin()
	defer c.end()
	first, second := c.buffer(a), c.buffer(b)
	return c.err == nil && first.overlaps(second), c.err
}

// CopyRegion implements backend.Memory.
func (d *Device[M, F]) CopyRegion(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	c.check(arguments.CheckCopyRegion(to.shape, y, x, from.shape, r))
	c.apart(to, from)
	if c.err != nil {
		return c.err
	}
	return d.kernels.CopyRegion(to.array(), y, x, from.array(), r)
}

// Upload implements backend.Memory.
func (d *Device[M, F]) Upload(dst backend.Buffer, src []float32) error {
	c := d.begin()
	defer c.end()
	to := c.buffer(dst)
	c.check(arguments.CheckUpload(to.shape, len(src)))
	if c.err != nil {
		return c.err
	}
	return d.kernels.Upload(to.array(), src)
}

// Download implements backend.Memory.
func (d *Device[M, F]) Download(dst []float32, src backend.Buffer) error {
	c := d.begin()
	defer c.end()
	from := c.buffer(src)
	c.check(arguments.CheckDownload(len(dst), from.shape))
	if c.err != nil {
		return c.err
	}
	return d.kernels.Download(dst, from.array())
}
