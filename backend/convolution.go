package backend

import (
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

// Filter is a bank of convolution weights prepared for a device: copied,
// reordered or transformed, once. The convolution is A: In channels → Out
// channels, of odd height and width, with zero padding that keeps the size,
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

// ConvEnd is what follows a convolution in the same pass.
type ConvEnd struct {
	Bias       Buffer // one number per output channel, or nil
	Activation Activation
}

// Convolutions are the layers of the networks. Inputs and outputs may have any
// batch size N.
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
}

// Gradients are what training needs besides Convolutions: with respect to its
// input a convolution's gradient is ConvolveAdjoint, and the other way about.
type Gradients interface {
	// FilterGradient sets dw = beta·dw + scale·∂⟨dy, A·x⟩/∂w, of shape
	// (Out, In, KH, KW), summed over the batch. With beta = 0 the old dw is not
	// read.
	FilterGradient(dw, x, dy Buffer, beta, scale float32) error
	// BiasGradient sets db = beta·db + the sum of dy over batch, rows and columns.
	// With beta = 0 the old db is not read.
	BiasGradient(db, dy Buffer, beta float32) error
	// ActivationGradient sets dst = dy · activation'(·), where out is the
	// activation's output. At 0 the derivative is taken from the negative side.
	// dst may be dy.
	ActivationGradient(dst, out, dy Buffer, a Activation) error
}

// Apply returns the activation of x in float64, for references and tests.
func (a Activation) Apply(x float64) float64 {
	if a.Kind == LeakyReLU {
		return math.Max(x, float64(a.Slope)*x)
	}
	return x
}
