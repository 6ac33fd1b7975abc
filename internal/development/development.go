// Package development makes a picture for viewing of the light of a sensor: white balance, demosaicking, colours, and the
// curve of sRGB. It is plain on purpose: no lens correction, no tone curve of a maker.
package development

import (
	"math"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
	"github.com/averaged/imaging/internal/srgb"
)

// Camera says how the light of a sensor becomes colours.
type Camera struct {
	Neutral  [3]float64 // red, green and blue of what is grey
	Exposure float64    // in stops
	Matrix   [9]float64 // from CIE XYZ to the sensor's colours
}

// Mosaic develops the light of h×w pixels with a colour each: into planes of red, green and blue from 0 to 1.
func (c Camera) Mosaic(light []float32, h, w int, pattern demosaic.Pattern) []float32 {
	gains := c.gains()
	balanced := make([]float32, len(light))
	for y := range h {
		for x := range w {
			// What is above white is cut off, so that highlights stay white.
			i := y*w + x
			balanced[i] = min(light[i]*gains[pattern.At(y, x)], 1)
		}
	}
	if w < 2 || h < 2 { // of a line there are no neighbours
		return c.encode(append(append(balanced, balanced...), balanced...))
	}
	m := demosaic.New(h, w, pattern)
	m.Fill(balanced)
	planes := make([]float32, 3*len(balanced))
	m.Planes(planes, demosaic.Malvar, nil)
	return c.encode(planes)
}

// Colours develops pixels of red, green and blue, one after the other, into planes.
func (c Camera) Colours(light []float32) []float32 {
	gains, n := c.gains(), len(light)/3
	balanced := make([]float32, len(light))
	for i, v := range light {
		balanced[i%3*n+i/3] = min(v*gains[i%3], 1)
	}
	return c.encode(balanced)
}

// Grey develops the first of the samples of each pixel.
func Grey(light []float32, samples int) []float32 {
	plane := make([]float32, len(light)/samples)
	for i := range plane {
		plane[i] = encode(float64(light[i*samples]))
	}
	return plane
}

// gains is the white balance, and the exposure.
func (c Camera) gains() (g [3]float32) {
	lowest := math.Inf(1)
	for _, v := range c.Neutral {
		lowest = min(lowest, 1/v)
	}
	for i, v := range c.Neutral {
		g[i] = float32(1 / v / lowest * math.Exp2(c.Exposure))
	}
	return g
}

// encode takes planes of the sensor's colours, balanced, to sRGB.
func (c Camera) encode(planes []float32) []float32 {
	matrix, n := cameraToRGB(c.Matrix), len(planes)/3
	for i := range n {
		r, g, b := float64(planes[i]), float64(planes[n+i]), float64(planes[2*n+i])
		for c := range 3 {
			planes[c*n+i] = encode(matrix[3*c]*r + matrix[3*c+1]*g + matrix[3*c+2]*b)
		}
	}
	return planes
}

// cameraToRGB is the inverse of what takes linear sRGB to the sensor's colours, with rows that add up to 1, so that grey
// stays grey; the identity if there is none.
func cameraToRGB(xyzToCamera [9]float64) [9]float64 {
	m := matrix3.Matrix(xyzToCamera).Times(matrix3.SRGBToXYZ)
	sums := m.Of([3]float64{1, 1, 1})
	for i := range m {
		m[i] /= sums[i/3]
	}
	inverse := m.Inverse()
	for _, v := range inverse {
		if !(math.Abs(v) < 1e3) { // beyond all use
			return [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		}
	}
	return inverse
}

// encode is the curve of sRGB, clipped; what is no number is black.
func encode(x float64) float32 {
	if !(x > 0) {
		return 0
	}
	return float32(srgb.Encoded(min(x, 1)))
}
