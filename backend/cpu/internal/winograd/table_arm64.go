//go:build !noasm

package winograd

func init() { NEON = &neon }

var squaresNEON = squares{nil, 8, packNEON, unpackNEON, unpackAddNEON}

var neon = Kernels{
	Input: func(v []float32, point int, rows *[Patch][]float32, x, pixel, channels int, scratch *Scratch) {
		inputNEON(&v[0], point, rows, x, pixel, channels, scratch)
	},
	Multiply: func(m []float32, mTile int, v []float32, vTile int, u []float32, uRow, tiles, in, out int) {
		multiplyNEON(&m[0], mTile, &v[0], vTile, &u[0], uRow, tiles, in, out)
	},
	Activate: func(dst []float32, row, pixel int, m []float32, point int, bias []float32, slope float32, rows, channels int, scratch *Scratch) {
		activateNEON(&dst[0], row, pixel, &m[0], point, &bias[0], slope, rows, channels, scratch)
	},
	Update: func(dst []float32, row, pixel int, src []float32, srcRow, srcPixel int, m []float32, point int, scale float32, rows, channels int, scratch *Scratch) {
		updateNEON(&dst[0], row, pixel, &src[0], srcRow, srcPixel, &m[0], point, scale, rows, channels, scratch)
	},
	Project:  projections{project4NEON, project8NEON, project16NEON}.project,
	Pack:     squaresNEON.packAll,
	Unpack:   squaresNEON.unpackAll,
	Prefetch: func([]float32) {},
	Spread: func(v []float32, point int, src []float32, row, pixel, channels int, scratch *Scratch) {
		spreadNEON(&v[0], point, &src[0], row, pixel, channels, scratch)
	},
	Correlate: func(u []float32, uRow int, v []float32, vTile int, p []float32, pTile, tiles, in, out int, add bool) {
		correlateNEON(&u[0], uRow, &v[0], vTile, &p[0], pTile, tiles, in, out, flag(add))
	},
	Expand: func(u []float32, point int, taps []float32, channels int, scratch *Scratch) {
		expandNEON(&u[0], point, &taps[0], channels, scratch)
	},
	Contract: func(taps []float32, parts [][]float32, at, point, channels int, scratch *Scratch) {
		contractNEON(&taps[0], &parts[0], len(parts), at, point, channels, scratch)
	},
}
