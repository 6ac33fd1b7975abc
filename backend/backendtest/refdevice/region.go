package refdevice

import "github.com/averaged/imaging/backend"

// CopyRegion implements backend.Memory.
func (d *Device) CopyRegion(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
	c := d.begin("CopyRegion")
	to, from := c.buffer(dst), c.buffer(src)
	h, w := r.Size()
	c.require(r.Y0 >= 0 && r.X0 >= 0 && r.Y0 < r.Y1 && r.X0 < r.X1 && r.Y1 <= from.shape.H && r.X1 <= from.shape.W,
		backend.ErrShape, "%v of %v", r, from.shape)
	c.require(y >= 0 && x >= 0 && y <= to.shape.H-h && x <= to.shape.W-w, backend.ErrShape,
		"%d×%d pixels at (%d,%d) of %v", h, w, y, x, to.shape)
	c.require(to.shape.N == from.shape.N, backend.ErrShape, "from %v to %v", from.shape, to.shape)
	c.apart(to, from)
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
