// Package record has the JSON objects of the commands, and says the same in words: in a line, or in the facts and sentences
// of a page.
package record

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
)

// Schema is the version of the JSON objects. Fields may be added under the same
// number; a change of meaning or a removal raises it.
const Schema = 1

// Number is a float64 in JSON, where infinities and not-a-number become null.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// Input is the JSON object about one input of denoise, deblur and degrade.
type Input struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	Input   string `json:"input"`
	Output  string `json:"output,omitempty"`
	// Skipped: the result existed, and --skip-existing was given.
	Skipped bool `json:"skipped,omitempty"`
	// Error says what went wrong; the outcome is not set then.
	Error string `json:"error,omitempty"`
	// Notes are about what may be doubtful, or was not kept.
	Notes []string `json:"notes,omitempty"`
	Exact Names    `json:"names_base64,omitempty"`
	*Outcome
}

// Names are the bytes of names of files that are not UTF-8, which a string of JSON cannot hold,
// by the field that has them with U+FFFD in place of invalid bytes.
type Names map[string][]byte

// ExactNames returns those of the given fields and names, in turn, that are not UTF-8.
func ExactNames(fieldsAndNames ...string) Names {
	var exact Names
	for i := 0; i+1 < len(fieldsAndNames); i += 2 {
		if field, name := fieldsAndNames[i], fieldsAndNames[i+1]; !utf8.ValidString(name) {
			if exact == nil {
				exact = Names{}
			}
			exact[field] = []byte(name)
		}
	}
	return exact
}

// Outcome is what is said of an input that was restored.
type Outcome struct {
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Channels int    `json:"channels"`
	Method   string `json:"method,omitempty"`
	Sigma    Number `json:"sigma"`
	// Estimated: sigma was estimated from the image.
	Estimated bool `json:"sigma_estimated"`
	// Reliable: the estimate comes from enough of the image, and looks like noise.
	Reliable *bool `json:"sigma_reliable,omitempty"`
	// Unchanged: there is no noise at all, and nothing was computed.
	Unchanged bool `json:"unchanged,omitempty"`
	// Copied: the result has the bytes of the input.
	Copied bool   `json:"copied,omitempty"`
	Anew   string `json:"-"` // how an unchanged image was written, "" if it was copied
	// SigmaGiven is what --sigma said; sigma is what was used.
	SigmaGiven Number `json:"sigma_given,omitempty"`
	// Disturbance is what the strength of deblurring goes by: sigma and the kernel's error.
	Disturbance Number `json:"disturbance,omitempty"`
	// Clipped is the share of the samples that are clipped at white, which deblurring may leave out.
	Clipped Number     `json:"clipped,omitempty"`
	Noise   *noiseInfo `json:"noise,omitempty"`
	Weight  Number     `json:"weight,omitempty"`
	// Network is the one in use, as s·Φ(x/s) with the rescaling s, or for the noise level Level if it is for all of
	// them; Adaptation is the factor in either that follows the image.
	Network    *Network `json:"network,omitempty"`
	Rescaling  Number   `json:"rescaling,omitempty"`
	Level      Number   `json:"level,omitempty"`
	Adaptation Number   `json:"adaptation,omitempty"`
	// Impulses is the share of samples that were hot or dead pixels, or salt and pepper, and were filled.
	Impulses Number `json:"impulses,omitempty"`
	// Shadows is about the curves that have raised shadows in the end. The certificate is of what comes before.
	Shadows *shadowInfo `json:"shadows,omitempty"`
	Guide   *guideInfo  `json:"guide,omitempty"`
	// Raw is about a raw photograph. Sigma is then that of green at a light of 0.18, where 1 is white.
	Raw       *Raw   `json:"raw,omitempty"`
	Mask      string `json:"mask,omitempty"`
	Factor    int    `json:"factor,omitempty"`
	Antialias string `json:"antialias,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
	// KernelEstimate is the kernel that was estimated where none was given; the certificate is of the
	// iteration for it.
	KernelEstimate *Kernel `json:"kernel_estimate,omitempty"`
	Boundary       string  `json:"boundary,omitempty"`
	LinearLight    bool    `json:"linear_light,omitempty"`
	Seed           *uint64 `json:"seed,omitempty"`
	Camera         *Camera `json:"camera,omitempty"`
	JPEG           []JPEG  `json:"jpeg,omitempty"` // without a camera, which has it in its own object
	Clean          string  `json:"clean,omitempty"`
	Seconds        Number  `json:"seconds"`
	*solver
	Certificate *Certificate `json:"certificate,omitempty"`
	*Fidelity
}

// noiseInfo is what an image tells of its noise.
type noiseInfo struct {
	Kind string `json:"kind"` // none, white or coarse
	// Low and High are the levels that a tenth and nine tenths of the squares of the image are not above.
	Low  Number `json:"level_low"`
	High Number `json:"level_high"`
	// PerChannel is the standard deviation of white noise in each channel.
	PerChannel []Number `json:"per_channel,omitempty"`
}

func noiseInfoOf(e *restore.NoiseEstimate) *noiseInfo {
	n := &noiseInfo{Kind: e.Kind}
	if e.Levels != nil {
		n.Low, n.High = Number(e.Levels.Quantile(0.1)), Number(e.Levels.Quantile(0.9))
	}
	for _, s := range e.PerChannel {
		n.PerChannel = append(n.PerChannel, Number(s))
	}
	return n
}

// shadowInfo is about the curves that have raised the shadows of a photograph.
type shadowInfo struct {
	Raised Number `json:"raised"` // the most that was added to a sample, 1 being white
	Slope  Number `json:"slope"`  // the greatest slope of a curve
}

// guideInfo is about the guide that set the radii of a network's projections for the photograph.
// The certificate is that of the network as it is frozen with them.
type guideInfo struct {
	Strength        Number `json:"strength"` // factor on the radii
	Looks           int    `json:"looks"`    // how often it set them: once, or before each run and annealed step of an iteration
	Parameters      int    `json:"parameters"`
	Multiplications Number `json:"multiplications"` // for a pixel
}

// solver is how an iteration ended.
type solver struct {
	Iterations int    `json:"iterations"`
	Converged  bool   `json:"converged"`
	Residual   Number `json:"residual"`
	Tolerance  Number `json:"tolerance"`
	// ErrorBar bounds the distance of the result to the fixed point, where that is proven to
	// be the only one: a root mean square over the samples of the result.
	ErrorBar Number `json:"error_bar,omitempty"`
	// ErrorBarRounding is what rounding may add to it; null where that is not known.
	ErrorBarRounding Number `json:"error_bar_rounding,omitempty"`
}

// Fidelity is the distance to a reference.
type Fidelity struct {
	PSNR      Number `json:"psnr"`
	PSNRPaper Number `json:"psnr_paper"`
}

// Certificate is what is proven of a map: of the denoiser alone, or of the
// plug-and-play iteration that it is part of.
type Certificate struct {
	Map          string `json:"map"` // "denoiser" or "iteration"
	Proven       bool   `json:"proven"`
	Averagedness Number `json:"averagedness"` // null if not proven
	*iterationCertificate
}

type iterationCertificate struct {
	Denoiser         Number `json:"denoiser_averagedness"` // null if not proven
	Norm             Number `json:"operator_norm_bound"`
	NormReason       string `json:"operator_norm_reason"`
	Step             Number `json:"step"`
	DataStep         string `json:"data_step"` // "gradient" or "proximal"
	Gradient         Number `json:"data_step_averagedness"`
	Constraint       string `json:"constraint"`
	Converges        bool   `json:"converges"`
	FixedPointExists bool   `json:"fixed_point_exists"`
	Contraction      Number `json:"contraction,omitempty"` // a Lipschitz constant below 1
	// Rounding bounds what float32 adds to one application, and ProvenResidual the residual that
	// is proven with it, of the result or where that is less of the iteration, both root
	// mean squares; null where nothing is known. RoundingCovered: they are of what was computed.
	Rounding        Number `json:"rounding"`
	ProvenResidual  Number `json:"proven_residual"`
	RoundingCovered bool   `json:"rounding_covered"`
}

// ProvenOr returns v, or not-a-number if it is not proven.
func ProvenOr(v float64, proven bool) Number {
	if !proven {
		return Number(math.NaN())
	}
	return Number(v)
}

func certificateOf(r *restore.Report) *Certificate {
	if run := r.Iteration.Run; run != nil {
		c, root := iterationCertificateOf(run.Certificate), math.Sqrt(run.Samples)
		c.Rounding = Number(run.Rounding / root)
		c.ProvenResidual = Number(math.Min(run.Floor(), run.Reached()) / root)
		c.RoundingCovered = run.ConvergenceProven()
		return c
	}
	return &Certificate{Map: "denoiser", Proven: r.Certified, Averagedness: ProvenOr(r.Averagedness, r.Certified)}
}

// iterationCertificateOf is the certificate of an iteration, without what rounding adds.
func iterationCertificateOf(c pnp.Certificate) *Certificate {
	constraint := "none"
	if c.Constraint == pnp.UnitBox {
		constraint = fmt.Sprintf("[0,%g]", c.Peak)
	}
	contraction := Number(0)
	if c.Contraction < 1 {
		contraction = Number(c.Contraction)
	}
	return &Certificate{
		Map: "iteration", Proven: c.Proven, Averagedness: ProvenOr(c.Averagedness, c.Proven),
		iterationCertificate: &iterationCertificate{
			Denoiser: ProvenOr(c.Denoiser, c.DenoiserProven),
			Norm:     Number(c.Norm), NormReason: c.NormReason,
			Step: Number(c.Step), DataStep: c.DataStep.String(), Gradient: Number(c.Gradient),
			Constraint: constraint, Converges: c.Converges(), FixedPointExists: c.FixedPointExists(), Contraction: contraction,
		},
	}
}

// Of is what a report says of an image.
func Of(m *imagefile.Image, r *restore.Report) *Outcome {
	o := &Outcome{
		Width: m.Width, Height: m.Height, Channels: m.Channels,
		Method: r.Method, Sigma: Number(r.Noise.Sigma), SigmaGiven: Number(r.Noise.Given), Disturbance: Number(r.Noise.Disturbance), Clipped: Number(r.Noise.Clipped), Estimated: r.Noise.Estimate != nil, Unchanged: r.Unchanged,
		Weight: Number(r.Weight), LinearLight: r.LinearLight, Rescaling: Number(r.Network.Rescaling), Level: Number(r.Network.Level),
		Adaptation: Number(r.Network.Adaptation), Certificate: certificateOf(r), Impulses: Number(r.Noise.Impulses),
	}
	if n := r.Noise; n.ShadowSlope > 0 {
		o.Shadows = &shadowInfo{Raised: Number(n.ShadowsRaised), Slope: Number(n.ShadowSlope)}
	}
	if g := r.Network.Guide; g != nil {
		o.Guide = &guideInfo{Strength: Number(g.Strength), Looks: g.Looks, Parameters: g.Parameters, Multiplications: Number(g.Multiplications)}
	}
	if r.Noise.Estimate != nil {
		o.Reliable = &r.Noise.Estimate.Reliable
		o.Noise = noiseInfoOf(r.Noise.Estimate)
	}
	if r.Iteration.Tolerance > 0 { // else it is a formula
		o.solver = &solver{
			Iterations: r.Iteration.Count, Converged: r.Iteration.Converged,
			Residual: Number(r.Iteration.Residual), Tolerance: Number(r.Iteration.Tolerance),
		}
		if r.Iteration.Run != nil && !math.IsInf(r.Iteration.Run.ErrorBar, 1) {
			o.ErrorBar = Number(r.Iteration.Run.ErrorBar / math.Sqrt(float64(len(m.Pix))))
			o.ErrorBarRounding = Number(r.Iteration.Run.ErrorBarRounding / math.Sqrt(float64(len(m.Pix))))
		}
	}
	return o
}

// FidelityOf returns both PSNR; the paper's is undefined for a reference that is
// black, or negative, throughout.
func FidelityOf(reference, estimate []float32) (*Fidelity, error) {
	psnr, err := quality.PSNR(reference, estimate, 1)
	if err != nil {
		return nil, err
	}
	f := &Fidelity{PSNR: Number(psnr), PSNRPaper: Number(math.NaN())}
	if peak := quality.Peak(reference); peak > 0 {
		paper, err := quality.PSNR(reference, estimate, peak)
		if err != nil {
			return nil, err
		}
		f.PSNRPaper = Number(paper)
	}
	return f, nil
}

// Compare is the JSON object of compare.
type Compare struct {
	Schema    int    `json:"schema"`
	Command   string `json:"command"`
	Reference string `json:"reference"`
	Image     string `json:"image"`
	Width     int    `json:"width"` // of what is compared
	Height    int    `json:"height"`
	Channels  int    `json:"channels"`
	MSE       Number `json:"mse"`
	*Fidelity
	PaperPeak Number `json:"psnr_paper_peak"`
	SSIM      Number `json:"ssim"` // null below 11×11
	Exact     Names  `json:"names_base64,omitempty"`
}
