package denoise

import (
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/normbound"
)

// Certificate holds what is proven of a denoiser and what that follows from: the bounds of its convolutions' norms,
// the numbers of steps, and the constants of the steps, of their composition and of the wrappers. String prints it. A
// weight file stores it as JSON. The zero value proves nothing.
//
// A certificate counts only together with the weights: New and Load compute all of it again.
type Certificate struct {
	// Weights is the checksum of the weights, biases, gains and radii (Model.Checksum).
	Weights string
	// Integrator is the name of the tableau. Radius is its radius of circle contractivity, +Inf for
	// rungekutta.BackwardEuler.
	Integrator string
	Radius     float64
	// Activation is σ, and Lipschitz its constant L.
	Activation activation.Function
	Lipschitz  float64
	// Shuffle is Model.Shuffle, or 0 for a network that works on all pixels.
	Shuffle int
	// Sigmas is Model.Sigmas. If it is not empty, the certificate holds for every noise level, and Blocks has the
	// norms of the filters without gains.
	Sigmas []float64
	// Blocks are in the order in which an image passes them.
	Blocks []BlockCertificate
	// Uniform and Composition are the constants of all steps together by the functions UniformComposition and
	// Composition. The smaller one counts.
	Uniform, Composition float64
	// Wrappers are what the network is wrapped into, the innermost first. A weight file does not hold them.
	Wrappers []WrapperCertificate

	// Proven reports that the whole is proven to be Averagedness-averaged (1: nonexpansive). Otherwise Reason says
	// why not.
	Proven       bool
	Averagedness float64
	Reason       string
	// Origin is a line for people about who made the certificate, for instance that it was made when the file was
	// loaded, or empty. It is not stored.
	Origin string
}

// BlockCertificate holds what is proven of one block.
type BlockCertificate struct {
	// Norm encloses ‖A‖ (normbound.Prove).
	Norm normbound.Bound
	// Length is h, Steps the number N of steps.
	Length float64
	Steps  int
	// Averagedness is the constant of one step, 1 if it is only nonexpansive.
	Averagedness float64
}

// WrapperCertificate says how a wrapper changes the constant of what it wraps.
type WrapperCertificate struct {
	// Name is the name of the wrapper with its argument, such as "relaxed by 0.5".
	Name string
	// Theorem is the theorem from which the constant follows.
	Theorem string
	// Averagedness is the constant of the result.
	Averagedness float64
}
