package restore

import (
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/pnp"
)

// Report says what a restoration did and what is proven of it.
type Report struct {
	Method string
	// Sigma is the noise level used; Estimate is how it was found, nil if it was
	// given.
	Sigma    float64
	Estimate *NoiseEstimate
	// Weight is the weight of total variation, which follows from Sigma and the option
	// Strength: α in Denoise, λ in Deblur. It is 0 with a network.
	Weight float64
	// Rescaling is s of a network as it was used, s·Φ(x/s): Strength·Adaptation·Sigma, in Deblur
	// Strength·Adaptation·DeblurLevel, over the noise level that the network is for; for a grey image
	// through a network of colour √3 times that. It is 0 without a network, and with one for all
	// noise levels.
	Rescaling float64
	// Adaptation is the factor by which Rescaling or Level follow the image (Adapt); 0 if they
	// do not.
	Adaptation float64
	// Level is the noise level that a network for all of them was used for
	// (denoise.Network.For): what is divided to give Rescaling above, unless Sigma
	// turned out to be far from the truth. It is 0 with other networks and without one.
	Level float64
	// Guide is about the guide of a network that was frozen for the image; nil without one.
	Guide *GuideReport
	// Iterations made (of Denoise: for the colour axes that took most), and whether
	// the tolerance was reached. Denoise by a network makes none.
	Iterations int
	Converged  bool
	// Residual at the end: of Denoise by total variation the relative duality gap, by a
	// network the bound of the root mean square error, which is 0 where the network is a
	// formula; of the others the relative residual ‖x_{k+1} − x_k‖/‖x_{k+1}‖.
	Residual  float64
	Tolerance float64
	// Averagedness of the denoiser (1: nonexpansive), and whether it is proven.
	Averagedness float64
	Certified    bool
	// Network is the certificate of the network with what was put around it, such as its
	// rescaling; nil without a network.
	Network *denoise.Certificate
	// Iteration is the report of the fixed-point iteration, with its certificate; nil from
	// Denoise. A network makes two runs: it is that of the second, and Iterations counts both.
	Iteration *pnp.Report
}

// NoiseEstimate is a noise level found from an image.
type NoiseEstimate struct {
	// Sigma is the standard deviation of the noise, where 1 is the full intensity
	// range: the root mean square over the channels.
	Sigma float64
	// PerChannel is the standard deviation in each channel, which is less certain.
	PerChannel []float64
	// Reliable says that Sigma comes from enough of the image, and that what it
	// comes from looks like white noise. Otherwise Note says what is doubtful, in
	// one sentence.
	Reliable bool
	Note     string
}
