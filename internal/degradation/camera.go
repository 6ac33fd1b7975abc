package degradation

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/internal/imagefile"
)

// Compress replaces m, clipped to what JPEG holds, by what compressions leave of it.
func Compress(m *imagefile.Image, list []cameranoise.JPEG) error {
	for i, v := range m.Pix {
		m.Pix[i] = min(max(v, 0), 1)
	}
	for _, j := range list {
		pix, err := cameranoise.Compressed(m.Pix, m.Height, m.Width, j)
		if err != nil {
			return err
		}
		m.Pix = pix
	}
	return nil
}

// ErrTransparent is about an image that is partly transparent, and a camera that makes it smaller.
var ErrTransparent = errors.New("is partly transparent")

// Photograph replaces m by the camera's picture of it, and returns the one without noise if that is
// wanted. The error may be ErrTransparent.
func Photograph(m *imagefile.Image, c cameranoise.Camera, seed uint64, wantClean bool) (*imagefile.Image, error) {
	h, w := c.Size(m.Height, m.Width)
	noisy := *m
	if (h != m.Height || w != m.Width) && m.Alpha != nil {
		if !m.Opaque() {
			return nil, ErrTransparent
		}
		noisy.Alpha = nil
	}
	noisy.Height, noisy.Width = h, w
	var clean *imagefile.Image
	if wantClean {
		pix, err := c.Clean(m.Pix, m.Height, m.Width)
		if err != nil {
			return nil, err
		}
		of := noisy
		of.Pix = pix
		clean = &of
	}
	pix, err := c.Apply(m.Pix, m.Height, m.Width, seed)
	if err != nil {
		return nil, err
	}
	noisy.Pix = pix
	*m = noisy
	return clean, nil
}

// RawPhotograph is the raw photograph that a camera takes of a picture. Its width and height are even. It changes m.
func RawPhotograph(m *imagefile.Image, c cameranoise.Camera, seed uint64) (dng.Mosaic, error) {
	h, w := m.Height&^1, m.Width&^1
	if h < 2 || w < 2 {
		return dng.Mosaic{}, fmt.Errorf("a raw photograph has at least 2×2 pixels, and not %d×%d", m.Width, m.Height)
	}
	m.Alpha = nil
	m.Crop(h, w, 0, 0)
	light, err := c.Mosaic(m.Pix, h, w, seed, true)
	if err != nil {
		return dng.Mosaic{}, err
	}
	return mosaicFile(c, light, h, w), nil
}

// mosaicFile is the file of a raw image, of samples where 0 is black and 1 is saturation.
func mosaicFile(c cameranoise.Camera, light []float32, h, w int) dng.Mosaic {
	bits := c.Bits
	if bits == 0 {
		bits = 16
	}
	white := float64(int(1)<<bits - 1)
	black := math.Round(c.BlackLevel * white)
	f := dng.Mosaic{
		Width: w, Height: h, Pix: make([]uint16, h*w), Black: uint16(black), White: uint16(white),
		Neutral: [3]float64{1 / c.WhiteBalance[0], 1, 1 / c.WhiteBalance[1]},
		Matrix:  c.XYZToSensor(), Exposure: -math.Log2(c.Exposure),
		Noise: [2]float64{c.ShotNoise(), c.ReadVariance()}, Model: "Simulated camera",
	}
	for i, colour := range c.Pattern.Filters() {
		f.Pattern[i/2][i%2] = dng.Colour(colour)
	}
	for i, v := range light {
		f.Pix[i] = uint16(math.Round(min(max(black+float64(v)*(white-black), 0), white)))
	}
	return f
}
