package cameranoise

import "math"

// mosaic is what a sensor gave: one number for each pixel, of h×w pixels and a border around.
type mosaic struct {
	v       []float32
	h, w    int
	stride  int
	pattern Pattern
}

// at is the place of pixel (y, x) of the picture.
func (m *mosaic) at(y, x int) int { return (y+border)*m.stride + x + border }

// across is the sum of the neighbours at both sides at the distance d: of 1 or a multiple of the
// stride.
func across(v []float32, i, d int) float32 { return v[i-d] + v[i+d] }

// demosaick fills three planes of h×w from m. green is room for a number for each pixel of m.
func (m *mosaic) demosaick(planes []float32, way Demosaicking, green []float32) {
	switch way {
	case Bilinear:
		m.each(planes, m.bilinear)
	case Malvar:
		m.each(planes, m.malvar)
	case HamiltonAdams:
		m.greenAlongEdges(green)
		m.each(planes, func(i int, atGreen bool) (g, side, other float32) {
			return m.byDifferences(green, i, atGreen)
		})
	}
}

// each calls for every pixel a function that returns green, side and other. At a green pixel side
// is the colour of the filters to its left and right, other that of those above and below;
// elsewhere side is the colour of the pixel's own filter.
func (m *mosaic) each(planes []float32, pixel func(i int, atGreen bool) (green, side, other float32)) {
	n := m.h * m.w
	for y := range m.h {
		for x := range m.w {
			colour := m.pattern.colourAt(y, x)
			atGreen := colour == 1
			if atGreen {
				colour = m.pattern.colourAt(y, x+1)
			}
			k := y*m.w + x
			planes[n+k], planes[colour*n+k], planes[(2-colour)*n+k] = pixel(m.at(y, x), atGreen)
		}
	}
}

func (m *mosaic) bilinear(i int, atGreen bool) (green, side, other float32) {
	v, s := m.v, m.stride
	if atGreen {
		return v[i], across(v, i, 1) / 2, across(v, i, s) / 2
	}
	return (across(v, i, 1) + across(v, i, s)) / 4, v[i], (across(v, i, s-1) + across(v, i, s+1)) / 4
}

// malvar has the filters of figure 2 of Malvar, He and Cutler, times one eighth.
func (m *mosaic) malvar(i int, atGreen bool) (green, side, other float32) {
	v, s := m.v, m.stride
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
func (m *mosaic) greenAlongEdges(green []float32) {
	v, s := m.v, m.stride
	for y := -1; y <= m.h; y++ {
		for x := -1; x <= m.w; x++ {
			i := m.at(y, x)
			if m.pattern.colourAt(y, x) == 1 {
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
func (m *mosaic) byDifferences(green []float32, i int, atGreen bool) (g, side, other float32) {
	v, s := m.v, m.stride
	g = green[i]
	difference := func(d int) float32 { return across(v, i, d) - across(green, i, d) }
	if atGreen {
		return g, g + difference(1)/2, g + difference(s)/2
	}
	return g, v[i], g + (difference(s-1)+difference(s+1))/4
}
