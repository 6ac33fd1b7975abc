package backend

// Term is one summand a·X of a linear combination.
type Term struct {
	A float32
	X Buffer
}

// MaxTerms is the largest number of terms of a LinearCombination.
const MaxTerms = 4

// MaxMixed is the largest number of channels, in and out, of MixChannels.
const MaxMixed = 16

// Reduction is one sum over all elements of X, and of Y if the kind needs it.
type Reduction struct {
	Kind ReductionKind
	X, Y Buffer
}

// ReductionKind is what a Reduction sums up.
type ReductionKind uint8

const (
	// Dot is Σ xᵢ·yᵢ.
	Dot ReductionKind = iota
	// SumSquares is Σ xᵢ².
	SumSquares
	// DiffSquares is Σ (xᵢ − yᵢ)².
	DiffSquares
)

// Vectors are the operations on whole arrays.
type Vectors interface {
	// Fill sets every element to v.
	Fill(dst Buffer, v float32) error
	// LinearCombination sets dst to Σ aₖ·Xₖ over one to MaxTerms terms. dst may
	// be one of the Xₖ. A coefficient of 0 still multiplies: 0·NaN is NaN. One
	// term with a = 1 is a copy.
	LinearCombination(dst Buffer, terms ...Term) error
	// Multiply sets dst to the product of x and y, element by element, each rounded once.
	// dst may be x, y or both. 0·NaN is NaN, and so is 0·∞.
	Multiply(dst, x, y Buffer) error
	// Clip sets dst to min(max(src, lo), hi), the projection onto the box
	// [lo, hi]ⁿ; NaN stays NaN. lo ≤ hi. dst may be src.
	Clip(dst, src Buffer, lo, hi float32) error
	// MixChannels sets dst[n,i] = Σⱼ m[i·C+j]·src[n,j] for every batch entry,
	// where C = src.Shape().C, and m has dst.Shape().C rows and C columns. dst may
	// be src if their channel counts agree. At most MaxMixed channels.
	MixChannels(dst, src Buffer, m []float32) error
	// Reduce waits and stores the value of rs[k] in out[k]. Products and sums are computed in float64, in an
	// order that depends on the shape only. One call is one round trip to the device. X and Y of one
	// reduction have the same shape; reductions may differ.
	Reduce(out []float64, rs ...Reduction) error
	// Gaussian sets dst[i] = float32(mean + float32(std·gᵢ)), where g are
	// independent standard normal numbers that depend only on seed and the index
	// i: the same bits on every device (see GaussianAt). mean must be finite, std
	// finite and at least 0.
	Gaussian(dst Buffer, seed uint64, mean, std float32) error
}
