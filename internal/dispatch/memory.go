package dispatch

import (
	"errors"
	"unsafe"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Memory is a part of a block, from a number on.
type Memory[B comparable] struct {
	block B
	first int
}

// Array is an operand.
type Array[B comparable] = devicekit.Array[Memory[B]]

// bytesOf is the memory of numbers. GPUs and the hosts that they work with agree on the order of bytes.
func bytesOf[T float32 | float64 | int32](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// Alloc implements devicekit.Kernels.
func (k *Kernels[B]) Alloc(s backend.Shape) (Memory[B], error) {
	m, err := k.alloc(s.Len())
	if err != nil {
		return m, err
	}
	return m, k.try(k.gpu.Fill(m.block, 0, 4*int64(s.Len()), 0))
}

// alloc returns memory of undefined contents for n numbers.
func (k *Kernels[B]) alloc(n int) (Memory[B], error) {
	if k.fault != nil {
		return Memory[B]{}, k.fault
	}
	b, err := k.gpu.Alloc(4 * int64(n))
	if errors.Is(err, backend.ErrOutOfMemory) {
		return Memory[B]{}, err
	}
	return Memory[B]{block: b}, k.try(err)
}

// Free implements devicekit.Kernels.
func (k *Kernels[B]) Free(m Memory[B]) {
	if m != (Memory[B]{}) {
		k.gpu.Free(m.block)
	}
}

// View implements devicekit.Kernels.
func (k *Kernels[B]) View(m Memory[B], offset, _ int) Memory[B] {
	m.first += offset
	return m
}

// scratch is memory of one operation; the next one may have it.
type scratch[B comparable] struct {
	kernels *Kernels[B]
	held    []Memory[B]
}

func (s *scratch[B]) alloc(n int) (Memory[B], error) {
	m, err := s.kernels.alloc(n)
	if err == nil {
		s.held = append(s.held, m)
	}
	return m, err
}

func (s *scratch[B]) free() {
	for _, m := range s.held {
		s.kernels.Free(m)
	}
}

// Upload implements devicekit.Kernels.
func (k *Kernels[B]) Upload(dst Array[B], src []float32) error {
	if !k.testing && dst.Shape.H > 1 && dst.Shape.W > 1 {
		k.due = due{true, true, true, true}
	}
	return k.upload(dst.Data, bytesOf(src))
}

func (k *Kernels[B]) upload(dst Memory[B], src []byte) error {
	if k.fault != nil {
		return k.fault
	}
	return k.try(k.gpu.Upload(dst.block, 4*int64(dst.first), src))
}

// Download implements devicekit.Kernels.
func (k *Kernels[B]) Download(dst []float32, src Array[B]) error {
	if err := k.download(bytesOf(dst), src.Data); err != nil || src.Shape.H == 1 || src.Shape.W == 1 {
		return err
	}
	return k.stillComputes()
}

func (k *Kernels[B]) download(dst []byte, src Memory[B]) error {
	if k.fault != nil {
		return k.fault
	}
	return k.try(k.gpu.Download(dst, src.block, 4*int64(src.first)))
}

// CopyRegion implements devicekit.Kernels.
func (k *Kernels[B]) CopyRegion(dst Array[B], y, x int, src Array[B], r backend.Region) error {
	l := k.launch()
	to, from := l.array(dst), l.array(src)
	d, s := dst.Shape, src.Shape
	h, w := r.Size()
	channels := min(d.C, s.C)
	return l.run("copyregion", nil, h*w, d.N*channels, 1,
		to+uint32(y*d.W+x), uint32(d.C*d.Plane()), uint32(d.Plane()), uint32(d.W),
		from+uint32(r.Y0*s.W+r.X0), uint32(s.C*s.Plane()), uint32(s.Plane()), uint32(s.W),
		uint32(h), uint32(w), uint32(channels), uint32(d.N*channels))
}

// Unshuffle implements devicekit.Kernels.
func (k *Kernels[B]) Unshuffle(dst, src Array[B], factor int) error {
	return k.shuffle(dst, src, dst.Shape, src.Shape, factor, 0)
}

// Shuffle implements devicekit.Kernels.
func (k *Kernels[B]) Shuffle(dst, src Array[B], factor int) error {
	return k.shuffle(dst, src, src.Shape, dst.Shape, factor, 1)
}

func (k *Kernels[B]) shuffle(dst, src Array[B], coarse, fine backend.Shape, factor int, back uint32) error {
	l := k.launch()
	to, from := l.array(dst), l.array(src)
	planes := coarse.N * coarse.C
	return l.run("shuffle", []uint32{back}, coarse.Plane(), planes, 1,
		to, from, uint32(factor), uint32(planes), uint32(coarse.H), uint32(coarse.W), uint32(fine.H), uint32(fine.W))
}
