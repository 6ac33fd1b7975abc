package deblurring

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
)

// The unknown image is larger than the photograph where nothing is assumed beyond its frame (deblur.Unknown): the blur
// brings in what lies there. deblur.Operator says how large, extends a photograph to it, and crops it. The image of the
// iteration has one row or column more where a network asks for even sides.

// domain is the shape of the image of the iteration.
func (d *Problem) domain() backend.Shape {
	h, w := d.k.Domain()
	return backend.Image(d.planar.Channels, h, w)
}

// unknown is the shape of the unknown image.
func (d *Problem) unknown() backend.Shape {
	h, w := d.blur.Domain()
	return backend.Image(d.planar.Channels, h, w)
}

// widened returns an unknown image, continued by its mirror image, as one of the iteration, in the place of b. After an error
// the caller frees what it returns.
func (d *Problem) widened(b backend.Buffer) (backend.Buffer, error) {
	from, to := d.unknown(), d.domain()
	if from == to {
		return b, nil
	}
	p := imageplanes.New(from.C, from.H, from.W)
	if err := d.dev.Download(p.Pix, b); err != nil {
		return b, err
	}
	wide, err := d.dev.Alloc(to)
	if err != nil {
		return b, err
	}
	b.Free()
	return wide, d.dev.Upload(wide, p.Mirrored(to.H, to.W).Pix)
}

// show returns the part of x that the photograph shows.
func (d *Problem) show(x backend.Buffer) ([]float32, error) {
	from, to := d.domain(), d.unknown()
	wide := imageplanes.New(from.C, from.H, from.W)
	if err := d.dev.Download(wide.Pix, x); err != nil {
		return nil, err
	}
	whole := (&imageplanes.Planes{Channels: to.C, Height: to.H, Width: to.W}).Unmirrored(wide.Pix, wide)
	if to == d.planar.Shape() {
		return whole, nil
	}
	out := make([]float32, len(d.planar.Pix))
	return out, d.blur.Crop(out, whole)
}
