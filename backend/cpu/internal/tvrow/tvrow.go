// Package tvrow has the row kernels of total variation (backend.TotalVariation):
// the primal and the dual half of a step, both halves fused, and the sums of the
// duality gap. Each is a portable loop and, for up to MaxFused coupled channels,
// assembly for AVX2, for AVX-512 and for NEON.
//
// All instruction sets give the same bits. The portable loops round every product before
// they add it, also where the processor could fuse the two; the assembly uses
// separate multiplications and additions in the same order, and the correctly
// rounded square root and quotient; sums over a row have eight lanes at
// every one. Only which NaN a NaN is may differ.
package tvrow

//go:generate go -C ../../_asm run ./tvrow -pkg tvrow -out ../internal/tvrow/kernels_amd64.s -stubs ../internal/tvrow/kernels_amd64.go
//go:generate go -C ../../_asm run ./neon/tvrow -out ../internal/tvrow

// MaxFused is the largest number of coupled channels that the assembly takes; the
// portable loops take any.
const MaxFused = 3

// Layout says where the rows of coupled channels are. Slices that hold a row of
// several channels begin at the first channel's row.
type Layout struct {
	Channels int // at least 1
	Width    int // columns, at least 1
	Plane    int // distance of the planes of u, y and p, at least Width
	Stride   int // distance of the channels in a row of ū, at least Width
}

// Scratch returns how many floats of scratch memory Dual and Sweep want.
func (l Layout) Scratch() int { return l.Channels*l.Stride + l.Width }

// Step holds the numbers of a step.
type Step struct {
	// The fields of backend.TVStep, the radius of the balls, and its square.
	numbers [5]float32
}

// NewStep returns the step with the fields of a backend.TVStep on balls of the
// given radius, which is at least 0.
func NewStep(primal, extrapolation, dual, radius float32) Step {
	// So large a radius that no dual variable of float32 images reaches it is
	// replaced by one whose square is finite; and the square is replaced by a tiny
	// positive number where it is 0, so that no 0/0 comes up.
	radius = min(radius, 1e18)
	return Step{[5]float32{primal, extrapolation, dual, radius, max(radius*radius, 1e-36)}}
}

func (s *Step) primal() float32        { return s.numbers[0] }
func (s *Step) extrapolation() float32 { return s.numbers[1] }
func (s *Step) dual() float32          { return s.numbers[2] }
func (s *Step) radius() float32        { return s.numbers[3] }
func (s *Step) least() float32         { return s.numbers[4] }

// Sums are the sums over columns of the parts of a duality gap: column j is added
// to lane j mod 8 of each.
type Sums [4][8]float64

// Fidelity returns Σ (u − y)².
func (s *Sums) Fidelity() float64 { return total(&s[0]) }

// Variation returns Σ ‖∇u‖.
func (s *Sums) Variation() float64 { return total(&s[1]) }

// Residual returns Σ (u − (y − ∇ᵀp))².
func (s *Sums) Residual() float64 { return total(&s[2]) }

// Product returns Σ ⟨∇u, p⟩, each p brought into its ball.
func (s *Sums) Product() float64 { return total(&s[3]) }

func total(lanes *[8]float64) float64 {
	return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
}

// Kernels are the kernels of one instruction set. What is nil is portable.
type Kernels struct {
	primal   primalKernel
	dual     [MaxFused]dualKernel // by the number of channels less one
	sweep    [MaxFused]sweepKernel
	evaluate [MaxFused]evaluateKernel
}

// The kernels in assembly. Their pointers are to the first elements of the slices
// that the methods of Kernels take, and width is at least 1.
type (
	primalKernel   func(above, down, right, u, y, ubar *float32, width int, step *[5]float32)
	dualKernel     func(p, ubar, below *float32, width, plane, stride int, step *[5]float32)
	sweepKernel    func(p, u, y, ubar *float32, width, plane, stride int, step *[5]float32)
	evaluateKernel func(above, p, u, below, y *float32, width, plane, distance int, inverse *float64, sums *[4][8]float64)
)

// Portable are the loops in Go.
var Portable = &Kernels{}

// The kernels for AVX2 and FMA, for AVX-512 F, and for NEON; nil where this build does not
// have them.
var AVX2, AVX512, NEON *Kernels

// Primal makes the primal half of a step on a row of one channel:
//
//	r = y − ∇ᵀp = y + down − above + right − (right, one to the left)
//	u ← u + primal·(r − u)
//	ubar = u + extrapolation·(r − u).
//
// down and right are the row's dual variables, above is the row of down one row
// up, zeros for the first. All slices are as long as u.
func (k *Kernels) Primal(above, down, right, u, y, ubar []float32, s *Step) {
	n := len(u)
	above, down, right, y, ubar = above[:n], down[:n], right[:n], y[:n], ubar[:n]
	if k.primal == nil || n == 0 {
		primalPortable(above, down, right, u, y, ubar, s)
		return
	}
	k.primal(&above[0], &down[0], &right[0], &u[0], &y[0], &ubar[0], n, &s.numbers)
}

// Dual makes the dual half of a step on row i, p ← projection of p + dual·∇ū
// onto the balls. p begins at row i of its first plane; plane 2c is the direction
// down of channel c, plane 2c+1 the direction right. ubar and below are the rows i
// and i+1 of ū; for the last row of an image, which has no difference downward,
// below is ubar. The direction right of the last column is left as it is.
func (k *Kernels) Dual(p, ubar, below, scratch []float32, l Layout, s *Step) {
	p = p[:(2*l.Channels-1)*l.Plane+l.Width]
	rows := (l.Channels-1)*l.Stride + l.Width
	ubar, below = ubar[:rows], below[:rows]
	if l.Channels <= MaxFused {
		if kernel := k.dual[l.Channels-1]; kernel != nil {
			kernel(&p[0], &ubar[0], &below[0], l.Width, l.Plane, l.Stride, &s.numbers)
			return
		}
	}
	dualPortable(p, ubar, below, scratch, l, s)
}

// Sweep makes the primal half of a step on row i+1 and then its dual half on row
// i. p begins at row i of its first plane, where row i+1 follows; u and y begin at
// row i+1 of the first channel. ubar holds row i of ū and gets row i+1.
func (k *Kernels) Sweep(p, u, y, ubar, scratch []float32, l Layout, s *Step) {
	p = p[:(2*l.Channels-1)*l.Plane+2*l.Width]
	image := (l.Channels-1)*l.Plane + l.Width
	u, y, ubar = u[:image], y[:image], ubar[:(l.Channels-1)*l.Stride+l.Width]
	if l.Channels <= MaxFused {
		if kernel := k.sweep[l.Channels-1]; kernel != nil {
			kernel(&p[0], &u[0], &y[0], &ubar[0], l.Width, l.Plane, l.Stride, &s.numbers)
			return
		}
	}
	sweepPortable(p, u, y, ubar, scratch, l, s)
}

// Evaluate adds row i's share of the duality gap to sums. p begins at row i of
// its first plane, above at row i−1 of the same and has its channels at the given
// distance; for the first row it is a row of zeros at distance 0. u and y begin at
// row i of the first channel, below at row i+1 of u, or for the last row at row i.
// The balls have the radius alpha. columns is scratch memory for a row.
func (k *Kernels) Evaluate(sums *Sums, above []float32, distance int, p, u, below, y []float32, columns []Column, l Layout, alpha float64) {
	above = above[:(l.Channels-1)*distance+l.Width]
	p = p[:(2*l.Channels-1)*l.Plane+l.Width]
	image := (l.Channels-1)*l.Plane + l.Width
	u, below, y = u[:image], below[:image], y[:image]
	inverse := 1 / max(alpha*alpha, 1e-300)
	if l.Channels <= MaxFused {
		if kernel := k.evaluate[l.Channels-1]; kernel != nil {
			kernel(&above[0], &p[0], &u[0], &below[0], &y[0], l.Width, l.Plane, distance, &inverse, (*[4][8]float64)(sums))
			return
		}
	}
	evaluatePortable(sums, above, distance, p, u, below, y, columns[:l.Width], l, inverse)
}
