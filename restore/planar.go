package restore

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imageplanes"
)

// Planar is an image of float32 samples, the form in which everything here is computed. It is an image.Image. Given a
// *Planar, all functions return a *Planar, without rounding or clipping.
//
// A sample is the stored value over the largest possible one: 0 is black and 1 full intensity, in the encoding of the
// image (for photographs sRGB or similar; nothing is converted to linear light). Values outside [0,1], such as
// those of unclipped noise, are kept.
type Planar struct {
	Width, Height int
	Channels      int       // 1 (grey) or 3 (red, green, blue)
	Pix           []float32 // Channels planes of Height rows of Width samples
	// Alpha holds Height rows of Width opacities from 0 to 65535. nil means opaque. Samples are not multiplied by it.
	// Pixels of opacity 0 are invisible: no other pixel of a result depends on them.
	Alpha []uint16
}

var _ image.Image = (*Planar)(nil)

// NewPlanar returns a black image. With a negative size, or one that no memory holds, it has no samples, and Check
// refuses it.
func NewPlanar(channels, height, width int) *Planar {
	if min(channels, height, width) < 0 || float64(channels)*float64(height)*float64(width) > math.MaxInt/12 {
		return &Planar{Width: width, Height: height, Channels: channels}
	}
	return &Planar{Width: width, Height: height, Channels: channels, Pix: make([]float32, channels*height*width)}
}

// ErrImage is wrapped by errors about an image that cannot be restored: it is nil or empty, its fields contradict each other,
// it has more than 268435456 pixels (2²⁸), or a sample that Planar.Check refuses.
var ErrImage = picture.ErrInvalid

// FromImage returns the samples of an image as 1 or 3 channels, copied. For a *Planar it returns the same image. An error
// wraps ErrImage.
func FromImage(img image.Image) (*Planar, error) {
	if p, ok := img.(*Planar); ok {
		return p, p.Check()
	}
	src, err := read(img)
	if err != nil {
		return nil, err
	}
	return planarOf(src), nil
}

// read is picture.FromImage whose errors all wrap ErrImage.
func read(img image.Image) (*picture.Image, error) {
	src, err := picture.FromImage(img)
	if err == nil || errors.Is(err, ErrImage) {
		return src, err
	}
	return nil, fmt.Errorf("%w: %w", ErrImage, err)
}

// planarOf shares the samples of an image.
func planarOf(m *picture.Image) *Planar {
	return &Planar{Width: m.Width, Height: m.Height, Channels: m.Channels, Pix: m.Pix, Alpha: m.Alpha}
}

// Plane returns the samples of channel c, 0 ≤ c < Channels. They share the memory of the image.
func (p *Planar) Plane(c int) []float32 {
	n := p.Width * p.Height
	return p.Pix[c*n : (c+1)*n : (c+1)*n]
}

// planes is the image as the packages inside see it. It shares the memory.
func (p *Planar) planes() *imageplanes.Planes { return (*imageplanes.Planes)(p) }

// Check returns an error that wraps ErrImage unless the fields agree, Channels is 1 or 3, and every sample is finite and
// within ±1e18: float32 cannot hold the squares of larger ones.
func (p *Planar) Check() error {
	if p == nil {
		return fmt.Errorf("%w: it is a nil %T", ErrImage, p)
	}
	if p.Width < 1 || p.Height < 1 || p.Width > math.MaxInt/12/p.Height {
		return fmt.Errorf("%w: it has %d×%d pixels", ErrImage, p.Width, p.Height)
	}
	if p.Channels != 1 && p.Channels != 3 {
		return fmt.Errorf("%w: it has %d channels, want 1 (grey) or 3 (RGB)", ErrImage, p.Channels)
	}
	if len(p.Pix) != p.Channels*p.Height*p.Width {
		return fmt.Errorf("%w: it has %d samples for %d channels of %d×%d pixels", ErrImage, len(p.Pix), p.Channels, p.Width, p.Height)
	}
	if p.Alpha != nil && len(p.Alpha) != p.Height*p.Width {
		return fmt.Errorf("%w: it has %d opacities for %d×%d pixels", ErrImage, len(p.Alpha), p.Width, p.Height)
	}
	for i, v := range p.Pix {
		if !(v >= -1e18 && v <= 1e18) {
			n := p.Width * p.Height
			return fmt.Errorf("%w: the sample at column %d, row %d is %v, want a number within ±1e18", ErrImage, i%n%p.Width, i%n/p.Width, v)
		}
	}
	return nil
}

// ColorModel implements image.Image.
func (p *Planar) ColorModel() color.Model {
	if p.Channels == 1 && p.Alpha == nil {
		return color.Gray16Model
	}
	return color.NRGBA64Model
}

// Bounds implements image.Image. The origin is (0,0).
func (p *Planar) Bounds() image.Rectangle { return image.Rect(0, 0, p.Width, p.Height) }

// At implements image.Image. It returns the sample clipped to [0,1] and rounded to 16 bits.
func (p *Planar) At(x, y int) color.Color {
	if !(image.Point{X: x, Y: y}.In(p.Bounds())) {
		return color.NRGBA64{}
	}
	i, n := y*p.Width+x, p.Width*p.Height
	red := quantise16(p.Pix[i])
	if p.Channels == 1 && p.Alpha == nil {
		return color.Gray16{Y: red}
	}
	c := color.NRGBA64{R: red, G: red, B: red, A: 0xffff}
	if p.Channels == 3 {
		c.G, c.B = quantise16(p.Pix[n+i]), quantise16(p.Pix[2*n+i])
	}
	if p.Alpha != nil {
		c.A = p.Alpha[i]
	}
	return c
}

func quantise16(v float32) uint16 {
	if !(v > 0) {
		return 0
	}
	return uint16(math.Round(math.Min(float64(v), 1) * 0xffff))
}
