package deblur

import (
	"math"
	"slices"
)

// OffCentre returns how far the kernel's centre of mass is from its centre, in samples downward and to the
// right. The blur moves the image by as much. The weights must not sum to 0.
func (k Kernel) OffCentre() (dy, dx float64) {
	sum := 0.0
	for i, v := range k.Weights {
		sum += float64(v)
		dy += float64(v) * float64(i/k.W-k.CY)
		dx += float64(v) * float64(i%k.W-k.CX)
	}
	return dy / sum, dx / sum
}

// Centred returns the kernel with its centre on the sample nearest to its centre of mass. If no weight is
// negative, that sample is inside the kernel.
func (k Kernel) Centred() Kernel {
	dy, dx := k.OffCentre()
	k.Weights = slices.Clone(k.Weights)
	k.CY = min(max(k.CY+int(math.Round(dy)), 0), k.H-1)
	k.CX = min(max(k.CX+int(math.Round(dx)), 0), k.W-1)
	return k
}

// Turned returns the kernel turned by 180 degrees about its centre. It turns the kernel of a correlation into
// that of the convolution.
func (k Kernel) Turned() Kernel {
	k.Weights = slices.Clone(k.Weights)
	slices.Reverse(k.Weights)
	k.CY, k.CX = k.H-1-k.CY, k.W-1-k.CX
	return k
}
