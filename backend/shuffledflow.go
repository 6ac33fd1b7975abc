package backend

import "context"

// ShuffledFlows make a GradientFlow of an image of pixels shuffled into channels without storing that image,
// and read radii of one byte each. They are for large images. The result has the same bits as Unshuffle,
// GradientFlow and Shuffle. A device may not have them.
type ShuffledFlows interface {
	// MakesShuffledFlow tells whether ShuffledFlow takes the steps, with radii or, if radii is nil, with
	// their own. It reads only the shapes of filters and radii. It is false for a device without
	// ShuffledFlow.
	MakesShuffledFlow(steps []FlowStep, radii []CodedRadii) bool
	// ShuffledFlow sets dst = Uᵀ·Ψ(U·src), where U is Unshuffle by factor and Ψ are the steps, for a whole
	// image. Unless radii is nil, radii[k] replaces the Radius of step k. dst and src share no memory. After
	// ctx.Err() is an error the call stops soon and returns it, and dst is undefined.
	ShuffledFlow(ctx context.Context, dst, src Buffer, factor int, steps []FlowStep, radii []CodedRadii) error
}

// CodedRadii are radii of a projection onto balls (BallProjections) for every pixel, one byte each.
type CodedRadii struct {
	Shape  Shape          // N×groups×H×W
	Codes  []uint8        // of the shape
	Tables [][256]float32 // for each group, the radius of each code, at least 0
}
