package imagefile

import "image"

// chromaRows widens the chroma planes of a decoded JPEG or WebP to the size of
// luma, a row at a time. Where chroma has half the samples, they lie between the
// samples of luma, and are interpolated linearly: weights 3/4 and 1/4 along each
// halved axis, with the roundings of libjpeg, so that samples are those that most
// programs see. image.YCbCr repeats the nearest sample, which makes coloured
// edges jagged. Coarser chroma, which is rare, is repeated here too.
type chromaRows struct {
	s             *image.YCbCr
	width, height int // of chroma
	halfX, halfY  bool
	linear        bool
	sums          []int32
	out           [2][]byte
}

func newChromaRows(s *image.YCbCr) *chromaRows {
	u := &chromaRows{s: s}
	w, h := s.Rect.Dx(), s.Rect.Dy()
	u.width, u.height = w, h
	switch s.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		u.halfX, u.halfY = true, true
	case image.YCbCrSubsampleRatio422:
		u.halfX = true
	case image.YCbCrSubsampleRatio440:
		u.halfY = true
	}
	if u.halfX {
		u.width = (w + 1) / 2
	}
	if u.halfY {
		u.height = (h + 1) / 2
	}
	// Like libjpeg, which repeats samples if there are no more than two.
	u.linear = (u.halfX || u.halfY) && (!u.halfX || u.width > 2)
	u.sums = make([]int32, u.width)
	for k := range u.out {
		u.out[k] = make([]byte, 2*u.width+w)
	}
	return u
}

// row returns the chroma of row y, counted from the top, for each column.
func (u *chromaRows) row(y int) (cb, cr []byte) {
	w := u.s.Rect.Dx()
	for k, plane := range [2][]byte{u.s.Cb, u.s.Cr} {
		if u.linear {
			u.interpolate(u.out[k], plane, y)
			continue
		}
		for x := range w {
			u.out[k][x] = plane[u.s.COffset(u.s.Rect.Min.X+x, u.s.Rect.Min.Y+y)]
		}
	}
	return u.out[0][:w], u.out[1][:w]
}

func (u *chromaRows) interpolate(out, plane []byte, y int) {
	near, far := y, y
	if u.halfY {
		near = y / 2
		far = min(max(near-1+y%2*2, 0), u.height-1)
	}
	a := plane[near*u.s.CStride:][:u.width]
	b := plane[far*u.s.CStride:][:u.width]
	switch {
	case !u.halfX:
		round := int32(1 + y%2)
		for x := range a {
			out[x] = byte((3*int32(a[x]) + int32(b[x]) + round) >> 2)
		}
	case !u.halfY:
		for x := range a {
			u.sums[x] = int32(a[x])
		}
		widen(out, u.sums, 2, 1, 2)
	default:
		for x := range a {
			u.sums[x] = 3*int32(a[x]) + int32(b[x])
		}
		widen(out, u.sums, 4, 8, 7)
	}
}

// widen doubles a row of samples that are to be divided by 2^shift/4; left and
// right are what is added before, for the left and the right one of each pair.
func widen(out []byte, s []int32, shift uint, left, right int32) {
	n := len(s)
	for x, v := range s {
		before, after := v, v
		if x > 0 {
			before = s[x-1]
		}
		if x < n-1 {
			after = s[x+1]
		}
		out[2*x] = byte((3*v + before + left) >> shift)
		out[2*x+1] = byte((3*v + after + right) >> shift)
	}
}

// fillSmooth converts a decoded image of luma and chroma, row by row.
func (m *Image) fillSmooth(s *image.YCbCr, convert func(luma, cb, cr byte) (r, g, b byte)) {
	u := newChromaRows(s)
	for y := range m.Height {
		luma := s.Y[s.YOffset(s.Rect.Min.X, s.Rect.Min.Y+y):]
		cb, cr := u.row(y)
		red, green, blue := m.Plane(0)[y*m.Width:], m.Plane(1)[y*m.Width:], m.Plane(2)[y*m.Width:]
		for x := range cb {
			r, g, b := convert(luma[x], cb[x], cr[x])
			red[x], green[x], blue[x] = unit8[r], unit8[g], unit8[b]
		}
	}
}

// jfifToRGB converts the full-range components of JFIF (ITU-R BT.601) to the
// nearest 8-bit colours. color.YCbCrToRGB cuts off instead, which darkens by half
// a step.
func jfifToRGB(luma, cb, cr byte) (r, g, b byte) {
	const half = 1 << 15
	y, u, v := int32(luma), int32(cb)-128, int32(cr)-128
	return clip8(y + (91881*v+half)>>16),
		clip8(y + (-22554*u-46802*v+half)>>16),
		clip8(y + (116130*u+half)>>16)
}

// vp8ToRGB converts the components of a VP8 frame. They are in the limited range
// of ITU-R BT.601 (luma from 16 to 235), unlike those of JPEG, which the methods
// of image.YCbCr assume: with those, black would be 16. The fixed-point numbers
// are the ones of the reference decoder, in units of 1/64.
func vp8ToRGB(luma, cb, cr byte) (r, g, b byte) {
	y, u, v := int32(luma)*19077>>8, int32(cb), int32(cr)
	return clip8((y + v*26149>>8 - 14234) >> 6),
		clip8((y - u*6419>>8 - v*13320>>8 + 8708) >> 6),
		clip8((y + u*33050>>8 - 17685) >> 6)
}

func clip8(v int32) byte { return byte(min(max(v, 0), 255)) }
