package vectors

// Where Go may fuse a product into the following sum, the product is rounded
// first.

func fillPortable(out []float32, v float32) {
	for i := range out {
		out[i] = v
	}
}

func combinePortable(out, a []float32, x *[MaxTerms][]float32) {
	n := len(out)
	a0, x0 := a[0], x[0][:n]
	switch len(a) {
	case 1:
		for i := range out {
			out[i] = a0 * x0[i]
		}
	case 2:
		a1, x1 := a[1], x[1][:n]
		for i := range out {
			out[i] = float32(a0*x0[i]) + float32(a1*x1[i])
		}
	case 3:
		a1, x1 := a[1], x[1][:n]
		a2, x2 := a[2], x[2][:n]
		for i := range out {
			out[i] = float32(a0*x0[i]) + float32(a1*x1[i]) + float32(a2*x2[i])
		}
	default:
		a1, x1 := a[1], x[1][:n]
		a2, x2 := a[2], x[2][:n]
		a3, x3 := a[3], x[3][:n]
		for i := range out {
			out[i] = float32(a0*x0[i]) + float32(a1*x1[i]) + float32(a2*x2[i]) + float32(a3*x3[i])
		}
	}
}

// mixPortable reads a few elements of every input before it writes an output, which
// may be the same memory.
func mixPortable(out, in []float32, n, plane int, m []float32, columns int) {
	const width = 64
	var copies [MaxTerms][width]float32
	var x [MaxTerms][]float32
	for lo := 0; lo < n; lo += width {
		size := min(width, n-lo)
		for j := range columns {
			x[j] = copies[j][:size]
			copy(x[j], in[j*plane+lo:])
		}
		for i := range len(m) / columns {
			combinePortable(out[i*plane+lo:][:size], m[i*columns:][:columns], &x)
		}
	}
}

func clipPortable(out, x []float32, lo, hi float32) {
	x = x[:len(out)]
	for i, v := range x {
		w := min(max(v, lo), hi) // NaN for NaN, and no branch
		if v == 0 && w == 0 {
			w = v // not the zero of the other sign
		}
		out[i] = w
	}
}

func activationGradientPortable(dx, out, dy []float32, slope float32) {
	n := len(dx)
	out, dy = out[:n], dy[:n]
	factors := [2]float32{1, slope}
	for i, v := range dy {
		k := 0 // an index, since a branch would often be mispredicted
		if out[i] <= 0 {
			k = 1
		}
		dx[i] = v * factors[k]
	}
}

// halfLanes is how many lanes of a sum a portable loop keeps in registers; it goes
// twice over segments that stay in the L1 cache.
const halfLanes, segment = SumLanes / 2, 1 << 10

// inHalves calls add for every segment of n elements and each half of the lanes.
func inHalves(s *Sums, n int, add func(s *[halfLanes]float64, from, to int)) {
	for lo := 0; lo < n; lo += segment {
		hi := min(lo+segment, n)
		add((*[halfLanes]float64)(s[:halfLanes]), lo, hi)
		add((*[halfLanes]float64)(s[halfLanes:]), lo+halfLanes, hi)
	}
}

func sumPortable(s *Sums, x []float32) {
	inHalves(s, len(x), func(s *[halfLanes]float64, i, n int) {
		s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		for ; i+halfLanes <= n; i += SumLanes {
			p := (*[halfLanes]float32)(x[i:])
			s0 += float64(p[0])
			s1 += float64(p[1])
			s2 += float64(p[2])
			s3 += float64(p[3])
			s4 += float64(p[4])
			s5 += float64(p[5])
			s6 += float64(p[6])
			s7 += float64(p[7])
		}
		*s = [halfLanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
		for k := 0; i+k < n; k++ {
			s[k] += float64(x[i+k])
		}
	})
}

func dotPortable(s *Sums, x, y []float32) {
	inHalves(s, len(x), func(s *[halfLanes]float64, i, n int) {
		s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		for ; i+halfLanes <= n; i += SumLanes {
			p, q := (*[halfLanes]float32)(x[i:]), (*[halfLanes]float32)(y[i:])
			s0 += float64(float64(p[0]) * float64(q[0]))
			s1 += float64(float64(p[1]) * float64(q[1]))
			s2 += float64(float64(p[2]) * float64(q[2]))
			s3 += float64(float64(p[3]) * float64(q[3]))
			s4 += float64(float64(p[4]) * float64(q[4]))
			s5 += float64(float64(p[5]) * float64(q[5]))
			s6 += float64(float64(p[6]) * float64(q[6]))
			s7 += float64(float64(p[7]) * float64(q[7]))
		}
		*s = [halfLanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
		for k := 0; i+k < n; k++ {
			s[k] += float64(float64(x[i+k]) * float64(y[i+k]))
		}
	})
}

func distancePortable(s *Sums, x, y []float32) {
	inHalves(s, len(x), func(s *[halfLanes]float64, i, n int) {
		s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		for ; i+halfLanes <= n; i += SumLanes {
			p, q := (*[halfLanes]float32)(x[i:]), (*[halfLanes]float32)(y[i:])
			s0 += squareOfDifference(p[0], q[0])
			s1 += squareOfDifference(p[1], q[1])
			s2 += squareOfDifference(p[2], q[2])
			s3 += squareOfDifference(p[3], q[3])
			s4 += squareOfDifference(p[4], q[4])
			s5 += squareOfDifference(p[5], q[5])
			s6 += squareOfDifference(p[6], q[6])
			s7 += squareOfDifference(p[7], q[7])
		}
		*s = [halfLanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
		for k := 0; i+k < n; k++ {
			s[k] += squareOfDifference(x[i+k], y[i+k])
		}
	})
}

func squareOfDifference(x, y float32) float64 {
	t := float64(x) - float64(y)
	return float64(t * t)
}
