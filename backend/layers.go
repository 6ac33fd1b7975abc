package backend

import "context"

// LayerKind is what a Layer does.
type LayerKind uint8

const (
	// ConvolutionLayer is z ← activation(Az + b).
	ConvolutionLayer LayerKind = iota
	// ResidualLayer is a residual block, z ← z + C·activation(Az + b) + c.
	ResidualLayer
	// DownLayer stores z for an UpLayer and continues with half the rows and columns, z ← A·unshuffle(z) + b:
	// 2×2 pixels become channels (Shuffles), and a 1×1 convolution A mixes these.
	DownLayer
	// UpLayer is the reverse, z ← k + shuffle(Az + b), where A is a 1×1 convolution and k is the array that
	// the last DownLayer stored. With From f it is z ← z + shuffle(Af + b).
	UpLayer
)

// Layer is one layer of a network.
type Layer struct {
	Kind       LayerKind
	Filter     Filter     // A
	Bias       Buffer     // b, one number per output channel of A, or nil
	Activation Activation // of a ConvolutionLayer or a ResidualLayer
	Second     Filter     // C of a ResidualLayer
	SecondBias Buffer     // c, or nil
	// From, if not nil, is the coarse array f of an UpLayer. It is read from row Y and column X on, with half
	// as many rows and columns as z, rounded up.
	From Buffer
	Y, X int
}

// Layered computes layers of networks in one call. A device need not store the arrays between them as
// buffers.
type Layered interface {
	// ApplyLayers sets a part of dst to region of the layers' result. The part has the size of region and
	// begins at row y and column x. The layers are applied to the window of src as to an image of its own,
	// with zeros beyond its frame; its first row and column are those of the ConvolutionGrid. Arrays of a
	// DownLayer without an UpLayer are dropped. dst shares no memory with src or with another buffer of the
	// layers. After ctx.Err() is an error the call stops soon and returns it, and the part of dst is
	// undefined.
	ApplyLayers(ctx context.Context, dst Buffer, y, x int, region Region, src Buffer, window Region, layers []Layer) error
}
