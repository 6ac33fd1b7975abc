package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

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
		d.pool.For(to.N*channels, func(k int) {
			n, c := k/channels, k%channels
			p := b[0].data[(n*to.C+c)*to.Plane():][:to.Plane()]
			q := b[1].data[(n*from.C+c)*from.Plane():][:from.Plane()]
			for row := range h {
				copy(p[(y+row)*to.W+x:][:w], q[(r.Y0+row)*from.W+r.X0:][:w])
			}
		})
		return nil
	}, dst, src)
}
