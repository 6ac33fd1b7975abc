package tvrow

import "math"

// Where Go may fuse a product into the following sum, the product is rounded
// first.

func primalPortable(above, down, right, u, y, ubar []float32, s *Step) {
	n := len(u)
	ubar, y, above, down, right = ubar[:n], y[:n], above[:n], down[:n], right[:n]
	primal, extrapolation := s.primal(), s.extrapolation()
	left := float32(0)
	for j := range n {
		q := right[j]
		r := y[j] + (down[j] - above[j]) + (q - left)
		left = q
		v := u[j]
		v += float32(primal * (r - v))
		u[j] = v
		ubar[j] = v + float32(extrapolation*(r-v))
	}
}

func dualPortable(p, ubar, below, scratch []float32, l Layout, s *Step) {
	w := l.Width
	row := func(k int) []float32 { return p[k*l.Plane:][:w] }
	switch l.Channels {
	case 1:
		dualPortable1(row(0), row(1), ubar, below, s)
	case 2:
		dualPortable2(row(0), row(1), ubar[:w], below[:w], row(2), row(3), ubar[l.Stride:][:w], below[l.Stride:][:w], s)
	default:
		norms := scratch[l.Channels*l.Stride:][:w]
		clear(norms)
		for c := range l.Channels {
			ascend(row(2*c), row(2*c+1), ubar[c*l.Stride:][:w], below[c*l.Stride:][:w], norms, s)
		}
		for j, norm := range norms {
			norms[j] = shrink(norm, s.radius(), math.Float32bits(s.least()))
		}
		for c := range l.Channels {
			scale(row(2*c), norms)
			scale(row(2*c + 1)[:w-1], norms[:w-1])
		}
	}
}

func sweepPortable(p, u, y, ubar, scratch []float32, l Layout, s *Step) {
	w := l.Width
	row := func(k int) []float32 { return p[k*l.Plane:][:w] }
	next := func(k int) []float32 { return p[k*l.Plane+w:][:w] }
	if l.Channels == 1 {
		sweepPortable1(row(0), row(1), next(0), next(1), u, y, ubar, s)
		return
	}
	below := scratch[:(l.Channels-1)*l.Stride+w]
	for c := range l.Channels {
		primalPortable(row(2*c), next(2*c), next(2*c+1), u[c*l.Plane:][:w], y[c*l.Plane:][:w], below[c*l.Stride:][:w], s)
	}
	dualPortable(p, ubar, below, scratch, l, s)
	for c := range l.Channels {
		copy(ubar[c*l.Stride:][:w], below[c*l.Stride:])
	}
}

// sweepPortable1 is primalPortable for row i+1 and dualPortable1 for row i in one
// loop, so that the sums of the one fill the time that the other waits for its
// divisions.
func sweepPortable1(down, right, downNext, rightNext, u, y, ubar []float32, s *Step) {
	n := len(u) - 1
	down, right, downNext, rightNext = down[:n+1], right[:n+1], downNext[:n+1], rightNext[:n+1]
	y, ubar = y[:n+1], ubar[:n+1]
	primal, extrapolation, dual := s.primal(), s.extrapolation(), s.dual()
	radius, least := s.radius(), math.Float32bits(s.least())
	x, left := ubar[0], float32(0)
	for j := range n {
		a, q := down[j], rightNext[j]
		r := y[j] + (downNext[j] - a) + (q - left)
		left = q
		v := u[j]
		v += float32(primal * (r - v))
		u[j] = v
		below, next := v+float32(extrapolation*(r-v)), ubar[j+1]
		ubar[j] = below
		a += float32(dual * (below - x))
		b := right[j] + float32(dual*(next-x))
		x = next
		f := shrink(float32(a*a)+float32(b*b), radius, least)
		down[j] = a * f
		right[j] = b * f
	}
	a := down[n]
	r := y[n] + (downNext[n] - a) + (rightNext[n] - left)
	v := u[n]
	v += float32(primal * (r - v))
	u[n] = v
	below := v + float32(extrapolation*(r-v))
	ubar[n] = below
	a += float32(dual * (below - x))
	down[n] = a * shrink(a*a, radius, least)
}

// dualPortable1 is dualPortable for one channel.
func dualPortable1(down, right, ubar, below []float32, s *Step) {
	n := len(down) - 1
	right, ubar, below = right[:n+1], ubar[:n+1], below[:n+1]
	dual, radius, least := s.dual(), s.radius(), math.Float32bits(s.least())
	x := ubar[0]
	for j := range n {
		next := ubar[j+1]
		a := down[j] + float32(dual*(below[j]-x))
		b := right[j] + float32(dual*(next-x))
		x = next
		f := shrink(float32(a*a)+float32(b*b), radius, least)
		down[j] = a * f
		right[j] = b * f
	}
	a := down[n] + float32(dual*(below[n]-x))
	down[n] = a * shrink(a*a, radius, least)
}

// dualPortable2 is dualPortable for two coupled channels.
func dualPortable2(down0, right0, ubar0, below0, down1, right1, ubar1, below1 []float32, s *Step) {
	n := len(down0) - 1
	right0, ubar0, below0 = right0[:n+1], ubar0[:n+1], below0[:n+1]
	down1, right1, ubar1, below1 = down1[:n+1], right1[:n+1], ubar1[:n+1], below1[:n+1]
	dual, radius, least := s.dual(), s.radius(), math.Float32bits(s.least())
	x0, x1 := ubar0[0], ubar1[0]
	for j := range n {
		next0, next1 := ubar0[j+1], ubar1[j+1]
		a0 := down0[j] + float32(dual*(below0[j]-x0))
		b0 := right0[j] + float32(dual*(next0-x0))
		a1 := down1[j] + float32(dual*(below1[j]-x1))
		b1 := right1[j] + float32(dual*(next1-x1))
		x0, x1 = next0, next1
		f := shrink(float32(a0*a0)+float32(b0*b0)+(float32(a1*a1)+float32(b1*b1)), radius, least)
		down0[j] = a0 * f
		right0[j] = b0 * f
		down1[j] = a1 * f
		right1[j] = b1 * f
	}
	a0 := down0[n] + float32(dual*(below0[n]-x0))
	a1 := down1[n] + float32(dual*(below1[n]-x1))
	f := shrink(float32(a0*a0)+float32(a1*a1), radius, least)
	down0[n] = a0 * f
	down1[n] = a1 * f
}

// ascend sets p to p + dual·∇ū and adds its squares to norms, which is the first
// part of dualPortable for any number of coupled channels.
func ascend(down, right, ubar, below, norms []float32, s *Step) {
	n := len(down) - 1
	right, ubar, below, norms = right[:n+1], ubar[:n+1], below[:n+1], norms[:n+1]
	dual := s.dual()
	x := ubar[0]
	for j := range n {
		next := ubar[j+1]
		a := down[j] + float32(dual*(below[j]-x))
		b := right[j] + float32(dual*(next-x))
		x = next
		down[j], right[j] = a, b
		norms[j] += float32(a*a) + float32(b*b)
	}
	a := down[n] + float32(dual*(below[n]-x))
	down[n] = a
	norms[n] += float32(a * a)
}

// scale multiplies a row by factors.
func scale(row, factors []float32) {
	factors = factors[:len(row)]
	for j, f := range factors {
		row[j] *= f
	}
}

// shrink returns the factor that brings a vector with the squared norm s into the
// ball of the radius whose square has the bits of least, radius/√max(s, radius²).
// It has no branch, because that would be mispredicted at every edge of an image,
// which costs more than the division. The maximum is taken of the bits, which are
// ordered as the floats are that are not negative, NaN last.
func shrink(s, radius float32, least uint32) float32 {
	m := math.Float32frombits(max(math.Float32bits(s), least))
	return radius / float32(math.Sqrt(float64(m)))
}

// Column gathers over the channels of one pixel what the duality gap needs.
type Column struct {
	fidelity, residual float64 // ‖u − y‖², ‖u − (y − ∇ᵀp)‖²
	gradient, dual     float64 // ‖∇u‖², ‖p‖²
	product            float64 // ⟨∇u, p⟩
}

func evaluatePortable(sums *Sums, above []float32, distance int, p, u, below, y []float32, columns []Column, l Layout, inverse float64) {
	clear(columns)
	w := l.Width
	for c := range l.Channels {
		gather(columns, above[c*distance:][:w], p[2*c*l.Plane:][:w], p[(2*c+1)*l.Plane:][:w], u[c*l.Plane:][:w], below[c*l.Plane:][:w], y[c*l.Plane:][:w])
	}
	for j := range columns {
		s, lane := &columns[j], j%8
		sums[0][lane] += s.fidelity
		sums[1][lane] += math.Sqrt(s.gradient)
		sums[2][lane] += s.residual
		sums[3][lane] += float64(s.product * feasible(s.dual*inverse))
	}
}

// gather adds a row of one channel to its columns, all in float64.
func gather(columns []Column, above, down, right, u, below, y []float32) {
	n := len(columns)
	above, down, right, u, below, y = above[:n], down[:n], right[:n], u[:n], below[:n], y[:n]
	left, x := 0.0, float64(u[0])
	for j := range columns {
		a, b, z := float64(down[j]), float64(right[j]), float64(y[j])
		r := z + a + (b - left) - float64(above[j])
		left = b
		e, f := x-z, x-r
		g, h := float64(below[j])-x, 0.0
		if j+1 < n {
			next := float64(u[j+1])
			h, x = next-x, next
		}
		s := &columns[j]
		s.fidelity += float64(e * e)
		s.residual += float64(f * f)
		s.gradient += float64(g*g) + float64(h*h)
		s.dual += float64(a*a) + float64(b*b)
		s.product += float64(g*a) + float64(h*b)
	}
}

// feasible returns a factor that brings a dual vector with d = ‖p‖²/α² into its
// ball: 1/√d for d > 1, and where d exceeds 1 by rounding alone 1 − (d−1)/2, which
// is smaller by (d−1)²·3/8 and takes no square root. No branch in it depends on
// how a p on the surface of its ball was rounded.
func feasible(d float64) float64 {
	// The bits of negative numbers are negative integers.
	t := math.Float64frombits(uint64(max(0, int64(math.Float64bits(d-1)))))
	if t > 1e-5 {
		return 1 / math.Sqrt(d)
	}
	return 1 - t/2
}
