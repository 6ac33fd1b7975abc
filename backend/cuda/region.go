package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// args are the four arguments that kernels take for an array.
func (a array) args() []driver.Arg {
	return []driver.Arg{driver.Ptr(a.pointer), long(a.image), long(a.plane), number(a.pitch)}
}

// CopyRegion implements devicekit.Kernels.
func (d *gpu) CopyRegion(dst devicekit.Array[address], y, x int, src devicekit.Array[address], r backend.Region) error {
	to := dst.Shape
	h, w := r.Size()
	channels := min(to.C, src.Shape.C)
	args := append(own(dst).array().from(y, x).args(), own(src).array().from(r.Y0, r.X0).args()...)
	args = append(args, number(h), number(w), number(channels), number(to.N*channels))
	return d.launch("regions", "copy_region", d.planes(h*w, blockThreads, to.N*channels), 0, args...)
}

// Unshuffle implements devicekit.Kernels.
func (d *gpu) Unshuffle(dst, src devicekit.Array[address], factor int) error {
	return d.shuffle("unshuffle", dst, src, dst.Shape, src.Shape, factor)
}

// Shuffle implements devicekit.Kernels.
func (d *gpu) Shuffle(dst, src devicekit.Array[address], factor int) error {
	return d.shuffle("shuffle", dst, src, src.Shape, dst.Shape, factor)
}

func (d *gpu) shuffle(kernel string, dst, src devicekit.Array[address], c, f backend.Shape, factor int) error {
	return d.launch("regions", kernel, d.planes(c.Plane(), blockThreads, c.N*c.C), 0,
		driver.Ptr(dst.Data.pointer), driver.Ptr(src.Data.pointer), number(factor), number(c.N*c.C),
		number(c.H), number(c.W), number(f.H), number(f.W))
}
