package devicekit

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// Kernels is what a device has to bring: New makes a backend.Device of it. M is what the device calls
// its memory by, such as a slice or a pointer with its block; F is a filter that it has prepared.
//
// New's device checks all arguments first. What arrives here belongs to this device and is not freed,
// the device is not closed, shapes fit together, numbers are in their ranges, and memory that is
// written shares nothing with a source, unless package backend allows that the two are the same: then
// both have the same Data. A filter knows its own shape. Methods are called one at a time, unless New
// is told that they may be called at the same time. An error wraps one of package backend's where one
// of them says what is wrong.
//
// What else a device does well is in the interfaces below. A device without them does the same by the
// methods of Kernels; of Gradients alone it says backend.ErrUnsupported.
type Kernels[M, F any] interface {
	// Description, Sync, Close and ConvolutionGrid are those of backend.Device. Close is called
	// once.
	Description() backend.Description
	Sync() error
	Close() error
	ConvolutionGrid() int

	// Alloc returns memory for s.Len() numbers, all zero.
	Alloc(s backend.Shape) (M, error)
	// Free gives memory of Alloc back, after the work that is on the stream. It is called once for
	// each, and not after Close.
	Free(m M)
	// View returns count numbers of memory from the number offset on. It is not freed.
	View(m M, offset, count int) M

	// The methods with names of backend.Device's do what is said there.
	CopyRegion(dst Array[M], y, x int, src Array[M], r backend.Region) error
	Upload(dst Array[M], src []float32) error
	Download(dst []float32, src Array[M]) error

	Fill(dst Array[M], v float32) error
	LinearCombination(dst Array[M], terms []Term[M]) error
	Multiply(dst, x, y Array[M]) error
	Clip(dst, src Array[M], lo, hi float32) error
	Reduce(out []float64, rs []Reduction[M]) error

	Unshuffle(dst, src Array[M], factor int) error
	Shuffle(dst, src Array[M], factor int) error
	ProjectBalls(dst, src, radius Array[M]) error

	NewFilter(w Array[M]) (F, error)
	UpdateFilter(f F, w Array[M]) error
	// FreeFilter is Free of what NewFilter returned.
	FreeFilter(f F)
	Convolve(dst, src Array[M], f F, end ConvEnd[M]) error
	ConvolveAdjoint(dst, src Array[M], f F, beta, scale float32) error
}

// Array is an operand: memory with the shape of what is in it.
type Array[M any] struct {
	Shape backend.Shape
	Data  M
}

// Term is a backend.Term.
type Term[M any] struct {
	A float32
	X Array[M]
}

// Reduction is a backend.Reduction. Y is X where the kind needs no Y.
type Reduction[M any] struct {
	Kind backend.ReductionKind
	X, Y Array[M]
}

// ConvEnd is a backend.ConvEnd.
type ConvEnd[M any] struct {
	Bias       *Array[M] // or nil
	Activation backend.Activation
}

// Gaussians is for kernels that make normal numbers on the device. Others get them by Upload.
type Gaussians[M any] interface {
	Gaussian(dst Array[M], seed uint64, mean, std float32) error
}

// Mixings is for kernels that mix channels. Others do it by linear combinations of channels.
type Mixings[M any] interface {
	MixChannels(dst, src Array[M], m []float32) error
}

// Gradients is for kernels that training needs.
type Gradients[M any] interface {
	FilterGradient(dw, x, dy Array[M], beta, scale float32) error
	BiasGradient(db, dy Array[M], beta float32) error
	ActivationGradient(dst, out, dy Array[M], a backend.Activation) error
	ProjectBallsGradient(dst, dradius, src, dy, radius Array[M], beta float32) error
}

// TotalVariations is for kernels of the steps of the ROF model. Others make them of convolutions and
// projections.
type TotalVariations[M any] interface {
	TVIterate(u, p, y Array[M], problem backend.TVProblem, step backend.TVStep) error
	TVPrimal(u, p, y Array[M], step float32) error
}

// TotalVariationValues is for kernels that evaluate the duality gap. For others the host does.
type TotalVariationValues[M any] interface {
	TVEvaluate(u, p, y Array[M], problem backend.TVProblem) (backend.TVValue, error)
}

// Blurs is for kernels that blur. Others blur on the host.
type Blurs[M any] interface {
	// NewBlur prepares a blur; the specification is right, and its kernel is a copy.
	NewBlur(spec backend.BlurSpec) (Blur[M], error)
}

// SomeBlurs is for Blurs that leave some to the host, or that make those that vary, which the host makes for others.
type SomeBlurs interface {
	// MakesBlur tells whether NewBlur is to prepare a blur.
	MakesBlur(spec backend.BlurSpec) bool
}

// Blur is a prepared blur.
type Blur[M any] interface {
	Method() backend.BlurMethod
	Apply(dst, src Array[M]) error
	ApplyAdjoint(dst, src Array[M]) error
	// Free is called as that of memory.
	Free()
}

// Flows is for kernels with a fused gradient flow. Others make it one layer after the other.
type Flows[M, F any] interface {
	// MakesFlow tells whether GradientFlow takes the steps, or whether they go one layer after the
	// other. It looks at filters and at the shapes of radii only.
	MakesFlow(steps []FlowStep[M, F]) bool
	GradientFlow(ctx context.Context, dst, src Array[M], region backend.Region, steps []FlowStep[M, F]) error
}

// FlowStep is a backend.FlowStep.
type FlowStep[M, F any] struct {
	Filter       F
	Bias, Radius *Array[M] // or nil
	Activation   backend.Activation
	Size         float32
	Tableau      backend.Tableau
}

// ShuffledFlows is for kernels that make a gradient flow of an image of pixels shuffled into channels.
// Others say that they do not make it.
type ShuffledFlows[M, F any] interface {
	MakesShuffledFlow(steps []FlowStep[M, F], radii []backend.CodedRadii) bool
	ShuffledFlow(ctx context.Context, dst, src Array[M], factor int, steps []FlowStep[M, F], radii []backend.CodedRadii) error
}

// AdjointSums is for kernels that add an adjoint to another array than that which they write. Others
// copy first.
type AdjointSums[M, F any] interface {
	// AddAdjoint sets dst = start + scale·Aᵀ·src. dst shares no memory with start.
	AddAdjoint(dst, start, src Array[M], f F, scale float32) error
}

// Layerings is for kernels that compute layers without storing what is between. Others make one after
// the other.
type Layerings[M, F any] interface {
	// MakesLayers tells whether ApplyLayers takes the layers. It looks at filters only.
	MakesLayers(layers []Layer[M, F]) bool
	ApplyLayers(ctx context.Context, dst Array[M], y, x int, region backend.Region, src Array[M], window backend.Region, layers []Layer[M, F]) error
}

// Layer is a backend.Layer.
type Layer[M, F any] struct {
	Kind             backend.LayerKind
	Filter           F
	Bias             *Array[M] // or nil
	Activation       backend.Activation
	Second           F
	SecondBias, From *Array[M] // or nil
	Y, X             int
	// Before and After are the shapes of the image that the layer is applied to, and of what it
	// makes of it.
	Before, After backend.Shape
}
