package restore

import (
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/pnp"
)

// Report says what a restoration did and what is proven of it.
type Report struct {
	// Method is one of Methods, or "prior" for a denoiser of the caller's own (Prior). It is empty where nothing
	// was computed (Unchanged).
	Method string
	// Unchanged: Denoise found no noise at all, as in a screenshot or a drawing, and returned the image as it is.
	// What is proven is of that, the identity.
	Unchanged bool
	// Doubts are sentences about what is doubtful in the result, and what may help.
	Doubts []string
	// Averagedness is that of the denoiser (1: nonexpansive), and Certified says whether it is proven.
	Averagedness float64
	Certified    bool
	// Weight is the weight of total variation: α in Denoise, λ in Deblur. It is 0 with a network.
	Weight float64

	Noise     NoiseReport
	Network   NetworkReport
	Iteration IterationReport
	// Raw is about the noise that DenoiseRaw has found; nil from all others.
	Raw *RawReport
}

// NoiseReport says what noise was found or given, and which samples count as no data. Standard deviations are in
// units of the full intensity range.
type NoiseReport struct {
	// Sigma is the noise level that was used. Estimate is how it was found, nil if it was given.
	Sigma    float64
	Estimate *NoiseEstimate
	// Given is the value of the option Sigma, 0 without it. Deblur may use another one, if the photograph
	// contradicts it; Report.Doubts says so.
	Given float64
	// Disturbance is the noise level that sets the strength of Deblur: Sigma and an allowance for the error of the
	// kernel. It has no allowance if Sigma was given. It is larger if a run for it left far more of the photograph,
	// or left noise in the result.
	Disturbance float64
	// Impulses is the share of samples that Denoise or Deblur found to be hot pixels, dead pixels, or salt and
	// pepper. They were filled from their neighbours first; what is proven is of what follows.
	Impulses float64
	// Clipped is the share of samples that Deblur takes to be clipped at white. They are no data.
	Clipped float64
	// ShadowsRaised is the most that the curves with which Denoise brightens shadows added to a sample; 0 without
	// curves. The certificate does not cover them.
	ShadowsRaised float64
	// ShadowSlope is the greatest slope of these curves, 1 to 1.5, or 0 without curves. They move two images that
	// the denoiser leaves at a distance d to a distance of at most ShadowSlope·d.
	ShadowSlope float64
}

// NetworkReport says how a network was used. It is zero without one.
type NetworkReport struct {
	// Certificate is that of the network with its wrappers, such as its rescaling; nil without a network.
	Certificate *denoise.Certificate
	// Level is the noise level that a network for all noise levels was used for (denoise.Network.For); else 0.
	Level float64
	// Rescaling is s of a network for one noise level, used as s·Φ(x/s): the noise level that it was used for over
	// the one that it is for. It is 0 for a network for all noise levels.
	Rescaling float64
	// Adaptation is the factor by which Level or Rescaling follow the image (option Adaptation); 0 if they do not.
	Adaptation float64
	// Guide is about the guide of the network; nil if it has none.
	Guide *GuideReport
}

// IterationReport says how far an iteration came.
type IterationReport struct {
	// Count is the number of iterations: of all runs; in Denoise with total variation, for the colour axis that
	// took most. Denoise with a network makes none.
	Count int
	// Converged: the tolerance was reached.
	Converged bool
	// Residual is the last one, and Tolerance what it is compared with: in Denoise with total variation the relative
	// duality gap; with a network a bound on the root mean square error, which is 0 where the network is a formula;
	// elsewhere the relative residual ‖x_{k+1} − x_k‖/‖x_{k+1}‖.
	Residual, Tolerance float64
	// Left is the root mean square of y − Kx after each first run of Deblur, or after the steps in its place.
	Left []float64
	// Run is the report of the last run of the fixed-point iteration, with its certificate; nil from Denoise.
	Run *pnp.Report
}

// GuideReport is about the guide of a network, and about what it did to the radii of its
// projections for the photograph. Nothing is proven of a guide; Report.Network.Certificate is proven whatever
// it says.
type GuideReport struct {
	// Strength is the factor on the radii.
	Strength float64
	// Looks is how often the guide set radii: once in Denoise, once more for its trial and for CoarseColour, and before each
	// run and each annealed step in an iteration.
	Looks int
	// Parameters of the guide, and its Multiplications for a pixel of the photograph.
	Parameters      int
	Multiplications float64
}

// reportOf makes the report of a call.
func reportOf(o *outcome.Report) *Report {
	r := &Report{
		Method: o.Method, Unchanged: o.Unchanged, Doubts: o.Doubts, Averagedness: o.Averagedness, Certified: o.Certified, Weight: o.Weight,
		Noise: NoiseReport{
			Sigma: o.Noise.Sigma, Given: o.Noise.Given, Disturbance: o.Noise.Disturbance, Impulses: o.Noise.Impulses, Clipped: o.Noise.Clipped,
			ShadowsRaised: o.Noise.ShadowsRaised, ShadowSlope: o.Noise.ShadowSlope,
		},
		Network: NetworkReport{
			Certificate: o.Network.Certificate, Level: o.Network.Level, Rescaling: o.Network.Rescaling, Adaptation: o.Network.Adaptation,
			Guide: (*GuideReport)(o.Network.Guide),
		},
		Iteration: IterationReport(o.Iteration),
	}
	if e := o.Noise.Estimate; e != nil {
		r.Noise.Estimate = estimateOf(*e)
	}
	return r
}
