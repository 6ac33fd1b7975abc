package raw

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/dng"
)

// Colour is the colour of a filter before a sensor.
type Colour uint8

// The colours of a mosaic.
const (
	Red   = Colour(dng.Red)
	Green = Colour(dng.Green)
	Blue  = Colour(dng.Blue)
)

// Pattern has the colours of the filters at the first two pixels of the first two rows, which repeat:
// [row][column]. A Bayer pattern has green on one of its diagonals, and red and blue on the other.
type Pattern [2][2]Colour

// String returns the initials of the colours, row by row, such as RGGB.
func (p Pattern) String() string {
	text := ""
	for _, row := range p {
		for _, c := range row {
			text += string("RGB?"[min(c, 3)])
		}
	}
	return text
}

// Bayer tells whether p is a Bayer pattern.
func (p Pattern) Bayer() bool {
	switch p.String() {
	case "RGGB", "GRBG", "GBRG", "BGGR":
		return true
	}
	return false
}

// Noise is the variance of noise for light x from 0 (black) to 1 (white): Gain·x + Offset. Both are 0 or more.
type Noise struct{ Gain, Offset float64 }

// At returns the variance for light x; below 0 it is that of 0.
func (n Noise) At(x float64) float64 { return n.Gain*max(x, 0) + n.Offset }

// Image is the image of a raw photograph in linear light: 0 is black, 1 saturates the sensor.
type Image struct {
	Width, Height int
	// Mosaic tells whether a pixel has one colour, that of Pattern. Otherwise it has all of them, and Pattern
	// is ignored.
	Mosaic  bool
	Pattern Pattern
	// Samples is the number of samples of a pixel: 1 in a mosaic, 1 to 4 otherwise.
	Samples int
	// Pix is the light: sample s of the pixel in column x of row y is Pix[(y·Width + x)·Samples + s].
	Pix []float32
	// Low is the light at the lower end of the sensor's range; noise does not reach below it. −Inf means no
	// such end. Step is the distance of two numbers of the sensor, 0 if it is not known.
	Low, Step float32
	// Noise is the camera's own claim about the noise: for red, green and blue, or for each sample, or one
	// for all. It is empty if there is no claim. The claims of cameras are often far from the true noise.
	Noise []Noise
}

// Check returns an error unless the fields fit together and every sample is a finite number.
func (m *Image) Check() error {
	if m == nil {
		return fmt.Errorf("raw: the image is nil")
	}
	if m.Width < 1 || m.Height < 1 || m.Width > math.MaxInt/64/m.Height {
		return fmt.Errorf("raw: image of %d×%d pixels", m.Width, m.Height)
	}
	if m.Samples < 1 || m.Samples > 4 || m.Mosaic && m.Samples != 1 {
		return fmt.Errorf("raw: image of %d samples per pixel; 1 is possible in a mosaic, 1 to 4 without one", m.Samples)
	}
	if m.Mosaic && !m.Pattern.Bayer() {
		return fmt.Errorf("raw: a mosaic of the pattern %v, which is no Bayer pattern", m.Pattern)
	}
	if len(m.Pix) != m.Width*m.Height*m.Samples {
		return fmt.Errorf("raw: %d samples for an image of %d×%d pixels of %d", len(m.Pix), m.Width, m.Height, m.Samples)
	}
	for i, v := range m.Pix {
		if v-v != 0 { // NaN or infinite
			return fmt.Errorf("raw: the sample at column %d, row %d is %v", i/m.Samples%m.Width, i/m.Samples/m.Width, v)
		}
	}
	return nil
}

// Colour returns the colour of a pixel of a mosaic.
func (m *Image) Colour(x, y int) Colour { return m.Pattern[y&1][x&1] }
