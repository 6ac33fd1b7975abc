package restore

import (
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/pnp"
)

// Report says what a restoration did and what is proven of it.
type Report struct {
	// Method is one of Methods, or "prior" for a denoiser of the caller's own (Prior); empty where nothing was computed
	// (Unchanged).
	Method string
	// Sigma is the noise level used; Estimate is how it was found, nil if it was
	// given.
	Sigma    float64
	Estimate *NoiseEstimate
	// SigmaGiven is what Sigma was told, 0 if it was not. Deblur may find that the photograph speaks
	// against it and use another, which is then Sigma; Doubts says so.
	SigmaGiven float64
	// Disturbance is what the strength of Deblur goes by: Sigma and an allowance for the kernel's error,
	// unless Sigma was given; where runs for it left far more of the photograph, or noise in the result, as much
	// as fits.
	Disturbance float64
	// Impulses is the share of samples that Denoise or Deblur found to be hot or dead pixels, or salt and pepper,
	// and filled from their neighbours before all else; 0 if there are none. What is proven is of what comes after.
	Impulses float64
	// Shadows is about the curves with which Denoise mends the shadows; nil where it does not. Averagedness and
	// the certificate are of what comes before.
	Shadows *ShadowReport
	// Raw is about the noise that DenoiseRaw has found; nil from all others.
	Raw *RawReport
	// Unchanged says that Denoise found no noise at all, as in a screenshot or a drawing, and returned the image as it
	// is. What is proven is of that, the identity.
	Unchanged bool
	// Doubts say what is doubtful of the result, and what may help, a sentence each.
	Doubts []string
	// Clipped is the share of the samples that Deblur takes to be clipped at white, and no data (MostBright).
	Clipped float64
	// Weight is the weight of total variation, which follows from Sigma and the option
	// Strength: α in Denoise, λ in Deblur. It is 0 with a network.
	Weight float64
	// Rescaling is s of a network as it was used, s·Φ(x/s): Strength·Adaptation·Sigma, in Deblur
	// Strength·Adaptation·DeblurLevel, over the noise level that the network is for; for a grey image
	// through a network of colour √3 times that. It is 0 without a network, and with one for all
	// noise levels.
	Rescaling float64
	// Adaptation is the factor by which Rescaling or Level, or the strength of a guide, follow the image (Adaptation); 0 if
	// they do not.
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
	// Left is the root mean square of what each first run of Deblur, or the steps in its
	// place, left of the photograph, y − Kx.
	Left      []float64
	Converged bool
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
	// Denoise. A network makes two runs, or steps and a run: it is that of the last, and Iterations
	// counts all.
	Iteration *pnp.Report
}
