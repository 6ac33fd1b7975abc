package refdevice

import (
	"github.com/averaged/imaging/backend"
)

// CopyRegion implements devicekit.Kernels.
func (d *stream) CopyRegion(dst array, y, x int, src array, r backend.Region) error {
	to, from := own(dst), own(src)
	h, w := r.Size()
	return d.queue("CopyRegion", func() {
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
