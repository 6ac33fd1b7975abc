package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// arrayArgs are the four arguments that kernels take for an array.
func (a array) args() []driver.Arg {
	return []driver.Arg{driver.Ptr(a.pointer), long(a.image), long(a.plane), number(a.pitch)}
}

// CopyRegion implements backend.Memory.
func (d *Device) CopyRegion(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
	return d.operate(func(b []*buffer) error {
		to, from := b[0].shape, b[1].shape
		if err := devicekit.CheckCopyRegion(to, y, x, from, r); err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		h, w := r.Size()
		channels := min(to.C, from.C)
		args := append(b[0].array().from(y, x).args(), b[1].array().from(r.Y0, r.X0).args()...)
		args = append(args, number(h), number(w), number(channels), number(to.N*channels))
		return d.launch("regions", "copy_region", d.planes(h*w, blockThreads, to.N*channels), 0, args...)
	}, dst, src)
}

// Unshuffle implements backend.Shuffles.
func (d *Device) Unshuffle(dst, src backend.Buffer, factor int) error {
	return d.operate(func(b []*buffer) error { return d.shuffle("unshuffle", b[0], b[1], b[0], b[1], factor) }, dst, src)
}

// Shuffle implements backend.Shuffles.
func (d *Device) Shuffle(dst, src backend.Buffer, factor int) error {
	return d.operate(func(b []*buffer) error { return d.shuffle("shuffle", b[0], b[1], b[1], b[0], factor) }, dst, src)
}

func (d *Device) shuffle(kernel string, dst, src, coarse, fine *buffer, factor int) error {
	if err := devicekit.CheckShuffle(fine.shape, coarse.shape, factor); err != nil {
		return err
	}
	if err := apart(dst, src); err != nil {
		return err
	}
	c, f := coarse.shape, fine.shape
	return d.launch("regions", kernel, d.planes(c.Plane(), blockThreads, c.N*c.C), 0,
		driver.Ptr(dst.pointer), driver.Ptr(src.pointer), number(factor), number(c.N*c.C),
		number(c.H), number(c.W), number(f.H), number(f.W))
}
