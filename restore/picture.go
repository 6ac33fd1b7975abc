package restore

import (
	"context"
	"image"
	"slices"

	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imageplanes"
)

// opened is an image taken apart for the computation, and the way back to the
// kind of image that the caller gave.
type opened struct {
	planes *imageplanes.Planes // what is computed with: its invisible pixels are filled from the visible ones
	hidden *imageplanes.Planes // the image with the invisible colours that it came with, or nil if it has none
	source *picture.Image      // nil if the caller gave a *Planar
	copies int                 // channels of the image that the one of planes stands for; 0: none but itself
	tinted *imageplanes.Planes // the image of three channels of which the one of planes has the positions on tone, or nil
	tone   imageplanes.Tone
	whole  *imageplanes.Planes // the image, if planes has one pixel of every repetition×repetition equal ones of it, or nil

	repetition int // 1 if whole is nil
}

// open takes img apart, grey kept as colour as the one channel that it is. The samples of a
// *Planar are the caller's and must not be written to. threads is 0 for all.
func open(ctx context.Context, img image.Image, threads int) (opened, error) {
	if ctx == nil {
		return opened{}, errNoContext
	}
	p := opened{repetition: 1}
	if given, ok := img.(*Planar); ok {
		if err := given.Check(); err != nil {
			return opened{}, err
		}
		p.planes = given.planes()
	} else {
		src, err := read(img)
		if err != nil {
			return opened{}, err
		}
		p.planes, p.source = planarOf(src).planes(), src
	}
	if err := ctx.Err(); err != nil {
		return opened{}, err
	}
	filled, err := p.planes.FillHidden(ctx, threads)
	if err != nil {
		return opened{}, err
	}
	if filled != p.planes {
		p.planes, p.hidden = filled, p.planes
	}
	return p.greyed(), nil
}

// greyed returns the picture with one channel if it is grey kept as colour: its noise is that
// of a grey image, and so is the work.
func (p opened) greyed() opened {
	if p.planes.Channels != 3 || !equalPlanes(p.planes.Pix) {
		return p
	}
	p.planes = &imageplanes.Planes{Width: p.planes.Width, Height: p.planes.Height, Channels: 1, Pix: p.planes.Plane(0), Alpha: p.planes.Alpha}
	p.copies = 3
	return p
}

// prepared returns the picture without impulses, and their share, and as one channel if that does (toned).
func (p opened) prepared(ctx context.Context, brightness bool) (_ opened, impulses float64, err error) {
	filled, impulses, err := denoising.FillImpulses(ctx, p.planes)
	if err != nil {
		return p, 0, err
	}
	p.planes = filled
	p, err = p.toned(brightness)
	return p, impulses, err
}

// toned returns the picture with one channel if its colours are on a line (imageplanes.Tone), up to rounding: it is as
// good as grey, and one sample that differs does not change how it is restored.
//
// If brightness says so, a picture whose noise is in brightness alone becomes one channel, too: its colours have nothing to remove.
func (p opened) toned(brightness bool) (_ opened, err error) {
	tone, is := p.planes.Tone()
	if !is && brightness {
		tone = imageplanes.Brightness
		is, err = denoising.InBrightnessAlone(p.planes)
	}
	if !is || err != nil {
		return p, err
	}
	p.tinted, p.tone, p.planes = p.planes, tone, tone.Grey(p.planes)
	return p, nil
}

// reduced returns the picture with one pixel of every n×n equal ones, and the estimate of its noise for that, which may be nil. Such
// a picture was enlarged by nearest neighbour: the smaller one has the noise, and all that is known.
func (p opened) reduced(e *NoiseEstimate) (opened, *NoiseEstimate) {
	given := p.planes
	if p.hidden != nil {
		given = p.hidden
	}
	n := given.Repetition()
	if n == 1 || e != nil && e.Levels != nil && e.Levels.Side%n != 0 {
		return p, e
	}
	p.whole, p.repetition, p.planes = p.planes, n, p.planes.Reduced(n)
	return p, e.resized(n, 1)
}

// equalPlanes says whether three planes are the same.
func equalPlanes(pix []float32) bool {
	n := len(pix) / 3
	return slices.Equal(pix[:n], pix[n:2*n]) && slices.Equal(pix[:n], pix[2*n:])
}

// close returns the restored samples as the kind of image that was opened.
func (p opened) close(pix []float32) image.Image {
	whole, channels := p.planes, p.planes.Channels
	switch {
	case p.tinted != nil:
		channels = p.tinted.Channels
		pix = p.tone.Restored(p.tinted, pix)
	case p.copies > 0:
		channels = p.copies
		pix = slices.Repeat(pix, p.copies)
	}
	if p.whole != nil {
		whole = p.whole
		pix = whole.Repeated(pix, p.repetition)
	}
	if p.hidden != nil {
		p.hidden.PutHidden(pix)
	}
	if p.source == nil {
		return &Planar{Width: whole.Width, Height: whole.Height, Channels: channels, Pix: pix, Alpha: slices.Clone(whole.Alpha)}
	}
	p.source.Pix = pix
	return p.source.ToImage()
}

// measured returns the part of the picture that the noise is measured in: filled pixels have none.
func (p *opened) measured() *imageplanes.Planes {
	if p.hidden == nil {
		return p.planes
	}
	return p.planes.Visible()
}
