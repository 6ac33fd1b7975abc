package noiselevel

// A photograph may have a frame of one colour around it. That is flat, and says nothing of the noise inside. A white
// frame, or a black one, is like what is clipped, and stays.

// leastInside is the least height and width of what is inside a frame.
const leastInside = 4 * groupSide

// withoutFrame returns what is inside a frame of one colour, its height and its width, or the image itself where there is
// no frame. The frame that is left out is a whole number of blocks wide, so that JPEG's grid stays where it was.
func withoutFrame(pix []float32, channels, height, width int, ranges []valueRange) (inside []float32, h, w int) {
	plane, atEnd := height*width, true
	for c, r := range ranges {
		v := pix[c*plane]
		atEnd = atEnd && (v == r.low || v == r.high)
	}
	if atEnd {
		return pix, height, width
	}
	is := func(y, x int) bool {
		for c := range channels {
			if pix[c*plane+y*width+x] != pix[c*plane] {
				return false
			}
		}
		return true
	}
	row := func(y int) bool {
		for x := range width {
			if !is(y, x) {
				return false
			}
		}
		return true
	}
	column := func(x int) bool {
		for y := range height {
			if !is(y, x) {
				return false
			}
		}
		return true
	}
	top, left := 0, 0
	for top < height && row(top) {
		top++
	}
	for left < width && column(left) {
		left++
	}
	bottom, right := height, width
	for bottom > top && row(bottom-1) {
		bottom--
	}
	for right > left && column(right-1) {
		right--
	}
	top, left = top/blockSide*blockSide, left/blockSide*blockSide
	h, w = bottom-top, right-left
	if h == height && w == width || h < leastInside || w < leastInside {
		return pix, height, width
	}
	inside = make([]float32, 0, channels*h*w)
	for c := range channels {
		for y := range h {
			at := c*plane + (top+y)*width + left
			inside = append(inside, pix[at:at+w]...)
		}
	}
	return inside, h, w
}
