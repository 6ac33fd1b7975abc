// Package vectors has the kernels of operations on whole arrays (backend.Vectors,
// backend.BallProjections, and the gradient of an activation): linear combinations,
// clipping, projections of groups of planes, and sums in float64. Each is a portable loop
// and assembly for AVX2, for AVX-512 and for NEON.
//
// All instruction sets give the same bits. The portable loops round every product before
// they add it, also where the processor could fuse the two; the assembly uses
// separate multiplications and additions in the same order; sums have SumLanes
// lanes at every one. Only which NaN a NaN is may differ.
//
// Slices of one call are as long as the first; those that are written may be those
// that are read, but must not overlap them in part.
package vectors

//go:generate go -C ../../_asm run ./vectors -pkg vectors -out ../internal/vectors/kernels_amd64.s -stubs ../internal/vectors/kernels_amd64.go
//go:generate go -C ../../_asm run ./neon/vectors -out ../internal/vectors

// MaxTerms is the largest number of terms of Combine, and of columns of the matrix
// of Mix.
const MaxTerms = 4

// SumLanes is how many lanes a sum has.
const SumLanes = 16

// Sums is a sum over elements in float64: element i is added to lane i mod
// SumLanes. Sixteen additions under way at a time hide the latency of one in every
// instruction set, and keep up with the caches.
type Sums [SumLanes]float64

// Total adds the lanes up, by pairs of pairs.
func (s *Sums) Total() float64 {
	var t [SumLanes]float64
	copy(t[:], s[:])
	for n := SumLanes / 2; n > 0; n /= 2 {
		for i := range n {
			t[i] = t[2*i] + t[2*i+1]
		}
	}
	return t[0]
}

// Kernels are the kernels of one instruction set. What is nil is portable.
type Kernels struct {
	fill               func(out *float32, n int, v float32)
	combine            [MaxTerms]combineKernel // by the number of terms less one
	mix                [MaxTerms]mixKernel     // by the number of columns less one
	clip               func(out, x *float32, n int, lo, hi float32)
	activationGradient func(dx, out, dy *float32, n int, slope float32)
	sum, squares       sumKernel
	dot, distance      dotKernel

	projectBalls         func(out, in *float32, n, plane, size int, radius float32)
	projectBallsGradient func(out, x, dy *float32, n, plane, size int, radius float32, sums *[SumLanes]float64)

	projectBallsMap         func(out, in, radius *float32, n, plane, size int)
	projectBallsMapGradient func(out, dradius, x, dy, radius *float32, n, plane, size int)
}

// The kernels in assembly. Their pointers are to the first elements of the slices
// that the methods of Kernels take, and n is at least 1.
type (
	combineKernel func(out *float32, x *[MaxTerms]*float32, n int, a *[MaxTerms]float32)
	mixKernel     func(out, in *float32, n, plane, rows int, m *float32)
	sumKernel     func(x *float32, n int, sums *[SumLanes]float64)
	dotKernel     func(x, y *float32, n int, sums *[SumLanes]float64)
)

// Portable are the loops in Go.
var Portable = &Kernels{}

// The kernels for AVX2 and FMA, for AVX-512 F, and for NEON; nil where this build does not
// have them.
var AVX2, AVX512, NEON *Kernels

// Fill sets every element to v.
func (k *Kernels) Fill(out []float32, v float32) {
	if k.fill == nil || len(out) == 0 {
		fillPortable(out, v)
		return
	}
	k.fill(&out[0], len(out), v)
}

// Combine sets out to a[0]·x[0] + a[1]·x[1] + …, over as many terms as a has, one
// to MaxTerms, added from the left.
func (k *Kernels) Combine(out []float32, a []float32, x *[MaxTerms][]float32) {
	n := len(out)
	if n == 0 {
		return
	}
	kernel := k.combine[len(a)-1]
	if kernel == nil {
		combinePortable(out, a, x)
		return
	}
	var coefficients [MaxTerms]float32
	copy(coefficients[:], a)
	var first [MaxTerms]*float32
	for t := range a {
		first[t] = &x[t][:n][0]
	}
	kernel(&out[0], &first, n, &coefficients)
}

// Mix sets n elements of every output channel i to m[i·columns]·in₀ +
// m[i·columns+1]·in₁ + …, added from the left; columns is 1 to MaxTerms, and m has at
// least one row. Channels are plane elements apart, in out and in in, which begin at
// the first element of the first channel; out may be in.
func (k *Kernels) Mix(out, in []float32, n, plane int, m []float32, columns int) {
	rows := len(m) / columns
	if n == 0 || rows == 0 {
		return
	}
	out, in = out[:(rows-1)*plane+n], in[:(columns-1)*plane+n]
	kernel := k.mix[columns-1]
	if kernel == nil {
		mixPortable(out, in, n, plane, m, columns)
		return
	}
	kernel(&out[0], &in[0], n, plane, rows, &m[0])
}

// Clip sets out to x brought into [lo, hi]. NaN stays NaN.
func (k *Kernels) Clip(out, x []float32, lo, hi float32) {
	n := len(out)
	x = x[:n]
	if k.clip == nil || n == 0 {
		clipPortable(out, x, lo, hi)
		return
	}
	k.clip(&out[0], &x[0], n, lo, hi)
}

// ActivationGradient sets dx to dy, times slope where out ≤ 0.
func (k *Kernels) ActivationGradient(dx, out, dy []float32, slope float32) {
	n := len(dx)
	out, dy = out[:n], dy[:n]
	if k.activationGradient == nil || n == 0 {
		activationGradientPortable(dx, out, dy, slope)
		return
	}
	k.activationGradient(&dx[0], &out[0], &dy[0], n, slope)
}

// Sum adds Σ x to s.
func (k *Kernels) Sum(s *Sums, x []float32) {
	if k.sum == nil || len(x) == 0 {
		sumPortable(s, x)
		return
	}
	k.sum(&x[0], len(x), (*[SumLanes]float64)(s))
}

// Squares adds Σ x² to s.
func (k *Kernels) Squares(s *Sums, x []float32) {
	if k.squares == nil || len(x) == 0 {
		dotPortable(s, x, x)
		return
	}
	k.squares(&x[0], len(x), (*[SumLanes]float64)(s))
}

// Dot adds Σ x·y to s.
func (k *Kernels) Dot(s *Sums, x, y []float32) {
	n := len(x)
	y = y[:n]
	if k.dot == nil || n == 0 {
		dotPortable(s, x, y)
		return
	}
	k.dot(&x[0], &y[0], n, (*[SumLanes]float64)(s))
}

// Distance adds Σ (x − y)² to s.
func (k *Kernels) Distance(s *Sums, x, y []float32) {
	n := len(x)
	y = y[:n]
	if k.distance == nil || n == 0 {
		distancePortable(s, x, y)
		return
	}
	k.distance(&x[0], &y[0], n, (*[SumLanes]float64)(s))
}

// ProjectBalls projects the vectors of n pixels: a vector is made of size numbers that
// are plane elements apart, and out = in·radius/max(‖in‖, radius). The squares are added
// in octaves (see octave).
func (k *Kernels) ProjectBalls(out, in []float32, n, plane, size int, radius float32) {
	if n == 0 {
		return
	}
	most := (size-1)*plane + n
	out, in = out[:most], in[:most]
	if k.projectBalls == nil {
		projectBallsPortable(out, in, n, plane, size, func(int) float32 { return radius })
		return
	}
	k.projectBalls(&out[0], &in[0], n, plane, size, radius)
}

// ProjectBallsGradient is the way back from dy at x: with n = x/‖x‖, out is
// radius/‖x‖·(dy − n⟨n, dy⟩) outside the ball, and there ⟨n, dy⟩ is added to s, whose
// element i is pixel i; elsewhere out is dy.
func (k *Kernels) ProjectBallsGradient(out, x, dy []float32, n, plane, size int, radius float32, s *Sums) {
	if n == 0 {
		return
	}
	most := (size-1)*plane + n
	out, x, dy = out[:most], x[:most], dy[:most]
	if k.projectBallsGradient == nil {
		projectBallsGradientPortable(out, x, dy, n, plane, size, func(int) float32 { return radius },
			func(i int, v float32) { s[i%SumLanes] += float64(v) })
		return
	}
	k.projectBallsGradient(&out[0], &x[0], &dy[0], n, plane, size, radius, (*[SumLanes]float64)(s))
}

// ProjectBallsMap is ProjectBalls with a radius for each pixel.
func (k *Kernels) ProjectBallsMap(out, in, radius []float32, n, plane, size int) {
	if n == 0 {
		return
	}
	most := (size-1)*plane + n
	out, in, radius = out[:most], in[:most], radius[:n]
	if k.projectBallsMap == nil {
		projectBallsPortable(out, in, n, plane, size, func(i int) float32 { return radius[i] })
		return
	}
	k.projectBallsMap(&out[0], &in[0], &radius[0], n, plane, size)
}

// ProjectBallsMapGradient is ProjectBallsGradient with a radius for each pixel, and sets
// dradius to ⟨n, dy⟩ for each, 0 on the sphere and inside it.
func (k *Kernels) ProjectBallsMapGradient(out, dradius, x, dy, radius []float32, n, plane, size int) {
	if n == 0 {
		return
	}
	most := (size-1)*plane + n
	out, x, dy = out[:most], x[:most], dy[:most]
	dradius, radius = dradius[:n], radius[:n]
	if k.projectBallsMapGradient == nil {
		projectBallsGradientPortable(out, x, dy, n, plane, size, func(i int) float32 { return radius[i] },
			func(i int, v float32) { dradius[i] = v })
		return
	}
	k.projectBallsMapGradient(&out[0], &dradius[0], &x[0], &dy[0], &radius[0], n, plane, size)
}
