package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
)

// schema is the version of the JSON objects. Fields may be added under the same
// number; a change of meaning or a removal raises it.
const schema = 1

// number is a float64 in JSON, where infinities and not-a-number become null.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// record is the JSON object about one input of denoise, deblur and degrade.
type record struct {
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
	Exact names    `json:"names_base64,omitempty"`
	*outcome
}

// names are the bytes of names of files that are not UTF-8, which a string of JSON cannot hold,
// by the field that has them with U+FFFD in place of invalid bytes.
type names map[string][]byte

// exactNames returns those of the given fields and names, in turn, that are not UTF-8.
func exactNames(fieldsAndNames ...string) names {
	var exact names
	for i := 0; i+1 < len(fieldsAndNames); i += 2 {
		if field, name := fieldsAndNames[i], fieldsAndNames[i+1]; !utf8.ValidString(name) {
			if exact == nil {
				exact = names{}
			}
			exact[field] = []byte(name)
		}
	}
	return exact
}

// outcome is what is said of an input that was restored.
type outcome struct {
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Channels int    `json:"channels"`
	Method   string `json:"method,omitempty"`
	Sigma    number `json:"sigma"`
	// Estimated: sigma was estimated from the image.
	Estimated bool `json:"sigma_estimated"`
	// Reliable: the estimate comes from enough of the image, and looks like noise.
	Reliable *bool `json:"sigma_reliable,omitempty"`
	// Unchanged: there is no noise at all, and nothing was computed.
	Unchanged bool `json:"unchanged,omitempty"`
	// Copied: the result has the bytes of the input.
	Copied bool   `json:"copied,omitempty"`
	anew   string // how an unchanged image was written, "" if it was copied
	// SigmaGiven is what --sigma said; sigma is what was used.
	SigmaGiven number `json:"sigma_given,omitempty"`
	// Disturbance is what the strength of deblurring goes by: sigma and the kernel's error.
	Disturbance number `json:"disturbance,omitempty"`
	// Clipped is the share of the samples that are clipped at white, which deblurring may leave out.
	Clipped number     `json:"clipped,omitempty"`
	Noise   *noiseInfo `json:"noise,omitempty"`
	Weight  number     `json:"weight,omitempty"`
	// Network is the one in use, as s·Φ(x/s) with the rescaling s, or for the noise level Level if it is for all of
	// them; Adaptation is the factor in either that follows the image.
	Network    *networkInfo `json:"network,omitempty"`
	Rescaling  number       `json:"rescaling,omitempty"`
	Level      number       `json:"level,omitempty"`
	Adaptation number       `json:"adaptation,omitempty"`
	// Impulses is the share of samples that were hot or dead pixels, or salt and pepper, and were filled.
	Impulses number `json:"impulses,omitempty"`
	// Shadows is about the curves that have raised shadows in the end. The certificate is of what comes before.
	Shadows *shadowInfo `json:"shadows,omitempty"`
	Guide   *guideInfo  `json:"guide,omitempty"`
	// Raw is about a raw photograph. Sigma is then that of green at a light of 0.18, where 1 is white.
	Raw       *rawInfo `json:"raw,omitempty"`
	Mask      string   `json:"mask,omitempty"`
	Factor    int      `json:"factor,omitempty"`
	Antialias string   `json:"antialias,omitempty"`
	Kernel    string   `json:"kernel,omitempty"`
	// KernelEstimate is the kernel that was estimated where none was given; the certificate is of the
	// iteration for it.
	KernelEstimate *kernelInfo `json:"kernel_estimate,omitempty"`
	Boundary       string      `json:"boundary,omitempty"`
	Seed           *uint64     `json:"seed,omitempty"`
	Camera         *cameraInfo `json:"camera,omitempty"`
	JPEG           []jpegInfo  `json:"jpeg,omitempty"` // without a camera, which has it in its own object
	Clean          string      `json:"clean,omitempty"`
	Seconds        number      `json:"seconds"`
	*solver
	Certificate *certificate `json:"certificate,omitempty"`
	*fidelity
}

// noiseInfo is what an image tells of its noise.
type noiseInfo struct {
	Kind string `json:"kind"` // none, white or coarse
	// Low and High are the levels that a tenth and nine tenths of the squares of the image are not above.
	Low  number `json:"level_low"`
	High number `json:"level_high"`
	// PerChannel is the standard deviation of white noise in each channel.
	PerChannel []number `json:"per_channel,omitempty"`
}

func noiseInfoOf(e *restore.NoiseEstimate) *noiseInfo {
	n := &noiseInfo{Kind: e.Kind}
	if e.Levels != nil {
		n.Low, n.High = number(e.Levels.Quantile(0.1)), number(e.Levels.Quantile(0.9))
	}
	for _, s := range e.PerChannel {
		n.PerChannel = append(n.PerChannel, number(s))
	}
	return n
}

// shadowInfo is about the curves that have raised the shadows of a photograph.
type shadowInfo struct {
	Raised number `json:"raised"` // the most that was added to a sample, 1 being white
	Slope  number `json:"slope"`  // the greatest slope of a curve
}

// guideInfo is about the guide that set the radii of a network's projections for the photograph.
// The certificate is that of the network as it is frozen with them.
type guideInfo struct {
	Strength        number `json:"strength"` // factor on the radii
	Looks           int    `json:"looks"`    // how often it set them: once, or before each run and annealed step of an iteration
	Parameters      int    `json:"parameters"`
	Multiplications number `json:"multiplications"` // for a pixel
}

// solver is how an iteration ended.
type solver struct {
	Iterations int    `json:"iterations"`
	Converged  bool   `json:"converged"`
	Residual   number `json:"residual"`
	Tolerance  number `json:"tolerance"`
	// ErrorBar bounds the distance of the result to the fixed point, where that is proven to
	// be the only one: a root mean square over the samples of the result.
	ErrorBar number `json:"error_bar,omitempty"`
	// ErrorBarRounding is what rounding may add to it; null where that is not known.
	ErrorBarRounding number `json:"error_bar_rounding,omitempty"`
}

// fidelity is the distance to a reference.
type fidelity struct {
	PSNR      number `json:"psnr"`
	PSNRPaper number `json:"psnr_paper"`
}

// certificate is what is proven of a map: of the denoiser alone, or of the
// plug-and-play iteration that it is part of.
type certificate struct {
	Map          string `json:"map"` // "denoiser" or "iteration"
	Proven       bool   `json:"proven"`
	Averagedness number `json:"averagedness"` // null if not proven
	*iterationCertificate
}

type iterationCertificate struct {
	Denoiser         number `json:"denoiser_averagedness"` // null if not proven
	Norm             number `json:"operator_norm_bound"`
	NormReason       string `json:"operator_norm_reason"`
	Step             number `json:"step"`
	DataStep         string `json:"data_step"` // "gradient" or "proximal"
	Gradient         number `json:"data_step_averagedness"`
	Constraint       string `json:"constraint"`
	Converges        bool   `json:"converges"`
	FixedPointExists bool   `json:"fixed_point_exists"`
	Contraction      number `json:"contraction,omitempty"` // a Lipschitz constant below 1
	// Rounding bounds what float32 adds to one application, and ProvenResidual the residual that
	// is proven with it, of the result or where that is less of the iteration, both root
	// mean squares; null where nothing is known. RoundingCovered: they are of what was computed.
	Rounding        number `json:"rounding"`
	ProvenResidual  number `json:"proven_residual"`
	RoundingCovered bool   `json:"rounding_covered"`
}

// provenOr returns v, or not-a-number if it is not proven.
func provenOr(v float64, proven bool) number {
	if !proven {
		return number(math.NaN())
	}
	return number(v)
}

func certificateOf(r *restore.Report) *certificate {
	if run := r.Iteration.Run; run != nil {
		c, root := iterationCertificateOf(run.Certificate), math.Sqrt(run.Samples)
		c.Rounding = number(run.Rounding / root)
		c.ProvenResidual = number(math.Min(run.Floor(), run.Reached()) / root)
		c.RoundingCovered = run.ConvergenceProven()
		return c
	}
	return &certificate{Map: "denoiser", Proven: r.Certified, Averagedness: provenOr(r.Averagedness, r.Certified)}
}

func iterationCertificateOf(c pnp.Certificate) *certificate {
	constraint := "none"
	if c.Constraint == pnp.UnitBox {
		constraint = fmt.Sprintf("[0,%g]", c.Peak)
	}
	contraction := number(0)
	if c.Contraction < 1 {
		contraction = number(c.Contraction)
	}
	return &certificate{
		Map: "iteration", Proven: c.Proven, Averagedness: provenOr(c.Averagedness, c.Proven),
		iterationCertificate: &iterationCertificate{
			Denoiser: provenOr(c.Denoiser, c.DenoiserProven),
			Norm:     number(c.Norm), NormReason: c.NormReason,
			Step: number(c.Step), DataStep: c.DataStep.String(), Gradient: number(c.Gradient),
			Constraint: constraint, Converges: c.Converges(), FixedPointExists: c.FixedPointExists(), Contraction: contraction,
		},
	}
}

// printJSON prints an object on one line.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
