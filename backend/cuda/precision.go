package cuda

import "fmt"

// Precision says what convolutions with 3×3 filters are made of. Sums are in float32 in
// all of them.
type Precision uint8

const (
	// Float32 is as accurate as sums of float32 products, with a relative error of about
	// 1e-6, on tensor cores where there are some.
	Float32 Precision = iota
	// TF32 rounds factors to 10 bits after the binary point, a relative error of up to 2⁻¹¹,
	// and keeps the range of float32.
	TF32
	// Half rounds factors to half precision: as accurate as TF32 between 6e-5 and 65504, less
	// below, and infinite above. Images have values around 1.
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

// tensorCores is the least compute capability whose tensor cores the kernels use.
const tensorCores = 80
