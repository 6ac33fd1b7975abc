package deblurring

import "github.com/averaged/imaging/backend"

// The unknown image is larger than the photograph where nothing is assumed beyond its frame (deblur.Unknown): the blur
// brings in what lies there. deblur.Operator says how large, extends a photograph to it, and crops it.

// domain is the shape of the unknown image.
func (d *Problem) domain() backend.Shape {
	h, w := d.k.Domain()
	return backend.Image(d.planar.Channels, h, w)
}

// show returns the part of x that the photograph shows.
func (d *Problem) show(x backend.Buffer) ([]float32, error) {
	whole := make([]float32, x.Shape().Len())
	if err := d.dev.Download(whole, x); err != nil {
		return nil, err
	}
	if x.Shape().H == d.planar.Height && x.Shape().W == d.planar.Width {
		return whole, nil
	}
	out := make([]float32, len(d.planar.Pix))
	return out, d.k.Crop(out, whole)
}
