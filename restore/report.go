package restore

import "github.com/averaged/imaging/pnp"

// Report says what a restoration did and what is proven of it.
type Report struct {
	Method string
	// Sigma is the noise level used; Estimate is how it was found, nil if it was
	// given.
	Sigma    float64
	Estimate *NoiseEstimate
	// Weight is the regularisation weight used, which follows from Sigma and the
	// option Strength: α of the total variation in Denoise, λ in Deblur.
	Weight float64
	// Iterations made (of Denoise: for the colour axes that took most), and whether
	// the tolerance was reached.
	Iterations int
	Converged  bool
	// Residual at the end: the relative duality gap of Denoise, the relative
	// residual ‖x_{k+1} − x_k‖/‖x_{k+1}‖ of Deblur.
	Residual  float64
	Tolerance float64
	// Averagedness of the denoiser, and whether it is proven.
	Averagedness float64
	Certified    bool
	// Iteration is the report of Deblur's fixed-point iteration, with its
	// certificate; nil from Denoise.
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
