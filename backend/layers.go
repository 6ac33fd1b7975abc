package backend

import "context"

// LayerKind names what a Layer does.
type LayerKind uint8

const (
	// ConvolutionLayer is z ← activation(Az + b).
	ConvolutionLayer LayerKind = iota
	// ResidualLayer is a residual block, z ← z + C·activation(Az + b) + c.
	ResidualLayer
	// DownLayer keeps z for an UpLayer and goes on with half the rows and columns,
	// z ← A·unshuffle(z) + b: 2×2 pixels become channels (Shuffles), which a 1×1
	// convolution A mixes.
	DownLayer
	// UpLayer is the way back, z ← k + shuffle(Az + b), where A is a 1×1 convolution and k
	// what the last DownLayer kept, or z itself where From takes the place of z in the sum.
	UpLayer
)

// Layer is one of a network.
type Layer struct {
	Kind       LayerKind
	Filter     Filter     // A
	Bias       Buffer     // b, one number per output channel of A, or nil
	Activation Activation // of a ConvolutionLayer or a ResidualLayer
	Second     Filter     // C of a ResidualLayer
	SecondBias Buffer     // c, or nil
	// From, of an UpLayer, is what is added to z in the place of what a DownLayer kept, from
	// row Y and column X on: as many pixels as z has, halved and rounded up.
	From Buffer
	Y, X int
}

// Layered computes layers of networks in one call, in which a device need not store what is between
// as buffers.
type Layered interface {
	// ApplyLayers sets a part of dst, of the size of region, from row y and column x on, to
	// that region of the layers' result. They are applied to the window of src as to an
	// image of its own, with zeros beyond its frame; its first row and column are those of
	// the ConvolutionGrid. What was kept and not used is lost. dst shares no memory with
	// src or with another buffer of the layers. Once ctx.Err() is an error the call stops
	// soon, with this error, and the part of dst is undefined.
	ApplyLayers(ctx context.Context, dst Buffer, y, x int, region Region, src Buffer, window Region, layers []Layer) error
}
