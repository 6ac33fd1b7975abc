package restore

import (
	"image"
	"slices"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/noiselevel"
)

// picture is an image taken apart for the computation, and the way back to the
// kind of image that the caller gave.
type picture struct {
	planar *Planar
	source *imagefile.Image // nil if the caller gave a *Planar
	copies int              // channels of the image that planar's one stands for; 0: none but itself
}

// open takes img apart, grey kept as colour as the one channel that it is. The samples of a
// *Planar are the caller's and must not be written to.
func open(img image.Image) (picture, error) {
	if p, ok := img.(*Planar); ok {
		if err := p.Check(); err != nil {
			return picture{}, err
		}
		return picture{planar: p}.greyed(), nil
	}
	src, err := imagefile.FromImage(img)
	if err != nil {
		return picture{}, err
	}
	return picture{
		planar: &Planar{Width: src.Width, Height: src.Height, Channels: src.Channels, Pix: src.Pix},
		source: src,
	}.greyed(), nil
}

// greyed returns the picture with one channel if it is grey kept as colour: its noise is that
// of a grey image, and so is the work.
func (p picture) greyed() picture {
	if p.planar.Channels != 3 || !noiselevel.EqualPlanes(p.planar.Pix) {
		return p
	}
	p.planar = &Planar{Width: p.planar.Width, Height: p.planar.Height, Channels: 1, Pix: p.planar.Plane(0)}
	p.copies = 3
	return p
}

// close returns the restored samples as the kind of image that was opened.
func (p picture) close(pix []float32) image.Image {
	channels := p.planar.Channels
	if p.copies > 0 {
		channels = p.copies
		pix = slices.Repeat(pix, p.copies)
	}
	if p.source == nil {
		return &Planar{Width: p.planar.Width, Height: p.planar.Height, Channels: channels, Pix: pix}
	}
	p.source.Pix = pix
	return p.source.ToImage()
}
