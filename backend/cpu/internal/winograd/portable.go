package winograd

import "math"

// Portable are the loops in Go, which define what the others compute.
var Portable = &Kernels{
	Input: input, Multiply: multiply, Activate: activate, Update: update, Project: project,
	Pack: pack, Unpack: unpack, Prefetch: func([]float32) {},
	Spread: spread, Correlate: correlate, Expand: expand, Contract: contract,
}

// The kernels for AVX2 and FMA, for AVX-512 F, and for NEON; nil where this build does not
// have them.
var AVX2, AVX512, NEON *Kernels

// interpolate returns Bᵀx: what a row or column of a patch gives at the points.
// Even and odd parts are shared by a point and its negative.
func interpolate(x *[Patch]float32) [Patch]float32 {
	even1, odd1 := x[2]+x[6]-4.25*x[4], x[1]+x[5]-4.25*x[3]
	even2, odd2 := x[6]+0.25*x[2]-1.25*x[4], x[5]+0.25*x[1]-1.25*x[3]
	even3, odd3 := x[6]+4*x[2]-5*x[4], x[5]+4*x[1]-5*x[3]
	return [Patch]float32{
		x[0] - x[6] + 5.25*(x[4]-x[2]),
		even1 + odd1, even1 - odd1,
		even2 + 2*odd2, even2 - 2*odd2,
		even3 + 0.5*odd3, even3 - 0.5*odd3,
		x[7] - x[1] + 5.25*(x[3]-x[5]),
	}
}

// evaluate returns Aᵀm: the outputs of what stands at the points.
func evaluate(m *[Patch]float32) [Tile]float32 {
	s1, d1 := m[1]+m[2], m[1]-m[2]
	s2, d2 := m[3]+m[4], m[3]-m[4]
	s3, d3 := m[5]+m[6], m[5]-m[6]
	return [Tile]float32{
		m[0] + s1 + s2 + s3,
		d1 + 2*d2 + 0.5*d3,
		s1 + 4*s2 + 0.25*s3,
		d1 + 8*d2 + 0.125*d3,
		s1 + 16*s2 + 0.0625*s3,
		m[7] + d1 + 32*d2 + 0.03125*d3,
	}
}

func input(v []float32, point int, rows *[Patch][]float32, x, pixel, channels int, _ *Scratch) {
	for c := range channels {
		var half [Patch][Patch]float32
		for y := range Patch {
			var d [Patch]float32
			row := rows[y][x+c:]
			for k := range Patch {
				d[k] = row[k*pixel]
			}
			d = interpolate(&d)
			for k := range Patch {
				half[k][y] = d[k]
			}
		}
		for k := range Patch {
			d := interpolate(&half[k])
			for l := range Patch {
				v[(l*Patch+k)*point+c] = d[l]
			}
		}
	}
}

func multiply(m []float32, mTile int, v []float32, vTile int, u []float32, uRow, tiles, in, out int) {
	for o := 0; o < out; o += Block {
		for t := range tiles {
			var sum [Block]float32
			for i, a := range v[t*vTile:][:in] {
				w := (*[Block]float32)(u[i*uRow+o:])
				for k := range sum {
					sum[k] += a * w[k]
				}
			}
			copy(m[t*mTile+o:], sum[:])
		}
	}
}

// outputs calls end with every output of a tile: of channel c, row y and column x.
func outputs(m []float32, point, rows, channels int, end func(c, y, x int, value float32)) {
	for c := range channels {
		var half [Tile][Patch]float32
		for k := range Patch {
			var d [Patch]float32
			for l := range Patch {
				d[l] = m[(l*Patch+k)*point+c]
			}
			for y, value := range evaluate(&d) {
				half[y][k] = value
			}
		}
		for y := range rows {
			for x, value := range evaluate(&half[y]) {
				end(c, y, x, value)
			}
		}
	}
}

func activate(dst []float32, row, pixel int, m []float32, point int, bias []float32, slope float32, rows, channels int, _ *Scratch) {
	outputs(m, point, rows, channels, func(c, y, x int, value float32) {
		value += bias[c]
		if value < 0 {
			value *= slope
		}
		dst[y*row+x*pixel+c] = value
	})
}

func update(dst []float32, row, pixel int, src []float32, srcRow, srcPixel int, m []float32, point int, scale float32, rows, channels int, _ *Scratch) {
	outputs(m, point, rows, channels, func(c, y, x int, value float32) {
		dst[y*row+x*pixel+c] = src[y*srcRow+x*srcPixel+c] + scale*value
	})
}

func project(dst []float32, row, pixel int, radius []float32, radiusRow, size, rows, channels int) {
	for y := range rows {
		for x := range Tile {
			lane := 0
			if ProjectsMaps(size) {
				lane = radiusLane[x]
			}
			for c := 0; c < channels; c += size {
				projectGroup(dst[y*row+x*pixel+c:][:size], radius[y*radiusRow+c+lane])
			}
		}
	}
}

// projectGroup projects the vector of a group's channels.
func projectGroup(v []float32, radius float32) {
	var squares [Block]float32
	for i, x := range v {
		squares[i] = x * x
	}
	for n := len(v) / 2; n > 0; n /= 2 {
		for i := range n {
			squares[i] = squares[2*i] + squares[2*i+1]
		}
	}
	norm := float32(math.Sqrt(float64(squares[0])))
	// Above 0, so that 0 is projected onto a ball of radius 0.
	scale := radius / max(norm, radius, math.SmallestNonzeroFloat32)
	for i := range v {
		v[i] *= scale
	}
}
