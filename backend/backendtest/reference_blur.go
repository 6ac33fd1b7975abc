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

// tap is a row, or a column, of a kernel and the one of the image that it is put on.
type tap struct{ weight, sample int }

// tapsOf lists the taps of each of count rows of a result, or of its columns: of a kernel of weights rows with the
// given centre, on an image of samples rows.
func tapsOf(count, weights, centre, samples int, b backend.Boundary) [][]tap {
	if b == backend.Valid {
		centre = weights - 1
	}
	taps := make([][]tap, count)
	for p := range taps {
		for i := range weights {
			if v, ok := continued(p+centre-i, samples, b); ok {
				taps[p] = append(taps[p], tap{i, v})
			}
		}
	}
	return taps
}

// referenceBlur sets dst = K·src.
func referenceBlur(dst, src tensor, s backend.BlurSpec) { blurPlanes(dst, src, s, false) }

// referenceBlurAdjoint sets dst = Kᵀ·src.
func referenceBlurAdjoint(dst, src tensor, s backend.BlurSpec) { blurPlanes(dst, src, s, true) }

// blurPlanes blurs all planes by each kernel in its windows. It is out of the race detector's sight like the loops of
// convolutions.
//
//go:norace
func blurPlanes(dst, src tensor, s backend.BlurSpec, adjoint bool) {
	clear(dst.v)
	h, w := s.Range()
	rows, columns := tapsOf(h, s.KH, s.CY, s.H, s.Boundary), tapsOf(w, s.KW, s.CX, s.W, s.Boundary)
	for n := range max(1, len(s.Rows)*len(s.Columns)) {
		kernel := s.Kernel[n*s.KH*s.KW:]
		for plane := range dst.N * dst.C {
			to, from := dst.v[plane*dst.Plane():], src.v[plane*src.Plane():]
			for y, ofRow := range rows {
				for x, ofColumn := range columns {
					for _, r := range ofRow {
						for _, c := range ofColumn {
							weight := float64(kernel[r.weight*s.KW+c.weight])
							if weight == 0 {
								continue
							}
							if s.Varies() {
								weight *= float64(s.Rows[n/len(s.Columns)][r.sample]) * float64(s.Columns[n%len(s.Columns)][c.sample])
							}
							if adjoint {
								to[r.sample*s.W+c.sample] += weight * from[y*w+x]
							} else {
								to[y*w+x] += weight * from[r.sample*s.W+c.sample]
							}
						}
					}
				}
			}
		}
	}
}
