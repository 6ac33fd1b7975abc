package refdevice

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// array is an operand.
type array = devicekit.Array[[]float64]

// buffer is an operand for the work on the stream.
type buffer struct {
	shape backend.Shape
	data  []float64
}

func own(a array) *buffer { return &buffer{a.Shape, a.Data} }

// ownOrEmpty is own of what may be nil.
func ownOrEmpty(a *array) *buffer {
	if a == nil {
		return &buffer{}
	}
	return own(*a)
}

// plane returns channel c of image n.
func (b *buffer) plane(n, c int) []float64 { return plane(b.data, b.shape, n, c) }

func plane(data []float64, s backend.Shape, n, c int) []float64 {
	p := s.Plane()
	i := (n*s.C + c) * p
	return data[i : i+p]
}

// Alloc implements devicekit.Kernels. An element counts as if it were float32.
func (d *stream) Alloc(s backend.Shape) ([]float64, error) {
	if err := d.has("Alloc"); err != nil {
		return nil, err
	}
	bytes := 4 * int64(s.Len())
	if d.used.Load()+bytes > d.options.Memory {
		// What has been freed may still be on the stream.
		drained := make(chan struct{})
		d.work <- task{"", func() { close(drained) }}
		<-drained
	}
	if used := d.used.Load(); used+bytes > d.options.Memory {
		return nil, fmt.Errorf("refdevice: %w: %d bytes asked for, %d of %d in use", backend.ErrOutOfMemory, bytes, used, d.options.Memory)
	}
	d.used.Add(bytes)
	return make([]float64, s.Len()), nil
}

// Free implements devicekit.Kernels. The memory counts as free only when the work that was queued before is
// done.
func (d *stream) Free(data []float64) {
	d.work <- task{"", func() { d.used.Add(-4 * int64(len(data))) }}
}

// View implements devicekit.Kernels.
func (d *stream) View(data []float64, offset, count int) []float64 { return data[offset:][:count] }

// Upload implements devicekit.Kernels.
func (d *stream) Upload(dst array, src []float32) error {
	mine := slices.Clone(src) // the caller's is its own again when this returns
	return d.queue("Upload", func() {
		for i, v := range mine {
			dst.Data[i] = float64(v)
		}
	})
}

// Download implements devicekit.Kernels.
func (d *stream) Download(dst []float32, src array) error {
	return d.wait("Download", func() {
		for i, v := range src.Data {
			dst[i] = float32(v)
		}
	})
}
