package cpu

import (
	"github.com/averaged/imaging/backend"
)

// CopyRegion implements devicekit.Kernels.
func (d *host) CopyRegion(dst buffer, y, x int, src buffer, r backend.Region) error {
	to, from := dst.Shape, src.Shape
	h, w := r.Size()
	channels := min(to.C, from.C)
	d.pool.For(to.N*channels, func(k int) {
		n, c := k/channels, k%channels
		p := dst.Data[(n*to.C+c)*to.Plane():][:to.Plane()]
		q := src.Data[(n*from.C+c)*from.Plane():][:from.Plane()]
		for row := range h {
			copy(p[(y+row)*to.W+x:][:w], q[(r.Y0+row)*from.W+r.X0:][:w])
		}
	})
	return nil
}
