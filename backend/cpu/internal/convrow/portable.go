package convrow

// portableColumns is how many sums the portable loop has under way: as many as stay
// in the L1 cache with the samples of eight taps.
const portableColumns = 4 * Columns

// blockPortable sets the columns of one channel. Eight taps at a time are added to
// the sums before these are stored.
func blockPortable(dst, src []float32, offsets []int, weights []float32, bias float32, e *Ending) {
	var memory [portableColumns]float32
	sums := memory[:len(dst)]
	weights = weights[:len(offsets)]
	row := func(k int) []float32 { return src[offsets[k]/4:][:len(sums)] }
	k := 0
	for ; k+8 <= len(offsets); k += 8 {
		a, b, c, d := row(k), row(k+1), row(k+2), row(k+3)
		e, f, g, h := row(k+4), row(k+5), row(k+6), row(k+7)
		w := *(*[8]float32)(weights[k:])
		w0, w1, w2, w3, w4, w5, w6, w7 := w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
		for x, s := range sums {
			s += w0 * a[x]
			s += w1 * b[x]
			s += w2 * c[x]
			s += w3 * d[x]
			s += w4 * e[x]
			s += w5 * f[x]
			s += w6 * g[x]
			s += w7 * h[x]
			sums[x] = s
		}
	}
	for ; k+2 <= len(offsets); k += 2 {
		a, b, w0, w1 := row(k), row(k+1), weights[k], weights[k+1]
		for x, s := range sums {
			s += w0 * a[x]
			s += w1 * b[x]
			sums[x] = s
		}
	}
	if k < len(offsets) {
		a, w := row(k), weights[k]
		for x := range sums {
			sums[x] += w * a[x]
		}
	}
	rectified := e.Slope != 1
	for x, v := range sums {
		v += bias
		if rectified {
			v = max(v, e.Slope*v) // a branch on the sign would often be mispredicted
		}
		v *= e.Scale
		if e.Beta != 0 {
			v += float32(e.Beta * dst[x])
		}
		dst[x] = v
	}
}
