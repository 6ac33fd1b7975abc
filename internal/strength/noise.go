package strength

import "math"

// AlongBrightness returns the standard deviation along the axis of brightness, (1,…,1)/√n, of
// noise that is sigma in each of n equal channels: √n·sigma. So a grey image meets a prior of
// colour images, which knows noise that is as strong along all axes.
func AlongBrightness(sigma float64, n int) float64 { return sigma * math.Sqrt(float64(n)) }

// forChannels applies a rule for the weight of total variation of three channels to images of
// one or three. The axis of brightness of three equal channels is √3 times one of them, and so
// is its noise: total variation of both is the same problem at another scale.
func forChannels(channels int, sigma float64, rule func(sigma float64) float64) float64 {
	if channels == 1 {
		return rule(AlongBrightness(sigma, 3)) / AlongBrightness(1, 3)
	}
	return rule(sigma)
}

// Gradients are the lengths of an image's gradients, between blocks of GradientSide² pixels for
// DenoiseFactor, and between pixels for DeblurFactor.
type Gradients struct{ Mean, Median float64 }

// GradientSide is the side of the blocks of DenoiseFactor.
const GradientSide = 2

// limited keeps a factor that is given by its logarithm within its limits, exp(±maxFactor).
func limited(log float64) float64 { return math.Exp(min(max(log, -maxFactor), maxFactor)) }
