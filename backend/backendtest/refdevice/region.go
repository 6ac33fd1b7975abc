package refdevice

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// CopyRegion implements backend.Memory.
func (d *Device) CopyRegion(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
	c := d.begin("CopyRegion")
	to, from := c.buffer(dst), c.buffer(src)
	c.check(devicekit.CheckCopyRegion(to.shape, y, x, from.shape, r))
	c.apart(to, from)
	h, w := r.Size()
	return c.queue(func() {
		for n := range to.shape.N {
			for i := range min(to.shape.C, from.shape.C) {
				p, q := to.plane(n, i), from.plane(n, i)
				for row := range h {
					first := (r.Y0+row)*from.shape.W + r.X0
					copy(p[(y+row)*to.shape.W+x:], q[first:first+w])
				}
			}
		}
	})
}
