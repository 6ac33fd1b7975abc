package vulkan

import (
	"unsafe"

	"github.com/averaged/imaging/backend"
)

// bytesOf is the memory of numbers. The processors of GPUs and of hosts that Vulkan runs on agree on
// the order of bytes.
func bytesOf[T float32 | float64 | int32](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// Upload implements devicekit.Kernels.
func (g *gpu) Upload(dst array, src []float32) error {
	if g.fault != nil {
		return g.fault
	}
	if dst.Shape.H > 1 && dst.Shape.W > 1 {
		g.due = due{true, true, true, true}
	}
	return g.upload(dst.Data, bytesOf(src))
}

func (g *gpu) upload(dst memory, src []byte) error {
	return g.try(g.stream.upload(dst.block, 4*int64(dst.first), src))
}

// Download implements devicekit.Kernels.
func (g *gpu) Download(dst []float32, src array) error {
	if err := g.download(bytesOf(dst), src.Data); err != nil || src.Shape.H == 1 || src.Shape.W == 1 {
		return err
	}
	return g.stillComputes()
}

func (g *gpu) download(dst []byte, src memory) error {
	if g.fault != nil {
		return g.fault
	}
	return g.try(g.stream.download(dst, src.block, 4*int64(src.first)))
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
	return l.run("shuffle", []uint32{back}, coarse.Plane(), planes, 1,
		to, from, uint32(factor), uint32(planes), uint32(coarse.H), uint32(coarse.W), uint32(fine.H), uint32(fine.W))
}
