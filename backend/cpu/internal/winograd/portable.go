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

// interpolate sets x to Bᵀx: what a row or column of a patch gives at the points.
// Even and odd parts are shared by a point and its negative.
func interpolate(x *[Patch]float32) {
	even1, odd1 := x[2]+x[6]-4.25*x[4], x[1]+x[5]-4.25*x[3]
	even2, odd2 := x[6]+0.25*x[2]-1.25*x[4], x[5]+0.25*x[1]-1.25*x[3]
	even3, odd3 := x[6]+4*x[2]-5*x[4], x[5]+4*x[1]-5*x[3]
	x[0] = x[0] - x[6] + 5.25*(x[4]-x[2])
	x[7] = x[7] - x[1] + 5.25*(x[3]-x[5])
	x[1], x[2] = even1+odd1, even1-odd1
	x[3], x[4] = even2+2*odd2, even2-2*odd2
	x[5], x[6] = even3+0.5*odd3, even3-0.5*odd3
}

// evaluate sets r to Aᵀm: the outputs of what stands at the points.
func evaluate(r *[Tile]float32, m *[Patch]float32) {
	s1, d1 := m[1]+m[2], m[1]-m[2]
	s2, d2 := m[3]+m[4], m[3]-m[4]
	s3, d3 := m[5]+m[6], m[5]-m[6]
	r[0] = m[0] + s1 + s2 + s3
	r[1] = d1 + 2*d2 + 0.5*d3
	r[2] = s1 + 4*s2 + 0.25*s3
	r[3] = d1 + 8*d2 + 0.125*d3
	r[4] = s1 + 16*s2 + 0.0625*s3
	r[5] = m[7] + d1 + 32*d2 + 0.03125*d3
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
			interpolate(&d)
			for k := range Patch {
				half[k][y] = d[k]
			}
		}
		for k := range Patch {
			d := &half[k]
			interpolate(d)
			for l := range Patch {
				v[(l*Patch+k)*point+c] = d[l]
			}
		}
	}
}

// multiply keeps half a block of sums in variables of their own: WebAssembly, whose loops cost more
// than what is in them here, is some times as fast with them, and so are registers.
func multiply(m []float32, mTile int, v []float32, vTile int, u []float32, uRow, tiles, in, out int) {
	const half = Block / 2
	for o := 0; o < out; o += half {
		for t := range tiles {
			var s0, s1, s2, s3, s4, s5, s6, s7 float32
			at := o
			for _, a := range v[t*vTile:][:in] {
				w := (*[half]float32)(u[at:])
				s0 += a * w[0]
				s1 += a * w[1]
				s2 += a * w[2]
				s3 += a * w[3]
				s4 += a * w[4]
				s5 += a * w[5]
				s6 += a * w[6]
				s7 += a * w[7]
				at += uRow
			}
			*(*[half]float32)(m[t*mTile+o:]) = [half]float32{s0, s1, s2, s3, s4, s5, s6, s7}
		}
	}
}

// outputs calls end with every row of outputs of a tile: of channel c and row y.
func outputs(m []float32, point, rows, channels int, end func(c, y int, values *[Tile]float32)) {
	var values [Tile]float32
	for c := range channels {
		var half [Tile][Patch]float32
		for k := range Patch {
			var d [Patch]float32
			for l := range Patch {
				d[l] = m[(l*Patch+k)*point+c]
			}
			evaluate(&values, &d)
			for y, value := range values {
				half[y][k] = value
			}
		}
		for y := range rows {
			evaluate(&values, &half[y])
			end(c, y, &values)
		}
	}
}

func activate(dst []float32, row, pixel int, m []float32, point int, bias []float32, slope float32, rows, channels int, _ *Scratch) {
	outputs(m, point, rows, channels, func(c, y int, values *[Tile]float32) {
		for x, value := range values {
			value += bias[c]
			if value < 0 {
				value *= slope
			}
			dst[y*row+x*pixel+c] = value
		}
	})
}

func update(dst []float32, row, pixel int, src []float32, srcRow, srcPixel int, m []float32, point int, scale float32, rows, channels int, _ *Scratch) {
	outputs(m, point, rows, channels, func(c, y int, values *[Tile]float32) {
		for x, value := range values {
			dst[y*row+x*pixel+c] = src[y*srcRow+x*srcPixel+c] + scale*value
		}
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
