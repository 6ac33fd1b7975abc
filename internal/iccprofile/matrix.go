package iccprofile

import (
	"math"

	"github.com/averaged/imaging/internal/matrix3"
)

// xyz is the colour with a brightness of 1.
func (c Chromaticity) xyz() [3]float64 { return [3]float64{c.X / c.Y, 1, (1 - c.X - c.Y) / c.Y} }

// matrix returns the map from linear RGB to XYZ in which (1,1,1) is white.
func (p Primaries) matrix() (m matrix3.Matrix, ok bool) {
	for i, c := range []Chromaticity{p.Red, p.Green, p.Blue, p.White} {
		if !(c.Y > 0.001 && c.Y <= 1 && c.X >= 0 && c.X <= 1) {
			return m, false
		}
		if v := c.xyz(); i < 3 {
			m[i], m[3+i], m[6+i] = v[0], v[1], v[2]
		}
	}
	if !(math.Abs(m.Determinant()) > 1e-6) {
		return m, false
	}
	scale := m.Inverse().Of(p.White.xyz())
	for i := range m {
		m[i] *= scale[i%3]
	}
	return m, true
}

// adaptation is the linear Bradford transform from a white to that of profiles (ICC.1, annex E).
func adaptation(white Chromaticity) matrix3.Matrix {
	bradford := matrix3.Matrix{0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296}
	from, to := bradford.Of(white.xyz()), bradford.Of(d50)
	gain := matrix3.Matrix{to[0] / from[0], 0, 0, 0, to[1] / from[1], 0, 0, 0, to[2] / from[2]}
	return bradford.Inverse().Times(gain).Times(bradford)
}
