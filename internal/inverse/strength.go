package inverse

import (
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/tv"
)

// Coupling is the coupling of total variation in an iteration.
func Coupling(channels int) tv.Coupling {
	if channels == 1 {
		return tv.PerChannel()
	}
	return tv.Opponent(strength.IterationChroma)
}

// PriorStrength is how strong the two kinds of prior are to be, before Strength.
type PriorStrength struct {
	Level  func(sigma float64) float64 // noise level that a network is for, given the noise that it meets (networks.Choice.AxisNoise)
	Guided func(sigma float64) float64 // the same for one with a guide
	Weight float64                     // λ of total variation in ½‖Kx − y‖² + λ·TV(x)
}

// Inpainting is that of inpaint, for noise of standard deviation sigma.
func Inpainting(sigma float64, channels int) PriorStrength {
	return PriorStrength{Level: strength.InpaintLevel, Guided: strength.GuidedInpaintLevel, Weight: strength.InpaintWeight(sigma, channels)}
}

// Upscaling is that of upscale.
func Upscaling(sigma float64, factor, channels int) PriorStrength {
	return PriorStrength{
		Level:  func(sigma float64) float64 { return strength.UpscaleLevel(sigma, factor) },
		Guided: func(sigma float64) float64 { return strength.GuidedUpscaleLevel(sigma, factor) },
		Weight: strength.UpscaleWeight(sigma, factor, channels),
	}
}

// Solving is that of any operator with a norm.
func Solving(sigma, norm float64, channels int) PriorStrength {
	return PriorStrength{
		Level:  func(sigma float64) float64 { return strength.SolveLevel(sigma, norm) },
		Guided: func(sigma float64) float64 { return strength.GuidedSolveLevel(sigma, norm) },
		Weight: strength.SolveWeight(sigma, norm, channels),
	}
}
