// Package maskimage reads the mask of an inpainting: an image whose white or coloured pixels are to be filled.
package maskimage

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
)

// ErrMask is wrapped by the errors about a mask that does not fit its image, or that leaves
// nothing to do or nothing to do it from.
var ErrMask = errors.New("the mask cannot be used")

// coloured is how much the largest of red, green and blue exceeds the smallest in a stroke of colour. Less
// may be the tint of a scan, or what JPEG adds.
const coloured = 0.25

// marks is how far a pixel of a mask that is filled is from the darkest one to the brightest. Soft edges of strokes are
// filled too, because a part of what they cover is to be seen there. Less may be what JPEG adds.
const marks = 0.1

// maxShades is the share of pixels between dark and bright above which a mask may be a photograph.
const maxShades = 0.25

// maxMissing is the share of missing pixels above which a mask may be inverted.
const maxMissing = 0.75

// Known reads a mask for the image p. doubt says what speaks against the mask; without text nothing does.
func Known(mask image.Image, p *imageplanes.Planes) (known []bool, doubt outcome.Doubt, err error) {
	if mask == nil {
		return nil, doubt, fmt.Errorf("restore: %w: there is none", ErrMask)
	}
	m, err := picture.FromImage(mask)
	if err != nil {
		return nil, doubt, fmt.Errorf("restore: %w: %w", ErrMask, err)
	}
	if m.Width != p.Width || m.Height != p.Height {
		hint := ""
		if m.Width == p.Height && m.Height == p.Width {
			hint = "; the mask has to lie as the picture is shown, after its orientation in EXIF is applied"
		}
		return nil, doubt, fmt.Errorf("restore: %w: it has %d×%d pixels and the image %d×%d, want the same size%s", ErrMask, m.Width, m.Height, p.Width, p.Height, hint)
	}
	marked, shades := markedPixels(m)
	if painted, ok := paintedOver(m, p); ok {
		marked, shades = painted, 0
	}
	missing := 0
	for _, is := range marked {
		if is {
			missing++
		}
	}
	n := len(marked)
	switch missing {
	case 0:
		return nil, doubt, fmt.Errorf("restore: %w: it is black throughout, so there is nothing to fill; white marks the pixels to fill, or any colour on black, or any on transparent", ErrMask)
	case n:
		return nil, doubt, fmt.Errorf("restore: %w: it is white throughout, so no pixel is known; black marks the pixels to keep", ErrMask)
	}
	switch share := float64(missing) / float64(n); {
	case shades > maxShades:
		doubt.Text = fmt.Sprintf("%.0f %% of the mask is neither black nor white, and is filled: is it a photograph? Paint the strokes on black or on transparent", 100*shades)
	case share > maxMissing:
		doubt.Kind = outcome.InvertedMask
		doubt.Text = fmt.Sprintf("the mask covers %.0f %% of the picture: is it inverted? White marks the pixels to fill, black those to keep", 100*share)
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
		return nil, doubt, fmt.Errorf("restore: %w: what it leaves of the image is transparent throughout, so no visible pixel is known", ErrMask)
	}
	return known, doubt, nil
}

// minShades is the share of pixels between dark and bright from which on a mask may be a copy of the image, and minSame
// the share of these that have to be as in the image. The soft edges of strokes are alike by chance, one in five.
const (
	minShades = 0.05
	minSame   = 0.5
)

// paintedOver returns which pixels of a copy of the image were painted over or erased. ok is false if the mask is no such
// copy.
func paintedOver(m *picture.Image, p *imageplanes.Planes) (marked []bool, ok bool) {
	if len(p.Pix) != p.Channels*p.Width*p.Height {
		return nil, false
	}
	n := m.Width * m.Height
	marked = make([]bool, n)
	between, same := 0, 0
	for i := range n {
		if m.Alpha != nil && float32(m.Alpha[i])/0xffff < 1-marks {
			marked[i] = true
			continue
		}
		brightest := float32(0)
		for c := range 3 {
			v := m.Plane(min(c, m.Channels-1))[i]
			d := v - p.Plane(min(c, p.Channels-1))[i]
			marked[i] = marked[i] || !(-marks < d && d < marks)
			brightest = max(brightest, v)
		}
		if brightest >= 2*marks && brightest <= 1-2*marks {
			between++
			if !marked[i] {
				same++
			}
		}
	}
	return marked, float64(between) >= minShades*float64(n) && float64(same) >= minSame*float64(between)
}

// markedPixels returns which pixels a mask marks, as Inpaint says, and the share of pixels that are neither near the
// darkest nor near the brightest.
func markedPixels(m *picture.Image) (marked []bool, shades float64) {
	n := m.Width * m.Height
	red, green, blue := m.Plane(0), m.Plane(m.Channels/2), m.Plane(m.Channels-1)
	opacity := func(i int) float32 {
		if m.Alpha == nil {
			return 1
		}
		return float32(m.Alpha[i]) / 0xffff
	}
	darkest, brightest := float32(0.5), float32(0.5)
	low, high := float32(1), float32(0)
	for i := range n {
		v := opacity(i) * max(red[i], green[i], blue[i])
		darkest, brightest = min(darkest, v), max(brightest, v)
		low, high = min(low, v), max(high, v)
	}
	if low < high && !slices.ContainsFunc(red, func(v float32) bool { return v != low && v != high }) {
		darkest, brightest = low, high // two shades, such as 0 and 1 of 255, are black and white
	}
	between := 0
	marked, visible := make([]bool, n), make([]bool, n)
	white, black, colour, transparent := false, false, false, false // of which pixels there are some
	for i := range n {
		alpha := opacity(i)
		if visible[i] = alpha >= marks; !visible[i] {
			transparent = true
		}
		r, g, b := alpha*red[i], alpha*green[i], alpha*blue[i]
		v := (max(r, g, b) - darkest) / (brightest - darkest) // not a number, and then not white, if both are a half
		isColour := max(r, g, b)-min(r, g, b) >= coloured
		isWhite := v >= marks
		marked[i] = isColour || isWhite
		if v >= 2*marks && v <= 1-2*marks {
			between++
		}
		if visible[i] {
			colour = colour || isColour
			white, black = white || isWhite, black || !marked[i]
		}
	}
	shades = float64(between) / float64(n)
	if transparent && (colour || !(white && black)) {
		return visible, shades // strokes on transparent, which may be black, too
	}
	if colour && !transparent && !slices.Contains(marked, false) { // strokes of colour on white
		for i := range n {
			marked[i] = min(red[i], green[i], blue[i]) <= 1-marks
		}
	}
	return marked, shades
}

// Widen makes pixels unknown that have an unknown one within across columns and down rows. It changes nothing if none would
// be left.
func Widen(known []bool, width, across, down int) []bool {
	out := slices.Clone(known)
	height := len(known) / width
	for y := range height {
		for x := range width {
			for v := max(0, y-down); v <= min(height-1, y+down) && out[y*width+x]; v++ {
				out[y*width+x] = !slices.Contains(known[v*width+max(0, x-across):v*width+min(width, x+across+1)], false)
			}
		}
	}
	if !slices.Contains(out, true) {
		return known
	}
	return out
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
