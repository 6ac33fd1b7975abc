package rawdenoise

import (
	"slices"

	"github.com/averaged/imaging/internal/noise"
)

// A hot or dead pixel of a sensor is one sample that is far outside of what its neighbours of the same colour have, while its
// neighbours of other colours look like theirs. A star or a highlight, however small, has gone through a lens, and so lights those
// as well.

const (
	// hotRatio is the least ratio of what a hot pixel exceeds its eight nearest neighbours of the same colour by, to their spread
	// from the median to the largest, or to flatSpread times the noise where that is more. That is ten standard deviations of noise
	// from the median. Texture has no such law, but a tail that falls at least as the third power of the ratio: of what
	// reaches half of it a seventh reaches all. So where as many reach all as reach half and no more, at most one in eight is
	// texture; where fewer do, none is called a hot pixel.
	hotRatio = 6
	// flatSpread is the mean of that spread of normal noise of standard deviation 1.
	flatSpread = 1.4
	// hotAround is the most that the four pixels around a hot one exceed their neighbours by on average, as a share of what the hot
	// one exceeds its own by. A lens lights them half as much, and light of one colour a tenth. By measurement on simulated raw images.
	hotAround = 1. / 16
)

// hotPixel is a sample that is replaced, at its place in Pix, by light.
type hotPixel struct {
	at    int
	light float32
}

// findHot returns the hot and dead pixels of a mosaic in the order of Pix, each with the median of its neighbours' light. Those
// that crowd together are texture.
func (s *stabilised) findHot() []hotPixel {
	h, w := s.Height, s.Width
	if !s.Mosaic || h < 5 || w < 5 {
		return nil
	}
	least := float32(hotRatio / 2 * flatSpread / s.span)
	var hot []int
	near := 0
	for y := range h {
		row := s.pix[y*w:][:w]
		for x, v := range row {
			a, b := v-row[mirrored(x-2, w)], v-row[mirrored(x+2, w)]
			if !(a > least && b > least || a < -least && b < -least) {
				continue
			}
			switch ratio := s.hotness(y, x); {
			case ratio >= hotRatio:
				hot = append(hot, y*w+x)
			case ratio >= hotRatio/2:
				near++
			}
		}
	}
	if len(hot) <= near || !noise.Independent(hot, h, w) {
		return nil
	}
	var list []hotPixel
	for _, at := range hot {
		list = append(list, hotPixel{at, middle(s.ring(s.Image.Pix, at/w, at%w))})
	}
	return list
}

// hotness is the ratio of what a sample exceeds its neighbours by to their spread: 0 where the pixels around it look alike.
func (s *stabilised) hotness(y, x int) float32 {
	v, n := s.pix[y*s.Width+x], s.ring(s.pix, y, x)
	sign := float32(1)
	if v < n[0] {
		sign = -1
	}
	for i := range n {
		n[i] *= sign
	}
	slices.Sort(n[:])
	excess := sign*v - n[7]
	around := float32(0)
	for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		ny, nx := mirrored(y+d[0], s.Height), mirrored(x+d[1], s.Width)
		around += sign * (s.pix[ny*s.Width+nx] - middle(s.ring(s.pix, ny, nx))) / 4
	}
	if around > hotAround*excess {
		return 0
	}
	return excess / max(n[7]-(n[3]+n[4])/2, flatSpread/float32(s.span))
}

// ring returns the eight nearest samples of the colour of a pixel of a mosaic, two rows or columns away.
func (s *stabilised) ring(pix []float32, y, x int) (n [8]float32) {
	k := 0
	for dy := -2; dy <= 2; dy += 2 {
		for dx := -2; dx <= 2; dx += 2 {
			if dy != 0 || dx != 0 {
				n[k] = pix[mirrored(y+dy, s.Height)*s.Width+mirrored(x+dx, s.Width)]
				k++
			}
		}
	}
	return n
}

// mirrored is a place in a row of n as it is, or mirrored by the first or the last one, which keeps the colour.
func mirrored(i, n int) int {
	if i < 0 {
		return -i
	}
	if i >= n {
		return 2*(n-1) - i
	}
	return i
}

// middle is the median of eight.
func middle(n [8]float32) float32 {
	slices.Sort(n[:])
	return n[3]/2 + n[4]/2
}
