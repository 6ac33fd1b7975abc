package vulkan

import "fmt"

// Precision is the precision of convolutions with 3×3 filters. Sums are in float32 in all of them.
type Precision uint8

const (
	// Float32 is as accurate as sums of float32 products.
	Float32 Precision = iota
	// Half rounds factors to half precision: weights, and the numbers of images and layers. A relative error
	// is up to 2⁻¹¹ for each factor, or 2⁻¹⁰ where a driver cuts digits off, between 6e-5 and 65504; numbers
	// are less accurate below and infinite above. Images have values around 1. Weights and the layers inside
	// of a gradient flow take half of the memory. All devices have it, since a shader packs two numbers into
	// a word and unpacks them without arithmetic in half precision.
	Half
)

func (p Precision) String() string {
	switch p {
	case Float32:
		return "float32"
	case Half:
		return "half"
	}
	return fmt.Sprintf("Precision(%d)", uint8(p))
}
