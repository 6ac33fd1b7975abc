package cameranoise

import (
	"fmt"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
)

// Mosaic returns the raw image that the sensor makes of pix, a picture as Apply takes it: one sample for each
// of h×w pixels, of the colour of its filter, in linear light. Black has been subtracted, and 1 is saturation.
// It is without noise and digits if noisy is false. Reduction and what happens to a picture after it was developed have no
// part in it.
func (c Camera) Mosaic(pix []float32, h, w int, seed uint64, noisy bool) ([]float32, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	channels, err := channelsOf(pix, h, w)
	if err != nil {
		return nil, err
	}
	n := h * w
	planes := make([]float32, 3*n)
	for k := range 3 {
		copy(planes[k*n:(k+1)*n], pix[min(k, channels-1)*n:])
	}
	m := demosaic.New(h, w, c.Pattern.Filters())
	s := c.sensor(seed, noisy)
	c.expose(m, planes, &s)
	out := make([]float32, 0, n)
	for y := range h {
		out = append(out, m.V[m.At(y, 0):][:w]...)
	}
	return out, nil
}

// Develop returns the three planes of h×w samples, display-referred sRGB, that the camera makes of a raw image,
// as Mosaic returns it: white balance, demosaicking, matrix and tone curve, and nothing else.
func (c Camera) Develop(raw []float32, h, w int) ([]float32, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if h < 2 || w < 2 || len(raw)/h != w || len(raw)%h != 0 {
		return nil, fmt.Errorf("%w: %d samples are not a raw image of %d×%d", ErrArgument, len(raw), h, w)
	}
	m := demosaic.New(h, w, c.Pattern.Filters())
	m.Fill(raw)
	c.balance(m)
	planes := make([]float32, 3*h*w)
	m.Planes(planes, demosaic.Way(c.Demosaicking), make([]float32, len(m.V)))
	c.develop(planes)
	return planes, nil
}

// XYZToSensor returns the matrix that takes CIE XYZ to the sensor's colours, row by row, where white is 1, 1, 1 (as a DNG file
// has it, except for the white balance).
func (c Camera) XYZToSensor() [9]float64 {
	return matrix3.Matrix(c.Matrix).Inverse().Times(matrix3.SRGBToXYZ.Inverse())
}
