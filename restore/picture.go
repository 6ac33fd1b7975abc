package restore

import (
	"context"
	"image"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imageplanes"
)

// opened is an image taken apart for the computation, and the way back to the
// kind of image that the caller gave.
type opened struct {
	planar *Planar        // what is computed with: its invisible pixels are filled from the visible ones
	hidden *Planar        // the image with the invisible colours that it came with, or nil if it has none
	source *picture.Image // nil if the caller gave a *Planar
	copies int            // channels of the image that planar's one stands for; 0: none but itself
	tinted *Planar        // the image of three channels that planar's one is the positions of on tone, or nil
	tone   imageplanes.Tone
}

// open takes img apart, grey kept as colour as the one channel that it is. The samples of a
// *Planar are the caller's and must not be written to. threads is 0 for all.
func open(ctx context.Context, img image.Image, threads int) (opened, error) {
	var p opened
	if given, ok := img.(*Planar); ok {
		if err := given.Check(); err != nil {
			return opened{}, err
		}
		p.planar = given
	} else {
		src, err := picture.FromImage(img)
		if err != nil {
			return opened{}, err
		}
		p.planar, p.source = planarOf(src), src
	}
	if err := ctx.Err(); err != nil {
		return opened{}, err
	}
	filled, err := p.planar.planes().FillHidden(ctx, threads)
	if err != nil {
		return opened{}, err
	}
	if given := p.planar; filled != given.planes() {
		p.planar, p.hidden = (*Planar)(filled), given
	}
	return p.greyed(), nil
}

// greyed returns the picture with one channel if it is grey kept as colour: its noise is that
// of a grey image, and so is the work.
func (p opened) greyed() opened {
	if p.planar.Channels != 3 || !equalPlanes(p.planar.Pix) {
		return p
	}
	p.planar = &Planar{Width: p.planar.Width, Height: p.planar.Height, Channels: 1, Pix: p.planar.Plane(0), Alpha: p.planar.Alpha}
	p.copies = 3
	return p
}

// toned returns the picture with one channel if its colours are on a line (imageplanes.Tone), up to rounding: it is as
// good as grey, and one sample that differs does not change how it is restored.
func (p opened) toned(ctx context.Context) (opened, error) {
	tone, is, err := p.planar.planes().Tone(ctx)
	if !is || err != nil {
		return p, err
	}
	p.tinted, p.tone, p.planar = p.planar, tone, (*Planar)(tone.Grey(p.planar.planes()))
	return p, nil
}

// equalPlanes says whether three planes are the same.
func equalPlanes(pix []float32) bool {
	n := len(pix) / 3
	return slices.Equal(pix[:n], pix[n:2*n]) && slices.Equal(pix[:n], pix[2*n:])
}

// close returns the restored samples as the kind of image that was opened.
func (p opened) close(pix []float32) image.Image {
	channels := p.planar.Channels
	switch {
	case p.tinted != nil:
		channels = p.tinted.Channels
		pix = p.tone.Restored(p.tinted.planes(), pix)
	case p.copies > 0:
		channels = p.copies
		pix = slices.Repeat(pix, p.copies)
	}
	if p.hidden != nil {
		p.hidden.planes().PutHidden(pix)
	}
	if p.source == nil {
		return &Planar{Width: p.planar.Width, Height: p.planar.Height, Channels: channels, Pix: pix, Alpha: slices.Clone(p.planar.Alpha)}
	}
	p.source.Pix = pix
	return p.source.ToImage()
}

// measured returns the part of the picture that the noise is measured in: filled pixels have none.
func (p *opened) measured() *imageplanes.Planes {
	if p.hidden == nil {
		return p.planar.planes()
	}
	return p.planar.planes().Visible()
}
