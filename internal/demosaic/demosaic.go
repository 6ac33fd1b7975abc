// Package demosaic finds the two colours that each pixel of a Bayer mosaic lacks.
package demosaic

import "math"

// Pattern is the colour of the filter at a pixel of two by two: 0 red, 1 green, 2 blue, row by row.
type Pattern [4]uint8

// At is the filter at a pixel.
func (p Pattern) At(y, x int) int { return int(p[y&1<<1|x&1]) }

// Way is a way to demosaick.
type Way int

const (
	// Bilinear is the mean of the nearest pixels of the colour.
	Bilinear Way = iota
	// Malvar is linear in 5×5 pixels, with a correction by the colour that is there: Malvar, He and
	// Cutler 2004, "High-quality linear interpolation for demosaicing of Bayer-patterned color
	// images".
	Malvar
	// HamiltonAdams looks for green along edges, corrected by the second derivative of the colour
	// that is there (Hamilton and Adams 1997, US patent 5,629,734, expired), and for the others
	// by differences to green.
	HamiltonAdams
)

// Border is how many pixels a Mosaic goes on beyond the picture, so that every pixel has neighbours. It is even,
// which keeps the pattern.
const Border = 4

// Mosaic is what a sensor gave: one number for each pixel, of H×W pixels and a border around.
type Mosaic struct {
	V       []float32
	H, W    int
	Stride  int
	Pattern Pattern // of the pixels at even rows and columns, and so on
}

// New returns a mosaic of zeros.
func New(h, w int, p Pattern) *Mosaic {
	stride := w + 2*Border
	return &Mosaic{V: make([]float32, (h+2*Border)*stride), H: h, W: w, Stride: stride, Pattern: p}
}

// Fill takes the pixels from raw, h×w samples, at least two in each direction. Beyond the picture stands its mirror image.
func (m *Mosaic) Fill(raw []float32) {
	i := 0
	for y := -Border; y < m.H+Border; y++ {
		row := raw[mirrored(y, m.H)*m.W:][:m.W]
		for x := -Border; x < m.W+Border; x++ {
			m.V[i] = row[mirrored(x, m.W)]
			i++
		}
	}
}

// mirrored is the place in 0 to n−1 that is the mirror image of i, in mirrors that lie in the middle of the first
// pixel and of the last: there the pattern of filters goes on.
func mirrored(i, n int) int {
	period := 2 * (n - 1)
	i = ((i % period) + period) % period
	return min(i, period-i)
}

// At is the place of pixel (y, x) of the picture.
func (m *Mosaic) At(y, x int) int { return (y+Border)*m.Stride + x + Border }

// across is the sum of the neighbours at both sides at the distance d: of 1 or a multiple of the
// stride.
func across(v []float32, i, d int) float32 { return v[i-d] + v[i+d] }

// Planes fills the three planes of H×W samples from m: red, green and blue. room is for a number for each of V.
func (m *Mosaic) Planes(planes []float32, way Way, room []float32) {
	switch way {
	case Bilinear:
		m.each(planes, m.bilinear)
	case Malvar:
		m.each(planes, m.malvar)
	case HamiltonAdams:
		m.greenAlongEdges(room)
		m.each(planes, func(i int, atGreen bool) (g, side, other float32) {
			return m.byDifferences(room, i, atGreen)
		})
	}
}

// each calls for every pixel a function that returns green, side and other. At a green pixel side
// is the colour of the filters to its left and right, other that of those above and below;
// elsewhere side is the colour of the pixel's own filter.
func (m *Mosaic) each(planes []float32, pixel func(i int, atGreen bool) (green, side, other float32)) {
	n := m.H * m.W
	for y := range m.H {
		for x := range m.W {
			colour := m.Pattern.At(y, x)
			atGreen := colour == 1
			if atGreen {
				colour = m.Pattern.At(y, x+1)
			}
			k := y*m.W + x
			planes[n+k], planes[colour*n+k], planes[(2-colour)*n+k] = pixel(m.At(y, x), atGreen)
		}
	}
}

func (m *Mosaic) bilinear(i int, atGreen bool) (green, side, other float32) {
	v, s := m.V, m.Stride
	if atGreen {
		return v[i], across(v, i, 1) / 2, across(v, i, s) / 2
	}
	return (across(v, i, 1) + across(v, i, s)) / 4, v[i], (across(v, i, s-1) + across(v, i, s+1)) / 4
}

// malvar has the filters of figure 2 of Malvar, He and Cutler, times one eighth.
func (m *Mosaic) malvar(i int, atGreen bool) (green, side, other float32) {
	v, s := m.V, m.Stride
	c, horizontal, vertical := v[i], across(v, i, 1), across(v, i, s)
	diagonal := across(v, i, s-1) + across(v, i, s+1)
	far, high := across(v, i, 2), across(v, i, 2*s)
	if atGreen {
		// All products are by powers of two, or stand alone before a sum.
		side = float32(5*c) + 4*horizontal - diagonal - far + high/2
		other = float32(5*c) + 4*vertical - diagonal - high + far/2
		return c, side / 8, other / 8
	}
	green = 4*c + 2*(horizontal+vertical) - (far + high)
	other = float32(6*c) + 2*diagonal - float32(1.5*(far+high))
	return green / 8, c, other / 8
}

// greenAlongEdges fills green, for the picture and one pixel around.
func (m *Mosaic) greenAlongEdges(green []float32) {
	v, s := m.V, m.Stride
	for y := -1; y <= m.H; y++ {
		for x := -1; x <= m.W; x++ {
			i := m.At(y, x)
			if m.Pattern.At(y, x) == 1 {
				green[i] = v[i]
				continue
			}
			curveX, curveY := 2*v[i]-across(v, i, 2), 2*v[i]-across(v, i, 2*s)
			alongX := across(v, i, 1)/2 + curveX/4
			alongY := across(v, i, s)/2 + curveY/4
			slopeX := magnitude(v[i-1]-v[i+1]) + magnitude(curveX)
			slopeY := magnitude(v[i-s]-v[i+s]) + magnitude(curveY)
			switch {
			case slopeX < slopeY:
				green[i] = alongX
			case slopeY < slopeX:
				green[i] = alongY
			default:
				green[i] = (alongX + alongY) / 2
			}
		}
	}
}

func magnitude(v float32) float32 { return float32(math.Abs(float64(v))) }

// byDifferences interpolates the differences of red and blue to green.
func (m *Mosaic) byDifferences(green []float32, i int, atGreen bool) (g, side, other float32) {
	v, s := m.V, m.Stride
	g = green[i]
	difference := func(d int) float32 { return across(v, i, d) - across(green, i, d) }
	if atGreen {
		return g, g + difference(1)/2, g + difference(s)/2
	}
	return g, v[i], g + (difference(s-1)+difference(s+1))/4
}
