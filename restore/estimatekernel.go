package restore

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/deblur/estimate"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/strength"
)

// KernelSize sets the largest side of an estimated kernel in pixels, 3 to 301. The default is 101. EstimateKernel
// finds the size of the kernel itself, up to this limit.
func KernelSize(side int) Option {
	return option{"KernelSize", func(c *request) error {
		if side < 3 || side > estimate.MaxSize {
			return &OptionError{Option: "KernelSize", Value: side, Want: fmt.Sprintf("3 to %d", estimate.MaxSize)}
		}
		c.kernelSize = side
		return nil
	}}
}

// KernelReport says what EstimateKernel found.
type KernelReport struct {
	// Kind is "motion", "disk" or "gaussian" for a kernel of that form, "shake" for one of any other form, and "none"
	// for a photograph without blur, whose kernel is a single pixel.
	Kind string
	// Length in pixels and Angle in degrees describe a motion (deblur.Motion), Radius in pixels a disk, and Std in
	// pixels a Gaussian. They are 0 for other kinds.
	Length, Angle, Radius, Std float64
	// Sigma is the noise level that was used.
	Sigma float64
	// Parts are the similarities between the kernel, before its last steps, and the kernels of parts of the
	// photograph alone: 1 means the same. Agreement is their mean, or 0 if there are none.
	Parts     []float64
	Agreement float64
	// Halves is the similarity between the kernels that the last steps find in two halves of the photograph: 1 means
	// the same. It is 1 for strong noise, and for kinds other than "shake".
	Halves float64
	// Trust is "good" if parts of the photograph agree and the last steps are settled, "fair" if parts agree roughly,
	// and "doubtful" if they do not, or cannot be compared, or if the spectra of the photograph do not show the kernel.
	Trust string
	// Variation measures how much the blur varies over the frame, from 0 to 1. It is 1 minus the smallest correlation
	// between the kernels of two parts, corrected for noise and for missing edges.
	Variation float64
	// Spreads are the sizes of these two kernels in pixels, the smaller one first: the root mean square distance of
	// the weights from their centre of mass.
	Spreads [2]float64
	// Varies reports that the blur seems to vary over the frame: two parts have kernels of their own. Then Trust is
	// not "good".
	Varies bool
	// LinearLight reports that light was blurred, before sRGB's curve made samples of it, and that the kernel is that of light.
	LinearLight bool
	// Doubts are about the kernel.
	Doubts []Doubt
}

// The values of KernelReport.Trust.
const (
	good     = "good"
	fair     = "fair"
	doubtful = "doubtful"
)

// Parts of good estimates mostly agree to 0.75 and more. Small photographs have less agreement than they
// deserve, and texture can make parts agree on a wrong kernel (docs/notebook/kernel-estimation.md).
const (
	goodAgreement = 0.84
	fairAgreement = 0.75
	// maxVariation tells blur that is the same all over the frame. On photographs of 440×280 pixels
	// 11 of 12 that varied were above it, and 2 of 6 that did not.
	maxVariation = 0.1
)

// String returns the report in a few words.
func (r *KernelReport) String() string {
	text := "a kernel of any form, as of a shake"
	switch r.Kind {
	case estimate.None.String():
		return "no blur"
	case estimate.Motion.String():
		text = fmt.Sprintf("a straight motion of %.1f pixels at %.0f degrees", r.Length, r.Angle)
	case estimate.Disk.String():
		text = fmt.Sprintf("a disk of radius %.1f pixels", r.Radius)
	case estimate.Gaussian.String():
		text = fmt.Sprintf("a Gaussian of %.1f pixels", r.Std)
	}
	if r.LinearLight {
		text += inLight
	}
	if len(r.Parts) == 0 {
		return text + ", trust doubtful (" + tooSmall + ")"
	}
	return fmt.Sprintf("%s, trust %s (parts of the photograph agree to %.2f)", text, r.Trust, r.Agreement)
}

// tooSmall is why there are no Parts.
const tooSmall = "the photograph is too small to compare parts of it"

// ofKernel are the options that EstimateKernel takes.
var ofKernel = []string{"Sigma", "SigmaAuto", "Compressed", "LinearLight", "StoredSamples", "KernelSize", "Threads", "Progress"}

// EstimateKernel estimates the kernel of a blurred photograph from the photograph alone (blind deconvolution; package
// deblur/estimate), for Deblur. It converts colour to grey, and treats invisible pixels as Denoise does. It uses the
// parts of a large photograph with the most edges, so that time and memory hardly grow beyond a megapixel.
//
// Nothing is proven of the estimate. What is proven of Deblur holds for the kernel that it is given. The report says
// how far the estimate can be trusted.
//
// If the report says LinearLight, give Deblur that option.
//
// It takes the options Sigma, SigmaAuto, Compressed, LinearLight, StoredSamples, KernelSize, Threads and Progress.
func EstimateKernel(ctx context.Context, img image.Image, options ...Option) (deblur.Kernel, *KernelReport, error) {
	c, err := applyOnly(options, ofKernel)
	if err != nil {
		return deblur.Kernel{}, nil, err
	}
	p, err := open(ctx, img, c.threads)
	if err != nil {
		return deblur.Kernel{}, nil, err
	}
	b, err := c.findBlur(ctx, p, func(c request, p *imageplanes.Planes) (*Blur, error) { return c.uniformBlur(ctx, p) })
	if err != nil {
		return deblur.Kernel{}, nil, err
	}
	return b.Grid.Kernels[0], b.Kernel, nil
}

// applyOnly is apply for a function that takes some options alone.
func applyOnly(options []Option, some []string) (request, error) {
	for _, o := range options {
		if o != nil && !slices.Contains(some, o.name()) {
			return request{}, &OptionError{Option: o.name(), Want: "other functions", Task: string(taskEstimateKernel)}
		}
	}
	return apply(options)
}

// estimating are the options of an estimate.
func (c *request) estimating() estimate.Options {
	return estimate.Options{Sigma: c.sigma, Coding: c.compressed.Noise, Size: c.kernelSize, Threads: c.threads, Progress: c.progress}
}

func kernelReport(e *estimate.Estimate) *KernelReport {
	r := &KernelReport{
		Kind: e.Shape.Kind.String(), Length: e.Shape.Length, Angle: e.Shape.Angle, Radius: e.Shape.Radius, Std: e.Shape.Std,
		Sigma: e.Sigma, Parts: e.Likeness, Agreement: e.Agreement(), Halves: e.Halves,
		Variation: e.Variation, Spreads: e.Spreads, Varies: e.Variation > maxVariation,
	}
	if e.Shape.Kind == estimate.None {
		r.Trust = good
		if e.Note != "" {
			r.Trust = doubtful
			r.Doubts = append(r.Doubts, Doubt{Text: e.Note})
		}
		return r
	}
	switch {
	case r.Agreement >= goodAgreement && !r.Varies && e.Settled():
		r.Trust = good
	case r.Agreement >= fairAgreement:
		r.Trust = fair
	default:
		r.Trust = doubtful
		reason := "the photograph has few edges, or much texture"
		if len(r.Parts) == 0 {
			reason = tooSmall
		}
		r.Doubts = append(r.Doubts, Doubt{Text: "the estimated kernel is doubtful: " + reason})
	}
	if r.Varies {
		r.Doubts = append(r.Doubts, Doubt{Text: fmt.Sprintf(
			"the blur seems to vary over the frame: the kernels of two parts are alike to %.2f of 1, with spreads of %.1f and %.1f pixels; one kernel for all may not fit",
			1-r.Variation, r.Spreads[0], r.Spreads[1])})
	}
	return r
}

// Signs that a kernel is not that of the photograph. Under the right one the misfit was lower than under
// its inverse by 4 % and more of its square, and it stayed like itself to 0.95 and more; under those of other
// photographs to 0.62 to 0.93. Under none of 66 was it higher than under the same kernel turned or flipped.
const (
	turnedBetter  = 1.007
	inverseBetter = 1.02
	foreign       = 0.88
)

// widest is the spread of a kernel, as a part of the photograph's smaller side, above which it is hardly
// one: a photograph taken for a kernel has 0.41 of its own side, a motion 0.29 of its length. On thumbnails
// with a smaller side than minChecked a kernel may well be that wide.
const (
	widest     = 0.1
	minChecked = 64
)

// spread returns the root mean square distance of a kernel's weights from their centre of mass.
func spread(k deblur.Kernel) float64 {
	y, x := k.OffCentre()
	sum, squares := 0.0, 0.0
	for i, v := range k.Weights {
		dy, dx := float64(i/k.W-k.CY)-y, float64(i%k.W-k.CX)-x
		sum += float64(v)
		squares += float64(v) * (dy*dy + dx*dx)
	}
	return math.Sqrt(squares / sum)
}

// CheckKernel compares a kernel with the photograph from which it is to be removed. It returns a doubt if the
// kernel seems to be wrong: it is turned, flipped or inverted, or the photograph suggests another one. An empty
// result is no proof that the kernel is right: a shift has no sign, and a photograph without edges has few. The
// options are those of EstimateKernel.
func CheckKernel(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) ([]Doubt, error) {
	c, err := applyOnly(options, ofKernel)
	if err != nil {
		return nil, err
	}
	if err := kernel.Check(); err != nil {
		return nil, err
	}
	p, err := open(ctx, img, c.threads)
	if err != nil {
		return nil, err
	}
	if side := min(p.planes.Height, p.planes.Width); side >= minChecked && spread(kernel) > widest*float64(side) {
		return []Doubt{{ForeignKernel, "kernel: it spreads over more of the photograph than blur does, and is no kernel, or one of another scale"}}, nil
	}
	if !c.sigmaGiven {
		e, err := denoising.White(p.measured())
		if err != nil {
			return nil, err
		}
		c.sigma = math.Hypot(e.Sigma, c.compressed.Noise)
	}
	if err := c.seeLight(ctx, &p, kernel); err != nil {
		return nil, err
	}
	m, ok, err := estimate.Check(ctx, p.planes.Pix, p.planes.Channels, p.planes.Height, p.planes.Width, kernel, max(c.sigma, strength.MinSigma), c.threads)
	if err != nil || !ok {
		return nil, err
	}
	switch {
	case m.Given*m.Given > inverseBetter*m.Inverse*m.Inverse:
		return []Doubt{{Text: "kernel: it seems to be inverted, dark on bright: the weights have to be bright on black"}}, nil
	case m.Likeness < foreign:
		return []Doubt{{ForeignKernel, fmt.Sprintf("kernel: the photograph suggests another one (similarity %.2f of 1)", m.Likeness)}}, nil
	case m.Given*m.Given > turnedBetter*m.Turned*m.Turned:
		doubt := Doubt{Text: fmt.Sprintf("kernel: %s it fits the photograph better", m.Orientation)}
		if m.Orientation == estimate.HalfTurn {
			doubt.Kind = TurnedKernel
		}
		return []Doubt{doubt}, nil
	}
	return nil, nil
}
