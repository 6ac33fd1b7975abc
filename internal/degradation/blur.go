// Package degradation makes of an image what restoration starts from: a blurred one, one with Gaussian noise, one with missing
// pixels, or a camera's photograph of it.
package degradation

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
)

// blurring is a blur that is applied to an image.
type blurring interface {
	Apply(dst, src backend.Buffer) error
	Offset() (top, left int)
	Free()
}

// blurOf is the blur by one kernel, or by those of a grid, of a photograph of h×w samples.
func blurOf(dev backend.Device, g deblur.Grid, b deblur.Boundary, h, w int) (blurring, error) {
	if len(g.Kernels) == 1 {
		return deblur.New(dev, g.Kernels[0], b, h, w)
	}
	return deblur.NewVarying(dev, g, h, w)
}

// KernelTooLarge is the error of a kernel that does not fit into an image whose boundary is unknown.
type KernelTooLarge struct{ KernelWidth, KernelHeight, Width, Height int }

func (e KernelTooLarge) Error() string {
	return fmt.Sprintf("the kernel of %d×%d pixels does not fit into the image of %d×%d", e.KernelWidth, e.KernelHeight, e.Width, e.Height)
}

// Blur replaces m by its blur; an error leaves it as it is. If the boundary is unknown, the image is the scene, and the
// photograph of it is smaller; the error may be KernelTooLarge then.
func Blur(dev backend.Device, m *imagefile.Image, g deblur.Grid, b deblur.Boundary) error {
	h, w := m.Height, m.Width
	if b == deblur.Unknown {
		kh, kw := g.Frame()
		if h, w = h-kh+1, w-kw+1; h < 1 || w < 1 {
			return KernelTooLarge{kw, kh, m.Width, m.Height}
		}
	}
	op, err := blurOf(dev, g, b, h, w)
	if err != nil {
		return err
	}
	defer op.Free()
	src, err := upload(dev, m)
	if err != nil {
		return err
	}
	defer src.Free()
	dst, err := dev.Alloc(backend.Image(m.Channels, h, w))
	if err != nil {
		return err
	}
	defer dst.Free()
	if err := op.Apply(dst, src); err != nil {
		return err
	}
	blurred := make([]float32, dst.Shape().Len())
	if err := dev.Download(blurred, dst); err != nil {
		return err
	}
	top, left := op.Offset()
	m.Crop(h, w, top, left)
	m.Pix = blurred
	return nil
}

func upload(dev backend.Device, m *imagefile.Image) (backend.Buffer, error) {
	x, err := dev.Alloc(backend.Image(m.Channels, m.Height, m.Width))
	if err != nil {
		return nil, err
	}
	if err := dev.Upload(x, m.Pix); err != nil {
		x.Free()
		return nil, err
	}
	return x, nil
}
