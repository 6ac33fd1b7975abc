package deblur

import (
	"math"
	"slices"
)

// OffCentre returns how far the kernel's centre of mass is from its centre, in samples downward and
// to the right: so far does the blur move the image. The weights must have a sum
// other than 0.
func (k Kernel) OffCentre() (dy, dx float64) {
	sum := 0.0
	for i, v := range k.Weights {
		sum += float64(v)
		dy += float64(v) * float64(i/k.W-k.CY)
		dx += float64(v) * float64(i%k.W-k.CX)
	}
	return dy / sum, dx / sum
}

// Centred returns the kernel with the sample as its centre that is nearest to its centre of mass. Of
// a kernel whose weights are not negative that is inside it.
func (k Kernel) Centred() Kernel {
	dy, dx := k.OffCentre()
	k.Weights = slices.Clone(k.Weights)
	k.CY = min(max(k.CY+int(math.Round(dy)), 0), k.H-1)
	k.CX = min(max(k.CX+int(math.Round(dx)), 0), k.W-1)
	return k
}

// Turned returns the kernel turned by 180 degrees about its centre: where a blur was written as a
// correlation, this is the kernel of the convolution.
func (k Kernel) Turned() Kernel {
	k.Weights = slices.Clone(k.Weights)
	slices.Reverse(k.Weights)
	k.CY, k.CX = k.H-1-k.CY, k.W-1-k.CX
	return k
}
