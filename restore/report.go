package restore

import (
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/pnp"
)

// Report says what a restoration did and what is proven of it.
type Report struct {
	// Method is one of Methods, "prior" for a denoiser of the caller's own (Prior), or empty if nothing was computed.
	Method string
	// Unchanged reports that the image has no noise, as a screenshot or a drawing, and was returned as it is. The
	// certificate is that of the identity.
	Unchanged bool
	// Doubts are about the result.
	Doubts []Doubt
	// Averagedness is the constant α of the denoiser, 1 if it is only nonexpansive. Certified reports that α is
	// proven.
	Averagedness float64
	Certified    bool
	// Weight is the weight of total variation: α in Denoise, λ in Deblur. It is 0 with a network.
	Weight float64
	// LinearLight reports that Deblur took light to be blurred, before sRGB's curve made samples of it.
	LinearLight bool

	Noise     NoiseReport
	Network   NetworkReport
	Iteration IterationReport
	// Blur is what DeblurBlind removed. It is nil in other reports.
	Blur *Blur
	// Raw describes the noise that DenoiseRaw found. It is nil in other reports.
	Raw *RawReport
}

// Doubt is a sentence about what is doubtful, and what may help.
type Doubt struct {
	// Kind is one of the constants where a program may offer help, and empty elsewhere.
	Kind DoubtKind
	Text string
}

// String returns the text.
func (d Doubt) String() string { return d.Text }

// DoubtKind says what a doubt is about.
type DoubtKind = outcome.DoubtKind

// The kinds of doubts: the noise level that was measured may be wrong, and Sigma gives it; the mask of Inpaint may be
// inverted; the kernel fits better if it is turned by 180 degrees; the kernel is not of this photograph.
const (
	NoiseDoubt    = outcome.NoiseDoubt
	InvertedMask  = outcome.InvertedMask
	TurnedKernel  = outcome.TurnedKernel
	ForeignKernel = outcome.ForeignKernel
)

// NoiseReport says what noise was found or given, and which samples were ignored. Standard deviations are in units of
// the full intensity range.
type NoiseReport struct {
	// Sigma is the noise level that was used. Estimate is where it came from, or nil if it was given.
	Sigma    float64
	Estimate *NoiseEstimate
	// Given is the value of the option Sigma, or 0 without it. Deblur may use another level if the photograph
	// contradicts it; Report.Doubts says so.
	Given float64
	// Disturbance is the noise level that set the strength of Deblur. It is Sigma if that was given, and else
	// includes an allowance for the error of the kernel. It is larger if a run left far more of the photograph.
	Disturbance float64
	// Impulses is the share of samples that Denoise or Deblur took for hot or dead pixels, or salt and pepper. They
	// were filled from their neighbours first. The certificate is of what follows.
	Impulses float64
	// Clipped is the share of samples that Deblur took to be clipped at white. It ignores those that the result,
	// blurred, explains as brighter.
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
	// Certificate is that of the network with its wrappers, such as Rescale. It is nil without a network.
	Certificate *denoise.Certificate
	// Level is the noise level at which a network for several noise levels was used (denoise.Network.For), or 0.
	Level float64
	// Rescaling is the s of a network for one noise level, used as s·Φ(x/s): the noise level that it was used for
	// over the one that it is for. It is 0 for a network for several noise levels.
	Rescaling float64
	// Adaptation is the factor with which the strength follows the image (option Adaptation), or 0 if it does not.
	Adaptation float64
	// Guide describes the guide of the network. It is nil without one.
	Guide *GuideReport
}

// IterationReport says how far an iteration came.
type IterationReport struct {
	// Count is the number of iterations of all runs together. In Denoise with total variation it is that of the
	// slowest colour axis. It is 0 in Denoise with a network.
	Count int
	// Converged reports that the tolerance was reached.
	Converged bool
	// Residual is the last residual, and Tolerance the limit for it. In Denoise with total variation it is the
	// relative duality gap; with a network it bounds the root mean square error, and is 0 if the network is a
	// formula; elsewhere it is the relative residual ‖x_{k+1} − x_k‖/‖x_{k+1}‖.
	Residual, Tolerance float64
	// Left is the root mean square of y − Kx after each first run of Deblur, or after the annealed steps.
	Left []float64
	// Run is the report of the last run of the fixed-point iteration, with its certificate. It is nil in Denoise.
	Run *pnp.Report
}

// GuideReport describes the guide of a network. Nothing is proven of a guide, and Report.Network.Certificate does not
// depend on what it chooses.
type GuideReport struct {
	// Strength is the factor on the radii.
	Strength float64
	// Looks is how often the guide set radii: once in Denoise, and in an iteration before each run and each annealed
	// step.
	Looks int
	// Parameters is the number of the guide's parameters, and Multiplications their number for each pixel of the
	// photograph.
	Parameters      int
	Multiplications float64
}

// reportOf makes the report of a call.
func reportOf(o *outcome.Report) *Report {
	r := &Report{
		Method: o.Method, Unchanged: o.Unchanged, Averagedness: o.Averagedness, Certified: o.Certified, Weight: o.Weight, LinearLight: o.LinearLight,
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
	for _, d := range o.Doubts {
		r.Doubts = append(r.Doubts, Doubt(d))
	}
	if e := o.Noise.Estimate; e != nil {
		r.Noise.Estimate = estimateOf(*e)
	}
	return r
}
