package restore

import (
	"image"

	"github.com/averaged/imaging/internal/imagefile"
)

// picture is an image taken apart for the computation, and the way back to the
// kind of image that the caller gave.
type picture struct {
	planar *Planar
	source *imagefile.Image // nil if the caller gave a *Planar
}

// open takes img apart. The samples of a *Planar are the caller's and must not
// be written to.
func open(img image.Image) (picture, error) {
	if p, ok := img.(*Planar); ok {
		if err := p.Check(); err != nil {
			return picture{}, err
		}
		return picture{planar: p}, nil
	}
	src, err := imagefile.FromImage(img)
	if err != nil {
		return picture{}, err
	}
	return picture{
		planar: &Planar{Width: src.Width, Height: src.Height, Channels: src.Channels, Pix: src.Pix},
		source: src,
	}, nil
}

// close returns the restored samples as the kind of image that was opened.
func (p picture) close(pix []float32) image.Image {
	if p.source == nil {
		return &Planar{Width: p.planar.Width, Height: p.planar.Height, Channels: p.planar.Channels, Pix: pix}
	}
	p.source.Pix = pix
	return p.source.ToImage()
}
