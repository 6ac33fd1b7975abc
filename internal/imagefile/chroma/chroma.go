// Package chroma brings the chroma of decoded pictures to the size of their luma, and luma and chroma to colours.
package chroma

import "image"

// Rows widens the chroma planes of a decoded JPEG or WebP to the size of
// luma, a row at a time. Where chroma has half the samples, they lie between the
// samples of luma, and are interpolated linearly: weights 3/4 and 1/4 along each
// halved axis, with the roundings of libjpeg, so that samples are those that most
// programs see. image.YCbCr repeats the nearest sample, which makes coloured
// edges jagged. Coarser chroma, which is rare, is repeated here too.
type Rows struct {
	s             *image.YCbCr
	width, height int // of chroma
	halfX, halfY  bool
	linear        bool
	sums          []int32
	out           [2][]byte
}

// NewRows returns those of a picture.
func NewRows(s *image.YCbCr) *Rows {
	u := &Rows{s: s}
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

// Row returns the chroma of row y, counted from the top, for each column.
func (u *Rows) Row(y int) (cb, cr []byte) {
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

func (u *Rows) interpolate(out, plane []byte, y int) {
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

// JFIFToRGB converts the full-range components of JFIF (ITU-R BT.601) to the
// nearest 8-bit colours. color.YCbCrToRGB cuts off instead, which darkens by half
// a step.
func JFIFToRGB(luma, cb, cr byte) (r, g, b byte) {
	const half = 1 << 15
	y, u, v := int32(luma), int32(cb)-128, int32(cr)-128
	return clip8(y + (91881*v+half)>>16),
		clip8(y + (-22554*u-46802*v+half)>>16),
		clip8(y + (116130*u+half)>>16)
}

func clip8(v int32) byte { return byte(min(max(v, 0), 255)) }
