// Package maskimage reads the mask of an inpainting: an image whose white or coloured pixels are to be filled.
package maskimage

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/imageplanes"
)

// ErrMask is wrapped by the errors about a mask that does not fit its image, or that leaves
// nothing to do or nothing to do it from.
var ErrMask = errors.New("the mask cannot be used")

// coloured is how much the largest of red, green and blue exceeds the smallest in a stroke of colour. Less
// may be the tint of a scan, or what JPEG adds.
const coloured = 0.25

// mostMissing is the share of missing pixels above which a mask may be inverted.
const mostMissing = 0.75

// Known reads a mask for the image p. doubt says what speaks against the mask, or is empty.
func Known(mask image.Image, p *imageplanes.Planes) (known []bool, doubt string, err error) {
	if mask == nil {
		return nil, "", fmt.Errorf("restore: %w: there is none", ErrMask)
	}
	m, err := imagefile.FromImage(mask)
	if err != nil {
		return nil, "", fmt.Errorf("restore: %w: %w", ErrMask, err)
	}
	if m.Width != p.Width || m.Height != p.Height {
		hint := ""
		if m.Width == p.Height && m.Height == p.Width {
			hint = "; the mask has to lie as the picture is shown, after its orientation in EXIF is applied"
		}
		return nil, "", fmt.Errorf("restore: %w: it has %d×%d pixels and the image %d×%d, want the same size%s", ErrMask, m.Width, m.Height, p.Width, p.Height, hint)
	}
	marked := markedPixels(m)
	missing := 0
	for _, is := range marked {
		if is {
			missing++
		}
	}
	n := len(marked)
	switch missing {
	case 0:
		return nil, "", fmt.Errorf("restore: %w: it is black throughout, so there is nothing to fill; white marks the pixels to fill, or any colour on black, or any on transparent", ErrMask)
	case n:
		return nil, "", fmt.Errorf("restore: %w: it is white throughout, so no pixel is known; black marks the pixels to keep", ErrMask)
	}
	if share := float64(missing) / float64(n); share > mostMissing {
		doubt = fmt.Sprintf("the mask covers %.0f %% of the picture: is it inverted? White marks the pixels to fill, black those to keep", 100*share)
	}
	known = marked
	rest := 0 // of the visible pixels that are known
	for i := range known {
		known[i] = !marked[i] && (p.Alpha == nil || p.Alpha[i] > 0)
		if known[i] {
			rest++
		}
	}
	if rest == 0 {
		return nil, "", fmt.Errorf("restore: %w: what it leaves of the image is transparent throughout, so no visible pixel is known", ErrMask)
	}
	return known, doubt, nil
}

// markedPixels returns which pixels a mask marks, as Inpaint says.
func markedPixels(m *imagefile.Image) []bool {
	n := m.Width * m.Height
	red, green, blue := m.Plane(0), m.Plane(m.Channels/2), m.Plane(m.Channels-1)
	marked, visible := make([]bool, n), make([]bool, n)
	white, black, colour, transparent := false, false, false, false // of which pixels there are some
	for i := range n {
		alpha := float32(1)
		if m.Alpha != nil {
			alpha = float32(m.Alpha[i]) / 0xffff
		}
		if visible[i] = alpha >= 0.5; !visible[i] {
			transparent = true
		}
		r, g, b := alpha*red[i], alpha*green[i], alpha*blue[i]
		isColour := max(r, g, b)-min(r, g, b) >= coloured
		isWhite := 0.299*r+0.587*g+0.114*b >= 0.5
		marked[i] = isColour || isWhite
		if visible[i] {
			colour = colour || isColour
			white, black = white || isWhite, black || !marked[i]
		}
	}
	if transparent && (colour || !(white && black)) {
		return visible // strokes on transparent, which may be black, too
	}
	return marked
}

// ForgetMissing gives samples of an image that a mask of Inpaint marks as missing the value of a known
// one near them in their row or the rows above, where they are NaN, infinite, or beyond [-1,4]:
// so that they are no extremes of the image. Its error wraps ErrMask.
func ForgetMissing(p *imageplanes.Planes, mask image.Image) error {
	known, _, err := Known(mask, p)
	if err != nil {
		return err
	}
	if len(p.Pix) != p.Channels*len(known) {
		return fmt.Errorf("restore: %d samples for an image of %d channels and %d×%d pixels", len(p.Pix), p.Channels, p.Width, p.Height)
	}
	for c := range p.Channels {
		plane := p.Plane(c)
		last := plane[slices.Index(known, true)]
		for i, v := range plane {
			switch {
			case known[i]:
				last = v
			case !(v >= -1 && v <= 4):
				plane[i] = last
			}
		}
	}
	return nil
}
