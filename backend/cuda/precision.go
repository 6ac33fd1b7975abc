package cuda

import "fmt"

// Precision is the precision of convolutions with 3×3 filters. Sums are in float32 in all of them.
//
// Tensor cores cut off what lies below the largest product of a group and round each result toward zero, so
// their own sums lose accuracy with every group. The relative errors below, of norms, are those of the
// published models of an A100's and an H100's tensor cores (arXiv 2512.07004), for 64 channels and for
// gradients over 4096 pixels. A real H100 gave the same bits as its model.
type Precision uint8

const (
	// Float32 is as accurate as sums of float32 products: 3e-7 for a convolution and 5e-7 for a gradient. If
	// there are tensor cores, they add three products at a time, and ordinary additions do the rest.
	Float32 Precision = iota
	// TF32 rounds factors to 10 bits after the binary point and keeps the range of float32. The error is up
	// to 2⁻¹¹ for each factor and 4e-4 in total. Tensor cores make the sums, which adds up to 7e-6 to a
	// convolution and 5e-5 to a gradient if all products have one sign.
	TF32
	// Half rounds factors to half precision: as accurate as TF32 between 6e-5 and 65504, less below, and
	// infinite above. Images have values around 1. Gradients of filters use bfloat16, which has the range of
	// float32 and 7 bits after the binary point. Its error is up to 2⁻⁸ for each factor and 3e-3 in total.
	Half
)

func (p Precision) String() string {
	switch p {
	case Float32:
		return "float32"
	case TF32:
		return "TF32"
	case Half:
		return "half"
	}
	return fmt.Sprintf("Precision(%d)", uint8(p))
}

// The least compute capabilities, times ten: that kernels are made for, and whose tensor cores
// they use.
const (
	oldestGPU   = 70
	tensorCores = 80
)
