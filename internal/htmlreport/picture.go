package htmlreport

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"math"
)

// Picture is a PNG of 8 bits.
type Picture struct {
	Width, Height int
	data          []byte
}

// Source is the attribute of an element that shows the picture; none where there is no picture yet.
// Its bytes are of our own making: base64 needs no escaping.
func (p Picture) Source() template.HTMLAttr {
	if p.data == nil {
		return ""
	}
	return template.HTMLAttr(`src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(p.data) + `"`)
}

// The pixels of all pictures before, or after, of a page: 8 MiPixel, which are some 40 MB of
// file for noisy photographs. One input gets at most 2 MiPixel of them, and no more than
// MaxPictured inputs get any, so that each is large enough to see something.
const (
	pagePixels  = 8 << 20
	entryPixels = 2 << 20
	MaxPictured = 128
)

// Budget returns how many pixels the pictures of each of n inputs may have; those behind the
// first MaxPictured have none.
func Budget(n int) int {
	return min(entryPixels, pagePixels/max(1, min(n, MaxPictured)))
}

// Window is the part of a picture that is shown, each pixel the mean of Reduction×Reduction.
type Window struct {
	Label               string
	X, Y, Width, Height int // in pixels of the picture; multiples of Reduction
	Reduction           int
}

// Windows returns what is shown of a picture of w×h pixels in at most budget pixels: all of it,
// or, where it is larger, all of it reduced and its middle as it is, in one half each.
func Windows(w, h, budget int) []Window {
	if int64(w)*int64(h) <= int64(budget) {
		return []Window{{Label: "all of it, pixel by pixel", Width: w, Height: h, Reduction: 1}}
	}
	half := budget / 2
	reduction := int(math.Ceil(math.Sqrt(float64(w) * float64(h) / float64(half))))
	reduction = min(reduction, w, h)
	windows := []Window{{
		Label: fmt.Sprintf("all of it, each pixel the mean of %d×%d", reduction, reduction),
		Width: w / reduction * reduction, Height: h / reduction * reduction, Reduction: reduction,
	}}
	// Of the shape of the picture.
	shrink := math.Sqrt(float64(half) / (float64(w) * float64(h)))
	width, height := max(1, int(float64(w)*shrink)), max(1, int(float64(h)*shrink))
	return append(windows, Window{
		Label: "the middle, pixel by pixel",
		X:     (w - width) / 2, Y: (h - height) / 2, Width: width, Height: height, Reduction: 1,
	})
}

// Draw makes the picture of a window. pix holds one plane (grey) or three (red, green, blue) of
// h×w samples, 0 black and 1 white; others are clipped. The picture that the window is of is
// magnify times as large in both directions: each sample is repeated so many times.
func (v Window) Draw(pix []float32, channels, h, w, magnify int) (Picture, error) {
	width, height := v.Width/v.Reduction, v.Height/v.Reduction
	if len(pix) != channels*h*w || (channels != 1 && channels != 3) || magnify < 1 || width < 1 || height < 1 ||
		v.X < 0 || v.Y < 0 || v.X+v.Width > w*magnify || v.Y+v.Height > h*magnify {
		return Picture{}, fmt.Errorf("htmlreport: no window %+v in %d samples of %d planes of %d×%d, %d times as large", v, len(pix), channels, h, w, magnify)
	}
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	row := make([]float64, width)
	scale := 255 / float64(v.Reduction*v.Reduction)
	for c := range channels {
		plane := pix[c*h*w:][:h*w]
		for j := range height {
			clear(row)
			for y := v.Y + j*v.Reduction; y < v.Y+(j+1)*v.Reduction; y++ {
				source := plane[y/magnify*w:][:w]
				for x := range width * v.Reduction {
					row[x/v.Reduction] += clipped(source[(v.X+x)/magnify])
				}
			}
			for i, sum := range row {
				value := uint8(math.Round(sum * scale))
				at := img.PixOffset(i, j) + c
				img.Pix[at] = value
				if channels == 1 {
					img.Pix[at+1], img.Pix[at+2] = value, value
				}
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return Picture{}, err
	}
	return Picture{Width: width, Height: height, data: b.Bytes()}, nil
}

// clipped is a sample in [0, 1]; not-a-number is black.
func clipped(v float32) float64 {
	switch {
	case v >= 1:
		return 1
	case v > 0:
		return float64(v)
	}
	return 0
}
