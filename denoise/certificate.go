package denoise

import (
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/normbound"
)

// Certificate is what is proven of a denoiser, and from what: the bounds of its
// convolutions' norms, the steps that follow from them, and the constants of the
// steps, of their composition and of what wraps it. It prints itself (String), and
// goes into a weight file as JSON. The zero value proves nothing.
//
// A certificate is believed only with the weights: New and Load recompute everything
// that stands in it.
type Certificate struct {
	// Weights is the checksum of the weights, biases, gains and radii (Model.Checksum).
	Weights string
	// Integrator is the name of the tableau, and Radius its radius of circle
	// contractivity, +Inf for rungekutta.BackwardEuler.
	Integrator string
	Radius     float64
	// Activation is σ, and Lipschitz its constant L.
	Activation activation.Function
	Lipschitz  float64
	// Shuffle is Model.Shuffle, 0 for a network that works on all pixels.
	Shuffle int
	// Sigmas are those of the model. Where there are any, the certificate holds for every
	// noise level, and Blocks have the norms of the filters without gains.
	Sigmas []float64
	// Blocks are in the order in which an image passes them.
	Blocks []BlockCertificate
	// Uniform and Composition are the constants of all steps together,
	// UniformComposition and Composition. The smaller one
	// counts.
	Uniform, Composition float64
	// Wrappers are what the network is wrapped into, the innermost first. They are no
	// part of what a weight file holds.
	Wrappers []WrapperCertificate

	// Proven tells whether the whole is proven to be Averagedness-averaged (1:
	// nonexpansive). Where it is not, Reason says why.
	Proven       bool
	Averagedness float64
	Reason       string
	// Origin says who made the certificate: empty, or a line for people, such as that it
	// was made when a file was loaded that has none. It is not stored.
	Origin string
}

// BlockCertificate is what is proven of one block.
type BlockCertificate struct {
	// Norm encloses ‖A‖ (normbound.Prove).
	Norm normbound.Bound
	// Length is h, Steps the number N of steps.
	Length float64
	Steps  int
	// Averagedness is the constant of one step, 1 for one that is only nonexpansive.
	Averagedness float64
}

// WrapperCertificate is what a wrapper makes of the constant of what it wraps.
type WrapperCertificate struct {
	// Name of the wrapper with its argument, such as "relaxed by 0.5".
	Name string
	// Theorem that the constant rests on.
	Theorem string
	// Averagedness of the result.
	Averagedness float64
}
