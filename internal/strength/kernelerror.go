package strength

import "math"

// A kernel is never exact: it was measured, or estimated, or is the same all over the frame by
// assumption only. What the true image gives under the kernel therefore misses the photograph by more
// than the noise, and the difference acts as noise does. kernelError is its share of the photograph's
// contrast, the standard deviation of its samples: 32 photographs of real shakes with measured kernels
// (Levin et al., 2009) are missed by 0.0053 at a contrast of about a quarter.
const kernelError = 0.018

// Disturbance returns what deblurring has to expect besides what a kernel of energy ‖k‖² says: noise of
// an estimated standard deviation sigma, and the kernel's error, which is none where nothing is blurred.
// Their fourth powers are added, so that the error counts only where there is less noise than it: noise
// of 2.55 of 255 becomes 2.6.
func Disturbance(sigma, energy, contrast float64) float64 {
	e := kernelError * contrast * math.Sqrt(max(1-energy, 0))
	return math.Sqrt(math.Hypot(sigma*sigma, e*e))
}
