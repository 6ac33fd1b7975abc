//go:build !noasm

package winograd

func init() { AVX2, AVX512 = &avx2, &avx512 }

var (
	squaresAVX2   = squares{nil, 8, packAVX2, unpackAVX2, unpackAddAVX2}
	squaresAVX512 = squares{&squaresAVX2, 16, packAVX512, unpackAVX512, unpackAddAVX512}
)

var avx2 = Kernels{
	Input: func(v []float32, point int, rows *[Patch][]float32, x, pixel, channels int, scratch *Scratch) {
		inputAVX2(&v[0], point, rows, x, pixel, channels, scratch)
	},
	Multiply: func(m []float32, mTile int, v []float32, vTile int, u []float32, uRow, tiles, in, out int) {
		multiplyAVX2(&m[0], mTile, &v[0], vTile, &u[0], uRow, tiles, in, out)
	},
	Activate: func(dst []float32, row, pixel int, m []float32, point int, bias []float32, slope float32, rows, channels int, scratch *Scratch) {
		activateAVX2(&dst[0], row, pixel, &m[0], point, &bias[0], slope, rows, channels, scratch)
	},
	Update: func(dst []float32, row, pixel int, src []float32, srcRow, srcPixel int, m []float32, point int, scale float32, rows, channels int, scratch *Scratch) {
		updateAVX2(&dst[0], row, pixel, &src[0], srcRow, srcPixel, &m[0], point, scale, rows, channels, scratch)
	},
	Project:  projections{project4AVX2, project8AVX2, project16AVX2}.project,
	Pack:     squaresAVX2.packAll,
	Unpack:   squaresAVX2.unpackAll,
	Prefetch: prefetchAll,
	Spread: func(v []float32, point int, src []float32, row, pixel, channels int, scratch *Scratch) {
		spreadAVX2(&v[0], point, &src[0], row, pixel, channels, scratch)
	},
	Correlate: func(u []float32, uRow int, v []float32, vTile int, p []float32, pTile, tiles, in, out int, add bool) {
		correlateAVX2(&u[0], uRow, &v[0], vTile, &p[0], pTile, tiles, in, out, flag(add))
	},
	Expand: func(u []float32, point int, taps []float32, channels int, scratch *Scratch) {
		expandAVX2(&u[0], point, &taps[0], channels, scratch)
	},
	Contract: func(taps []float32, parts [][]float32, at, point, channels int, scratch *Scratch) {
		contractAVX2(&taps[0], &parts[0], len(parts), at, point, channels, scratch)
	},
}

var avx512 = Kernels{
	Input: func(v []float32, point int, rows *[Patch][]float32, x, pixel, channels int, scratch *Scratch) {
		inputAVX512(&v[0], point, rows, x, pixel, channels, scratch)
	},
	Multiply: func(m []float32, mTile int, v []float32, vTile int, u []float32, uRow, tiles, in, out int) {
		multiplyAVX512(&m[0], mTile, &v[0], vTile, &u[0], uRow, tiles, in, out)
	},
	Activate: func(dst []float32, row, pixel int, m []float32, point int, bias []float32, slope float32, rows, channels int, scratch *Scratch) {
		activateAVX512(&dst[0], row, pixel, &m[0], point, &bias[0], slope, rows, channels, scratch)
	},
	Update: func(dst []float32, row, pixel int, src []float32, srcRow, srcPixel int, m []float32, point int, scale float32, rows, channels int, scratch *Scratch) {
		updateAVX512(&dst[0], row, pixel, &src[0], srcRow, srcPixel, &m[0], point, scale, rows, channels, scratch)
	},
	Project:  projections{project4AVX512, project8AVX512, project16AVX512}.project,
	Pack:     squaresAVX512.packAll,
	Unpack:   squaresAVX512.unpackAll,
	Prefetch: prefetchAll,
	Spread: func(v []float32, point int, src []float32, row, pixel, channels int, scratch *Scratch) {
		spreadAVX512(&v[0], point, &src[0], row, pixel, channels, scratch)
	},
	Correlate: func(u []float32, uRow int, v []float32, vTile int, p []float32, pTile, tiles, in, out int, add bool) {
		correlateAVX512(&u[0], uRow, &v[0], vTile, &p[0], pTile, tiles, in, out, flag(add))
	},
	Expand: func(u []float32, point int, taps []float32, channels int, scratch *Scratch) {
		expandAVX512(&u[0], point, &taps[0], channels, scratch)
	},
	Contract: func(taps []float32, parts [][]float32, at, point, channels int, scratch *Scratch) {
		contractAVX512(&taps[0], &parts[0], len(parts), at, point, channels, scratch)
	},
}

// prefetchAll asks for all cache lines of x but, at most, the last.
func prefetchAll(x []float32) {
	const line = 64 / 4
	if len(x) >= line {
		prefetch(&x[0], len(x)/line)
	}
}
