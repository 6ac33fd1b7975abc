// Package imageplanes is the samples of an image in planes, on the host and on its way to a device and back.
package imageplanes

import "github.com/averaged/imaging/backend"

// Planes are float32 samples, where [0,1] is black to full intensity. The fields are those of restore.Planar, so that
// one converts to the other and both share their memory.
type Planes struct {
	Width, Height int
	Channels      int       // 1 (grey) or 3 (red, green, blue)
	Pix           []float32 // Channels planes of Height rows of Width samples
	Alpha         []uint16  // Height rows of Width opacities from 0 to 65535, or nil where all is opaque
}

// New returns a black image.
func New(channels, height, width int) *Planes {
	return &Planes{Width: width, Height: height, Channels: channels, Pix: make([]float32, channels*height*width)}
}

// Plane returns the samples of one channel; they share the image's memory.
func (p *Planes) Plane(c int) []float32 {
	n := p.Width * p.Height
	return p.Pix[c*n : (c+1)*n : (c+1)*n]
}

// Shape is that of the image on a device.
func (p *Planes) Shape() backend.Shape { return backend.Image(p.Channels, p.Height, p.Width) }

// WithPix returns an image of the same size with other samples, opaque.
func (p *Planes) WithPix(pix []float32) *Planes {
	return &Planes{Width: p.Width, Height: p.Height, Channels: p.Channels, Pix: pix}
}
