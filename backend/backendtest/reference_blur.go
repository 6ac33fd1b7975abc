package backendtest

import "github.com/averaged/imaging/backend"

// continued returns the sample of a row of n samples that stands at position i of
// its continuation, or false where that is zero.
func continued(i, n int, b backend.Boundary) (int, bool) {
	switch b {
	case backend.Circular:
		return ((i % n) + n) % n, true
	case backend.Reflect:
		i = ((i % (2 * n)) + 2*n) % (2 * n)
		if i >= n {
			i = 2*n - 1 - i
		}
		return i, true
	default:
		return i, i >= 0 && i < n
	}
}

// blurTaps calls f for every weight that is not zero and every sample it
// multiplies: sample (y, x) of the result takes weight·image[v, u].
func blurTaps(s backend.BlurSpec, f func(y, x, v, u int, weight float64)) {
	if !s.Varies() {
		kernelTaps(s, f)
		return
	}
	n := s.KH * s.KW
	for i := range len(s.Rows) * len(s.Columns) {
		rows, columns := s.Rows[i/len(s.Columns)], s.Columns[i%len(s.Columns)]
		one := s
		one.Kernel = s.Kernel[i*n : (i+1)*n]
		kernelTaps(one, func(y, x, v, u int, weight float64) {
			f(y, x, v, u, weight*float64(rows[v])*float64(columns[u]))
		})
	}
}

// kernelTaps is blurTaps for one kernel. It is out of the race detector's sight like the loops of convolutions.
//
//go:norace
func kernelTaps(s backend.BlurSpec, f func(y, x, v, u int, weight float64)) {
	h, w := s.Range()
	top, left := 0, 0
	if s.Boundary == backend.Valid {
		top, left = s.KH-1-s.CY, s.KW-1-s.CX
	}
	for y := range h {
		for x := range w {
			for i := range s.KH {
				v, ok := continued(y+top+s.CY-i, s.H, s.Boundary)
				if !ok {
					continue
				}
				for j := range s.KW {
					u, ok := continued(x+left+s.CX-j, s.W, s.Boundary)
					if k := s.Kernel[i*s.KW+j]; ok && k != 0 {
						f(y, x, v, u, float64(k))
					}
				}
			}
		}
	}
}

// referenceBlur sets dst = K·src.
func referenceBlur(dst, src tensor, s backend.BlurSpec) {
	clear(dst.v)
	blurTaps(s, func(y, x, v, u int, weight float64) { addPixel(dst, y, x, weight, src, v, u) })
}

// referenceBlurAdjoint sets dst = Kᵀ·src.
func referenceBlurAdjoint(dst, src tensor, s backend.BlurSpec) {
	clear(dst.v)
	blurTaps(s, func(y, x, v, u int, weight float64) { addPixel(dst, v, u, weight, src, y, x) })
}

// addPixel adds weight times pixel (v, u) of src to pixel (y, x) of dst, in all planes.
//
//go:norace
func addPixel(dst tensor, y, x int, weight float64, src tensor, v, u int) {
	for n := range src.N {
		for c := range src.C {
			dst.v[dst.index(n, c, y, x)] += weight * src.at(n, c, v, u)
		}
	}
}
