package activation

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// Function is σ, the gradient of a convex function with the constant Lipschitz, which is
// all that the theorems about blocks need of it (the package comment): a function that
// increases, applied to every element, or the projection of vectors of channels onto balls
// (Balls).
type Function struct {
	// Name is one of Names.
	Name string
	// Slope is that of "leakyrelu" for negative arguments, in (0, 1], a float32; 0 for
	// the others.
	Slope float64
}

// LeakyReLU is max(x, slope·x). The paper's slope is 0.01.
func LeakyReLU(slope float64) Function {
	return Function{Name: leakyReLU, Slope: float64(float32(slope))}
}

// ReLU is max(x, 0). It is computed as max(x, 2⁻¹⁰⁰·x), which is LeakyReLU to every
// theorem, and apart from ReLU by less than any rounding.
func ReLU() Function { return Function{Name: relu} }

// HardTanh is min(max(x, −1), 1), the derivative of Huber's function: Balls of one channel
// and of radius 1, which is how it is computed. Another
// threshold t is the same as weights and biases divided by t and a length times t².
func HardTanh() Function { return Function{Name: hardTanh} }

// Linear is σ(x) = x; a block with it is a linear filter.
func Linear() Function { return Function{Name: linear} }

// Multiplies tells whether σ(x) is a product for some x, which is rounded.
func (f Function) Multiplies() bool { return f.Name == leakyReLU || f.Name == relu }

const (
	balls     = "balls"
	leakyReLU = "leakyrelu"
	relu      = "relu"
	hardTanh  = "hardtanh"
	linear    = "identity"
)

// Names are the names that Function.Name and weight files know.
func Names() []string { return []string{leakyReLU, relu, hardTanh, linear, balls} }

// reluSlope stands for 0, which devices do not take.
const reluSlope = 0x1p-100

// Check returns an error unless the activation is one that can be computed.
func (a Function) Check() error {
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
	return fmt.Errorf("activation %.40q is not known, must be one of %q", a.Name, Names())
}

// Lipschitz returns L, the Lipschitz constant of σ: its largest slope, where it is applied
// to every element. It is 1 for all of them.
func (a Function) Lipschitz() float64 { return 1 }

// Device returns what a device does in the pass of a convolution: nothing for Balls and
// HardTanh, which are projections after it (Radii).
func (a Function) Device() backend.Activation {
	switch a.Name {
	case leakyReLU:
		return backend.Activation{Kind: backend.LeakyReLU, Slope: float32(a.Slope)}
	case relu:
		return backend.Activation{Kind: backend.LeakyReLU, Slope: reluSlope}
	}
	return backend.Activation{}
}

// Radii returns the radii of the balls that the activation projects so many hidden channels
// onto by itself: of HardTanh a 1 for each channel. Those of Balls are the network's; of others
// there are none.
func (a Function) Radii(hidden int) []float32 {
	if a.Name != hardTanh {
		return nil
	}
	radii := make([]float32, hidden)
	for i := range radii {
		radii[i] = 1
	}
	return radii
}

// Of returns σ(x), of an activation that is applied to every element.
func (a Function) Of(x float64) float64 {
	if a.Name == hardTanh {
		return min(max(x, -1), 1)
	}
	return a.Device().Apply(x)
}

// Balls projects groups of hidden channels onto balls, whose radii are in denoise.Block.Radius: of
// the vector v of a group's channels at a pixel it makes v·min(1, radius/‖v‖). So a block
// removes what is small, as noise is, and takes no more than the radius from what is large,
// as edges are, whatever its direction in the group.
//
// It is not applied to each element by itself, as the paper's activations are, but has what
// the theorems about blocks need of one (the package comment): it is the gradient of a
// convex function, Huber's function of ‖v‖, which is the Moreau envelope of radius·‖v‖, and
// its Lipschitz constant is 1, for the projection onto a convex set is firmly nonexpansive
// (Bauschke and Combettes 2017, propositions 4.16 and 12.30). Groups of one channel make it
// a clip. Whatever the radii, they enter no constant: a radius of 0 takes the group out of
// the block, and one that nothing reaches makes it linear.
func Balls() Function { return Function{Name: balls} }

// Named returns the activation that a weight file's card names, with its slope; 1 is that of
// "identity". Check says whether there is one.
func Named(name string, slope float64) Function {
	switch {
	case name == leakyReLU:
		return LeakyReLU(slope)
	case name == linear && slope == 1:
		return Linear()
	}
	return Function{Name: name, Slope: slope}
}

// IsBalls tells whether it is Balls.
func (a Function) IsBalls() bool { return a.Name == balls }

// Homogeneous tells whether σ(t·x) = t·σ(x) for all t > 0, with radii that are t times as
// large as well.
func (a Function) Homogeneous() bool { return a.Name != hardTanh }
