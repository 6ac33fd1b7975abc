package restore

import (
	"slices"

	"github.com/averaged/imaging/inpaint"
)

// fillHidden fills the pixels of opacity 0 by diffusion from all others, so that nothing visible
// depends on colours that nobody sees. An image without such pixels, or without any others, stays as
// it is.
func (p *picture) fillHidden(threads int) error {
	given := p.planar
	if !slices.Contains(given.Alpha, 0) {
		return nil
	}
	visible := make([]bool, len(given.Alpha))
	for i, a := range given.Alpha {
		visible[i] = a > 0
	}
	if !slices.Contains(visible, true) {
		return nil
	}
	filled := *given
	filled.Pix = make([]float32, len(given.Pix))
	if err := inpaint.Diffuse(filled.Pix, given.Pix, visible, given.Height, given.Width, threads); err != nil {
		return err
	}
	p.planar, p.hidden = &filled, given
	return nil
}

// putHidden puts the invisible samples of the image that was opened into those of a result of the
// same size.
func (p *picture) putHidden(pix []float32) {
	if p.hidden == nil {
		return
	}
	n := len(p.hidden.Alpha)
	for i, v := range p.hidden.Pix {
		if p.hidden.Alpha[i%n] == 0 {
			pix[i] = v
		}
	}
}

// leastMeasured is the smallest side of a rectangle that the noise is measured in. mostFilled is the
// share of filled pixels up to which the noise is measured in the whole.
const (
	leastMeasured = 32
	mostFilled    = 0.01
)

// measured returns the part of the picture that the noise is measured in. Filled pixels have none, so
// that is the largest rectangle without them, or the whole where it is small or they are few.
func (p *picture) measured() *Planar {
	if p.hidden == nil {
		return p.planar
	}
	w := p.planar.Width
	filled := 0
	for _, a := range p.planar.Alpha {
		if a == 0 {
			filled++
		}
	}
	top, left, bottom, right := largestVisible(p.planar.Alpha, w)
	top, left = (top+7)/8*8, (left+7)/8*8 // the blocks of JPEG begin where they do in the whole
	if min(bottom-top, right-left) < leastMeasured || float64(filled) <= mostFilled*float64(len(p.planar.Alpha)) {
		return p.planar
	}
	part := NewPlanar(p.planar.Channels, bottom-top, right-left)
	for c := range part.Channels {
		from, to := p.planar.Plane(c), part.Plane(c)
		for y := range part.Height {
			copy(to[y*part.Width:][:part.Width], from[(top+y)*w+left:])
		}
	}
	return part
}

// largestVisible returns the largest rectangle without a pixel of opacity 0. Every such rectangle that
// cannot grow stands on the last of its rows, with the height of the lowest of its columns there; the
// stack holds the columns that are higher than all before them.
func largestVisible(alpha []uint16, w int) (top, left, bottom, right int) {
	heights := make([]int, w+1) // visible pixels above and in the row; the last column has none
	var stack []int
	for y := range len(alpha) / w {
		for x, a := range alpha[y*w:][:w] {
			if heights[x]++; a == 0 {
				heights[x] = 0
			}
		}
		stack = stack[:0]
		for x, height := range heights {
			for len(stack) > 0 && heights[stack[len(stack)-1]] >= height {
				lowest := heights[stack[len(stack)-1]]
				stack = stack[:len(stack)-1]
				from := 0
				if len(stack) > 0 {
					from = stack[len(stack)-1] + 1
				}
				if lowest*(x-from) > (bottom-top)*(right-left) {
					top, left, bottom, right = y+1-lowest, from, y+1, x
				}
			}
			stack = append(stack, x)
		}
	}
	return top, left, bottom, right
}
