package denoise

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Activation is σ, the gradient of a convex function with the constant Lipschitz, which is
// all that the theorems about blocks need of it (the package comment): a function that
// increases, applied to every element, or the projection of vectors of channels onto balls
// (Balls).
type Activation struct {
	// Name is one of ActivationNames.
	Name string
	// Slope is that of "leakyrelu" for negative arguments, in (0, 1], a float32; 0 for
	// the others.
	Slope float64
}

// LeakyReLU is max(x, slope·x). The paper's slope is 0.01.
func LeakyReLU(slope float64) Activation {
	return Activation{Name: leakyReLU, Slope: float64(float32(slope))}
}

// ReLU is max(x, 0). It is computed as max(x, 2⁻¹⁰⁰·x), which is LeakyReLU to every
// theorem, and apart from ReLU by less than any rounding.
func ReLU() Activation { return Activation{Name: relu} }

// HardTanh is min(max(x, −1), 1), the derivative of Huber's function. Another
// threshold t is the same as weights and biases divided by t and a length times t².
func HardTanh() Activation { return Activation{Name: hardTanh} }

// Linear is σ(x) = x; a block with it is a linear filter.
func Linear() Activation { return Activation{Name: linear} }

const (
	leakyReLU = "leakyrelu"
	relu      = "relu"
	hardTanh  = "hardtanh"
	linear    = "identity"
)

// ActivationNames are the names that Activation.Name and weight files know.
func ActivationNames() []string { return []string{leakyReLU, relu, hardTanh, linear, balls} }

// reluSlope stands for 0, which devices do not take.
const reluSlope = 0x1p-100

// Check returns an error unless the activation is one that can be computed.
func (a Activation) Check() error {
	switch a.Name {
	case leakyReLU:
		if a.Slope > 0 && a.Slope <= 1 && a.Slope == float64(float32(a.Slope)) {
			return nil
		}
		return fmt.Errorf("activation %q has the slope %v, must be a float32 in (0, 1]", a.Name, a.Slope)
	case relu, hardTanh, linear, balls:
		if a.Slope == 0 {
			return nil
		}
		return fmt.Errorf("activation %q has the slope %v, must be 0 because it is not adjustable", a.Name, a.Slope)
	}
	return fmt.Errorf("activation %.40q is not known, must be one of %q", a.Name, ActivationNames())
}

// Lipschitz returns L, the Lipschitz constant of σ: its largest slope, where it is applied
// to every element. It is 1 for all of them.
func (a Activation) Lipschitz() float64 { return 1 }

// device returns what a device can do in the pass of a convolution, and whether a
// clip to [−1, 1] must follow.
func (a Activation) device() (end backend.Activation, clip bool) {
	switch a.Name {
	case leakyReLU:
		return backend.Activation{Kind: backend.LeakyReLU, Slope: float32(a.Slope)}, false
	case relu:
		return backend.Activation{Kind: backend.LeakyReLU, Slope: reluSlope}, false
	}
	return backend.Activation{}, a.Name == hardTanh
}

// apply returns σ(x), of an activation that is applied to every element.
func (a Activation) apply(x float64) float64 {
	end, clip := a.device()
	if clip {
		return math.Min(math.Max(x, -1), 1)
	}
	return end.Apply(x)
}
