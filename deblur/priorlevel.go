package deblur

import "github.com/averaged/imaging/internal/strength"

// PriorLevel returns the noise level for which the denoiser after a proximal step with τ‖K‖² = step is to
// work, when deblurring a photograph with noise of standard deviation sigma:
//
//	1.08·√step·σ·(1 − 0.3·min(‖k‖₂², 1)).
//
// Half-quadratic splitting has √τ·σ. The rule is fitted to photographs under camera shake at noise of 2.55 to
// 17.85 of 255, for step from 5 to 20.
func PriorLevel(sigma float64, kernel Kernel, step float64) float64 {
	return strength.PriorLevel(sigma, kernel.Energy(), step)
}
