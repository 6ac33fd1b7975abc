//go:build js && wasm

package webgpu

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// memory is a part of a buffer, from a number on.
type memory struct {
	buffer *buffer
	first  int
}

type array = devicekit.Array[memory]

// bytesOf is the memory of numbers. WebGPU and WebAssembly agree on the order of bytes.
func bytesOf[T float32 | int32](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v))
}

// Alloc implements devicekit.Kernels.
func (g *gpu) Alloc(s backend.Shape) (memory, error) {
	m, err := g.alloc(s.Len())
	if err != nil || m.buffer.fresh {
		return m, err
	}
	return m, g.clear(m, s.Len())
}

// clear sets n numbers to zero.
func (g *gpu) clear(m memory, n int) error {
	if g.fault != nil {
		return g.fault
	}
	return g.try(g.stream.clear(m.buffer, 4*m.first, 4*n))
}

// alloc returns memory of undefined contents for n numbers.
func (g *gpu) alloc(n int) (memory, error) {
	if g.fault != nil {
		return memory{}, g.fault
	}
	if n > g.maxBinding/4 {
		return memory{}, fmt.Errorf("%w: %d numbers are more than a shader of this GPU reaches", backend.ErrOutOfMemory, n)
	}
	b, err := g.pool.alloc(4 * n)
	if errors.Is(err, backend.ErrOutOfMemory) {
		return memory{}, err
	}
	return memory{buffer: b}, g.try(err)
}

// Free implements devicekit.Kernels.
func (g *gpu) Free(m memory) { g.pool.release(m.buffer) }

// View implements devicekit.Kernels.
func (g *gpu) View(m memory, offset, _ int) memory {
	m.first += offset
	return m
}

// Upload implements devicekit.Kernels.
func (g *gpu) Upload(dst array, src []float32) error {
	if dst.Shape.H > 1 && dst.Shape.W > 1 {
		g.due = true
	}
	return g.upload(dst.Data, bytesOf(src))
}

func (g *gpu) upload(dst memory, src []byte) error {
	if g.fault != nil {
		return g.fault
	}
	return g.try(g.stream.upload(dst.buffer, 4*dst.first, src))
}

// Download implements devicekit.Kernels.
func (g *gpu) Download(dst []float32, src array) error {
	if g.fault != nil {
		return g.fault
	}
	if err := g.try(g.stream.download(bytesOf(dst), src.Data.buffer, 4*src.Data.first)); err != nil {
		return err
	}
	if !g.worked || src.Shape.H == 1 || src.Shape.W == 1 {
		return nil
	}
	err := g.tester.StillComputes()
	g.worked = false
	return g.wrong(err)
}

// numbers downloads an array.
func (g *gpu) numbers(a array) ([]float32, error) {
	v := make([]float32, a.Shape.Len())
	return v, g.Download(v, a)
}

// scratch is memory of one operation; the next one on the stream may have it.
type scratch struct {
	gpu    *gpu
	blocks []memory
}

func (s *scratch) alloc(n int) (memory, error) {
	m, err := s.gpu.alloc(n)
	if err == nil {
		s.blocks = append(s.blocks, m)
	}
	return m, err
}

func (s *scratch) free() {
	for _, m := range s.blocks {
		s.gpu.Free(m)
	}
}

// CopyRegion implements devicekit.Kernels.
func (g *gpu) CopyRegion(dst array, y, x int, src array, r backend.Region) error {
	l := g.launch()
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
func (g *gpu) Unshuffle(dst, src array, factor int) error {
	return g.shuffle(dst, src, dst.Shape, src.Shape, factor, 0)
}

// Shuffle implements devicekit.Kernels.
func (g *gpu) Shuffle(dst, src array, factor int) error {
	return g.shuffle(dst, src, src.Shape, dst.Shape, factor, 1)
}

func (g *gpu) shuffle(dst, src array, coarse, fine backend.Shape, factor int, back uint32) error {
	l := g.launch()
	to, from := l.array(dst), l.array(src)
	planes := coarse.N * coarse.C
	return l.run("shuffle", map[string]uint32{"back": back}, coarse.Plane(), planes, 1,
		to, from, uint32(factor), uint32(planes), uint32(coarse.H), uint32(coarse.W), uint32(fine.H), uint32(fine.W))
}
