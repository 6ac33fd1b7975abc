package refdevice

import (
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// buffer is an array, or a view of some of its channels.
type buffer struct {
	device *Device
	shape  backend.Shape
	data   []float64
	owner  *buffer // the array that a view belongs to; nil for an array
	from   int     // where data begins in the array
	freed  bool
}

// Shape implements backend.Buffer.
func (b *buffer) Shape() backend.Shape { return b.shape }

// Free implements backend.Buffer. The room counts as free only when the work that
// was queued before is done.
func (b *buffer) Free() {
	d := b.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.freed {
		return
	}
	b.freed = true
	if b.owner != nil || d.closed {
		return
	}
	bytes := size(b.shape)
	d.work <- task{"", func() { d.used.Add(-bytes) }}
}

func (b *buffer) gone() bool { return b.freed || b.owner != nil && b.owner.freed }

func (b *buffer) array() *buffer {
	if b.owner != nil {
		return b.owner
	}
	return b
}

func (b *buffer) same(o *buffer) bool {
	return b.array() == o.array() && b.from == o.from && len(b.data) == len(o.data)
}

func (b *buffer) overlaps(o *buffer) bool {
	return b.array() == o.array() && b.from < o.from+len(o.data) && o.from < b.from+len(b.data)
}

// plane returns channel c of image n.
func (b *buffer) plane(n, c int) []float64 { return plane(b.data, b.shape, n, c) }

func plane(data []float64, s backend.Shape, n, c int) []float64 {
	p := s.Plane()
	i := (n*s.C + c) * p
	return data[i : i+p]
}

// size is what an array counts for, as if its elements were float32.
func size(s backend.Shape) int64 { return 4 * int64(s.Len()) }

// Alloc implements backend.Memory.
func (d *Device) Alloc(s backend.Shape) (backend.Buffer, error) {
	c := d.begin("Alloc")
	c.check(s.Check())
	if c.err != nil {
		return nil, c.refuse()
	}
	if d.used.Load()+size(s) > d.options.Memory {
		// What has been freed may still be on the stream.
		drained := make(chan struct{})
		d.work <- task{"", func() { close(drained) }}
		<-drained
	}
	c.require(d.used.Load()+size(s) <= d.options.Memory, backend.ErrOutOfMemory,
		"%d bytes asked for, %d of %d in use", size(s), d.used.Load(), d.options.Memory)
	if c.err != nil {
		return nil, c.refuse()
	}
	d.used.Add(size(s))
	b := &buffer{device: d, shape: s, data: make([]float64, s.Len())}
	return b, c.refuse()
}

// Channels implements backend.Memory.
func (d *Device) Channels(b backend.Buffer, from, count int) (backend.Buffer, error) {
	c := d.begin("Channels")
	of := c.buffer(b)
	c.check(devicekit.CheckChannels(of.shape, from, count))
	if c.err != nil {
		return nil, c.refuse()
	}
	first := from * of.shape.Plane()
	s := backend.Image(count, of.shape.H, of.shape.W)
	view := &buffer{device: d, shape: s, data: of.data[first : first+s.Len()], owner: of.array(), from: of.from + first}
	return view, c.refuse()
}

// Overlaps implements backend.Memory.
func (d *Device) Overlaps(a, b backend.Buffer) (bool, error) {
	c := d.begin("Overlaps")
	x, y := c.buffer(a), c.buffer(b)
	return c.err == nil && x.overlaps(y), c.refuse()
}

// Upload implements backend.Memory.
func (d *Device) Upload(dst backend.Buffer, src []float32) error {
	c := d.begin("Upload")
	to := c.buffer(dst)
	c.check(devicekit.CheckUpload(to.shape, len(src)))
	mine := slices.Clone(src) // the caller's is its own again when this returns
	return c.queue(func() {
		for i, v := range mine {
			to.data[i] = float64(v)
		}
	})
}

// Download implements backend.Memory.
func (d *Device) Download(dst []float32, src backend.Buffer) error {
	c := d.begin("Download")
	from := c.buffer(src)
	c.check(devicekit.CheckDownload(len(dst), from.shape))
	return c.wait(func() {
		for i, v := range from.data {
			dst[i] = float32(v)
		}
	})
}
