package restore

import "github.com/averaged/imaging/internal/shadows"

// Shadows says whether Denoise mends the shadows of photographs, where it estimates the noise level itself and
// the denoiser is not the caller's own (Prior, PriorFunc). It does by default.
//
// The noise of a sensor goes through the camera's tone curve, which is concave, and what comes out is
// darker than without noise: in the shadows of a noisy photograph by a tenth. A denoiser keeps that. Where
// the noise that was taken away shows it by its skewness, a curve for each channel raises the result by as
// much (Report.Noise.Shadows). White noise that was added to a finished picture is not skewed, and nothing
// changes.
//
// The curve comes after the network, and is not part of what is proven of it: Shadows(false), or a noise
// level that is given, leaves it out.
func Shadows(on bool) Option {
	return option{"Shadows", func(c *settings) error {
		c.shadows = on
		return nil
	}}
}

// ShadowReport is about the curves that have mended the shadows of a photograph, a function of each
// sample alone.
type ShadowReport struct {
	// Raised is the most that was added to a sample, in units of the full intensity range.
	Raised float64
	// Slope is the greatest slope of a curve, 1 to 1.5: two images that the denoiser leaves so far apart, with
	// these curves, are at most Slope times as far apart in the end.
	Slope float64
}

// mendShadows mends in out, what became of p, what noise has darkened.
func (c settings) mendShadows(p *Planar, out []float32, report *Report) {
	if !c.shadows || c.prior != nil || report.Noise.Estimate == nil {
		return
	}
	mended := ShadowReport{Slope: 1}
	for _, curve := range shadows.Mend(p.Pix, out, p.Channels) {
		mended.Raised, mended.Slope = max(mended.Raised, curve.Raised()), max(mended.Slope, curve.Slope())
	}
	if mended.Raised > 0 {
		report.Noise.Shadows = &mended
	}
}
