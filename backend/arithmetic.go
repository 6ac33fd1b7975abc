package backend

// Arithmetic is the statement of a device about how it computes, so that bounds of its rounding errors can be
// proven. It is optional: nothing is claimed of a device without it.
//
// A device with it computes in float32 of IEEE 754, rounds to nearest and keeps subnormal numbers: an
// operation has a relative error of at most 2⁻²⁴, or an absolute one of at most 2⁻¹⁵⁰ if its result is
// subnormal. A product may be fused with the addition that follows. A sum is made one term after the other,
// in the stated order. LinearCombination and MixChannels round each product and each sum.
type Arithmetic interface {
	// ConvolutionAlgorithm returns how a convolution with a filter of shape (Out, In, KH, KW), and its
	// adjoint, is computed, also inside GradientFlow.
	ConvolutionAlgorithm(filter Shape) ConvolutionAlgorithm
	// BlurRounding returns a number r that bounds the rounding errors of ApplyBlur and ApplyBlurAdjoint: in
	// the Euclidean norm over all elements, they are at most r times the norm of the source, and
	// BlurUnderflow·(1+r) times the root of the number of elements more, for products that underflow.
	BlurRounding(k Blur) (r float64, err error)
}

// BlurUnderflow·(1+r) is more than what underflow adds to an element of a blur, root mean square. Each product is off
// by 2⁻¹⁵⁰ at most. Sums have up to 2³² of them, for the largest kernels on the smallest images. Transforms of N samples
// have 2⁸ for each sample, √N ≤ 2¹³ times as large at the end, and the spectrum of the kernel Σ|k| ≤ 2²²·r times.
const BlurUnderflow = 0x1p-100

// ConvolutionAlgorithm is how a convolution is computed. The zero value is the definition: a sum over input
// channels, in each of them over rows, in each of them over columns, or any order within one channel.
type ConvolutionAlgorithm struct {
	// Tiles, if not nil, is the fast algorithm on tiles that is used instead of the definition.
	Tiles *TileAlgorithm
}

// TileAlgorithm is Winograd's algorithm in two dimensions: with W the filter of a pair of
// channels, D a patch of the input and Y a tile of the output,
//
//	Y = Output [ Σ over input channels of (Filter·W·Filterᵀ) ⊙ (Input·D·Inputᵀ) ] Outputᵀ.
//
// Filters are transformed with a relative error of at most 2⁻²⁴ in each element, and the sum
// is made in the order of the channels.
type TileAlgorithm struct {
	Input  [][]float64 // Patch rows of Patch numbers: Bᵀ
	Filter [][]float64 // Patch rows of as many numbers as a filter has rows: G
	Output [][]float64 // Tile rows of Patch numbers: Aᵀ
	// InputRoundings and OutputRoundings are the largest number of roundings that a term
	// passes through in one multiplication with a row of Input and of Output.
	InputRoundings, OutputRoundings int
}
