package strength

import "math"

// The noise levels that a network with a guide is used for in the two runs of an iteration, of
// which each has the radii that its guide gives to the data step's image. They are about half of
// what a network without a guide wants in its two runs (tworuns.go in restore), since the second
// of those is for a photograph that has the residual twice. A factor on the radii says the same
// as another level, and stays 1. All are fitted to photographs of BSDS500's val with the network
// guided (docs/notebook/guided-iterations.md), where 0.8 and 1.2 times as much were worse or within 0.05 dB, and are
// smooth in σ.

// GuidedDeblurLevel returns the level for deblurring by proximal steps: half of DeblurLevel, and more of it
// where there is more noise, up to a tenth from 17.85 of 255 on. It is tuned under camera shakes at noise of
// 2.55, 7.65, 12.75 and 17.85 of 255, with the step of GuidedDeblurStep and the network original.
func GuidedDeblurLevel(sigma, energy, step float64) float64 {
	more := min(max(math.Pow(sigma/(2.55/255), 0.05), 1), 1.1)
	return 0.5 * more * DeblurLevel(sigma, energy, step)
}

// GuidedDeblurStep returns τ‖K‖² of the proximal step that deblurring by a network with a guide takes for noise
// of standard deviation sigma, at least 0: DeblurStep up to 7.65 of 255, and less where there is more noise, down
// to half of it from 18 of 255 on. By σ·√step the network is then for less noise, and asked more often.
func GuidedDeblurStep(sigma float64) float64 {
	return DeblurStep * min(max(math.Pow(7.65/255/sigma, 0.8), 0.5), 1)
}

// GuidedInpaintLevel returns the level for filling missing pixels by gradient steps. It is tuned
// with half and four fifths of the pixels missing at random, and with strokes as of writing,
// without noise and with 0.05.
func GuidedInpaintLevel(sigma float64) float64 { return math.Hypot(0.019, 0.68*sigma) }

// GuidedUpscaleLevel returns the level for enlarging by gradient steps. It is tuned on photographs
// scaled down by 2, 3 and 4 with the bicubic kernel, without noise and with 0.02 and 0.05.
func GuidedUpscaleLevel(sigma float64, factor int) float64 {
	return math.Hypot(0.012, 0.6*float64(factor)*sigma)
}

// GuidedSolveLevel returns the level for an operator of which no more is known than a bound above
// 0 of its norm: between those of inpainting and upscaling, as SolveLevel is.
func GuidedSolveLevel(sigma, norm float64) float64 { return math.Hypot(0.015, 0.64*sigma/norm) }
