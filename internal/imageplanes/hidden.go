package imageplanes

import (
	"context"
	"slices"

	"github.com/averaged/imaging/inpaint"
)

// FillHidden returns the image with the pixels of opacity 0 filled by diffusion from all others, so that nothing
// visible depends on colours that nobody sees. It is the image itself if it has no such pixels, or no others. threads
// is 0 for all.
func (p *Planes) FillHidden(ctx context.Context, threads int) (*Planes, error) {
	if !slices.Contains(p.Alpha, 0) {
		return p, nil
	}
	visible := make([]bool, len(p.Alpha))
	for i, a := range p.Alpha {
		visible[i] = a > 0
	}
	if !slices.Contains(visible, true) {
		return p, nil
	}
	filled := *p
	filled.Pix = make([]float32, len(p.Pix))
	if err := inpaint.Diffuse(ctx, filled.Pix, p.Pix, visible, p.Height, p.Width, threads); err != nil {
		return nil, err
	}
	return &filled, nil
}

// PutHidden puts the invisible samples of the image into those of a result of the same size.
func (p *Planes) PutHidden(pix []float32) {
	n := len(p.Alpha)
	for i, v := range p.Pix {
		if p.Alpha[i%n] == 0 {
			pix[i] = v
		}
	}
}

// minMeasured is the smallest side of a rectangle that the noise is measured in. maxFilled is the
// share of filled pixels up to which the noise is measured in the whole.
const (
	minMeasured = 32
	maxFilled   = 0.01
)

// Visible returns the part of an image with filled pixels (FillHidden) that its noise is measured in: the largest
// rectangle without them, or the whole if that is small or they are few.
func (p *Planes) Visible() *Planes {
	w := p.Width
	filled := 0
	for _, a := range p.Alpha {
		if a == 0 {
			filled++
		}
	}
	top, left, bottom, right := largestVisible(p.Alpha, w)
	top, left = (top+7)/8*8, (left+7)/8*8 // the blocks of JPEG begin where they do in the whole
	if min(bottom-top, right-left) < minMeasured || float64(filled) <= maxFilled*float64(len(p.Alpha)) {
		return p
	}
	part := New(p.Channels, bottom-top, right-left)
	for c := range part.Channels {
		from, to := p.Plane(c), part.Plane(c)
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
