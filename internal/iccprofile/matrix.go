package iccprofile

import "math"

type matrix3 [3][3]float64

func (a matrix3) times(b matrix3) (c matrix3) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func (a matrix3) of(v [3]float64) (w [3]float64) {
	for i := range 3 {
		for k := range 3 {
			w[i] += a[i][k] * v[k]
		}
	}
	return w
}

// inverse is false for a matrix that is singular, or nearly.
func (a matrix3) inverse() (inv matrix3, ok bool) {
	minor := func(i, j int) float64 {
		r, s, u, v := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return a[r][u]*a[s][v] - a[r][v]*a[s][u]
	}
	determinant := a[0][0]*minor(0, 0) + a[0][1]*minor(0, 1) + a[0][2]*minor(0, 2)
	if !(math.Abs(determinant) > 1e-6) {
		return inv, false
	}
	for i := range 3 {
		for j := range 3 {
			inv[j][i] = minor(i, j) / determinant
		}
	}
	return inv, true
}

// xyz is the colour with a brightness of 1.
func (c Chromaticity) xyz() [3]float64 { return [3]float64{c.X / c.Y, 1, (1 - c.X - c.Y) / c.Y} }

// matrix returns the map from linear RGB to XYZ in which (1,1,1) is white.
func (p Primaries) matrix() (m matrix3, ok bool) {
	for i, c := range []Chromaticity{p.Red, p.Green, p.Blue, p.White} {
		if !(c.Y > 0.001 && c.Y <= 1 && c.X >= 0 && c.X <= 1) {
			return m, false
		}
		if v := c.xyz(); i < 3 {
			m[0][i], m[1][i], m[2][i] = v[0], v[1], v[2]
		}
	}
	inverse, ok := m.inverse()
	if !ok {
		return m, false
	}
	scale := inverse.of(p.White.xyz())
	for i := range 3 {
		for j := range 3 {
			m[i][j] *= scale[j]
		}
	}
	return m, true
}

// adaptation is the linear Bradford transform from a white to that of profiles (ICC.1, annex E).
func adaptation(white Chromaticity) matrix3 {
	bradford := matrix3{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}
	back, _ := bradford.inverse() // it has one
	from, to := bradford.of(white.xyz()), bradford.of(d50)
	var gain matrix3
	for i := range 3 {
		gain[i][i] = to[i] / from[i]
	}
	return back.times(gain).times(bradford)
}
