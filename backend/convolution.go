package backend

import (
	"context"
	"fmt"
	"math"
)

// Activation is a monotone function with slope in [0, 1], applied to every
// element.
type Activation struct {
	Kind  ActivationKind
	Slope float32 // of LeakyReLU on the negative side, in (0, 1]
}

// ActivationKind names an activation function.
type ActivationKind uint8

const (
	// Identity leaves its argument as it is.
	Identity ActivationKind = iota
	// LeakyReLU is max(x, Slope·x).
	LeakyReLU
)

// Check returns an error that wraps ErrArgument unless the activation is one of
// the kinds above with its slope in range.
func (a Activation) Check() error {
	switch a.Kind {
	case Identity:
		return nil
	case LeakyReLU:
		if a.Slope > 0 && a.Slope <= 1 {
			return nil
		}
	}
	return fmt.Errorf("%w: activation %d with slope %v", ErrArgument, a.Kind, a.Slope)
}

// Filter is a bank of convolution weights that were prepared for a device once: copied, reordered or
// transformed. The convolution is A: In channels → Out channels, of odd height and width, with zero padding
// that keeps the size,
//
//	(Az)[o,y,x] = Σ over (i,r,s) of w[o,i,r,s] · z[i, y+r−KH/2, x+s−KW/2],
//
// the convention and the layout of PyTorch's conv2d.
type Filter interface {
	// Shape is (Out, In, KH, KW).
	Shape() Shape
	// Free gives the memory back; a second Free does nothing.
	Free()
}

// ConvEnd holds the operations after a convolution in the same pass.
type ConvEnd struct {
	Bias       Buffer // one number per output channel, or nil
	Activation Activation
}

// FlowStep is one step of an explicit Runge-Kutta method along −Aᵀσ(Az + b), the gradient flow of averaged
// networks: with k_i = Aᵀσ(AY_i + Bias),
//
//	Y_i = z − Size·Σ_j Tableau.A[i][j]·k_j,   z ← z − Size·Σ_i Tableau.B[i]·k_i.
type FlowStep struct {
	Filter     Filter // A
	Bias       Buffer // b, one number per output channel of A, or nil
	Activation Activation
	// Radius, if not nil, has the radii of a projection onto balls (BallProjections), a vector or a map for
	// the whole image. It replaces the activation, which must be Identity then.
	Radius  Buffer
	Size    float32 // any finite number
	Tableau Tableau
}

// StepFraction returns −size·coefficient, the factor of a stage's Aᵀσ in a sum of a FlowStep, rounded once.
func StepFraction(size float32, coefficient float64) float32 {
	return float32(-float64(size) * coefficient)
}

// Tableau holds the coefficients of an explicit Runge-Kutta method of s stages. The
// zero value is Euler's method, z ← z − Size·Aᵀσ(Az + Bias).
type Tableau struct {
	A [][]float64 // s rows of s numbers, zero on and above the diagonal
	B []float64
}

// Stages returns s.
func (t Tableau) Stages() int { return max(1, len(t.B)) }

// Weight returns B[i].
func (t Tableau) Weight(i int) float64 {
	if len(t.B) == 0 {
		return 1
	}
	return t.B[i]
}

// Check returns an error that wraps ErrArgument or ErrShape unless the tableau is
// explicit and finite.
func (t Tableau) Check() error {
	if len(t.A) != len(t.B) && !(len(t.A) == 0 && len(t.B) == 1) {
		return fmt.Errorf("%w: a tableau of %d and %d stages", ErrShape, len(t.A), len(t.B))
	}
	for i, row := range t.A {
		if len(row) != len(t.B) {
			return fmt.Errorf("%w: row %d of a tableau of %d stages has %d numbers", ErrShape, i, len(t.B), len(row))
		}
		for j, a := range row {
			if j >= i && a != 0 || math.IsNaN(a) || math.IsInf(a, 0) {
				return fmt.Errorf("%w: A[%d][%d] = %v in an explicit tableau", ErrArgument, i, j, a)
			}
		}
	}
	for i, b := range t.B {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return fmt.Errorf("%w: B[%d] = %v in a tableau", ErrArgument, i, b)
		}
	}
	return nil
}

// StepsReach returns the pixels of an image of shape s that determine, to the bit, those in r after the
// steps, on a device with the given ConvolutionGrid. In every stage, each K×K convolution and its adjoint
// grow the region to whole tiles of the grid and by ⌊K/2⌋ pixels.
func StepsReach(r Region, steps []FlowStep, grid int, s Shape) Region {
	for _, step := range steps {
		f := step.Filter.Shape()
		for range 2 * step.Tableau.Stages() {
			r = r.Reach(max(f.H, f.W)/2, grid, s)
		}
	}
	return r
}

// Convolutions are the layers of the networks. Inputs and outputs may have any batch size N.
//
// A device may compute a convolution by a fast algorithm on tiles of ConvolutionGrid pixels (Winograd 1980).
// The rounding of a pixel then depends on its position in its tile. A source sample that is not finite may
// spoil every pixel of a tile that has one pixel in its reach.
type Convolutions interface {
	// NewFilter prepares the weights w of shape (Out, In, KH, KW), KH and KW odd.
	NewFilter(w Buffer) (Filter, error)
	// UpdateFilter prepares f again from new weights of the same shape.
	UpdateFilter(f Filter, w Buffer) error
	// Convolve sets dst = activation(A·src + bias).
	Convolve(dst, src Buffer, f Filter, end ConvEnd) error
	// ConvolveAdjoint sets dst = beta·dst + scale·Aᵀ·src. With beta = 0 the old
	// dst is not read.
	ConvolveAdjoint(dst, src Buffer, f Filter, beta, scale float32) error
	// AddAdjoint sets dst = start + scale·Aᵀ·src, with the same bits as a copy of start to dst followed by
	// ConvolveAdjoint with beta = 1. dst may be start.
	AddAdjoint(dst, start, src Buffer, f Filter, scale float32) error
	// GradientFlow makes the steps one after the other. It starts from the channels of src followed by
	// channels of zeros, and sets dst to the first channels of the result: a whole network between its
	// lifting and its projection, in one call that need not store what is between. All filters have the same
	// number of input channels, at least that of src and of dst.
	//
	// Only the pixels of dst inside region are written. They are the same, to the bit, for every region that
	// holds them. They are also the same in an image cut out of a larger one at multiples of ConvolutionGrid,
	// if the cut holds their StepsReach. The device's own scratch memory grows with the region, not with the
	// image.
	//
	// The call checks ctx.Err() before each step; a device that queues its work does so while it queues.
	// After an error it stops soon and returns it, and dst is undefined in region. It may report its progress
	// to the context (WithProgress).
	GradientFlow(ctx context.Context, dst, src Buffer, region Region, steps []FlowStep) error
	// ConvolutionGrid returns a number g ≥ 1. Convolve and ConvolveAdjoint compute tiles of g×g pixels,
	// counted from the first row and column. The pixels of a tile depend only on the source pixels within
	// Region.Reach of it, and on zeros beyond the frame. So an image cut out of a larger one at a multiple of
	// g gives the same bits in all tiles whose reach is in the cut.
	ConvolutionGrid() int
}

// Gradients are what training needs besides Convolutions. The gradient of a convolution with respect to its
// input is ConvolveAdjoint, and the gradient of ConvolveAdjoint is the convolution.
type Gradients interface {
	// FilterGradient sets dw = beta·dw + scale·∂⟨dy, A·x⟩/∂w, of shape
	// (Out, In, KH, KW), summed over the batch. With beta = 0 the old dw is not
	// read.
	FilterGradient(dw, x, dy Buffer, beta, scale float32) error
	// BiasGradient sets db = beta·db + the sum of dy over batch, rows and columns.
	// With beta = 0 the old db is not read.
	BiasGradient(db, dy Buffer, beta float32) error
	// ActivationGradient sets dst = dy · activation'(·), where out is the activation's output. At 0 the
	// derivative is that from the negative side. dst may be dy.
	ActivationGradient(dst, out, dy Buffer, a Activation) error
}

// Apply returns the activation of x in float64, for references and tests.
func (a Activation) Apply(x float64) float64 {
	if a.Kind == LeakyReLU {
		return math.Max(x, float64(a.Slope)*x)
	}
	return x
}
