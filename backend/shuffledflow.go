package backend

import "context"

// ShuffledFlows make a GradientFlow of an image of pixels shuffled into channels without storing that
// image, and read radii that take a byte each. They are for large images: the result has the bits that
// Unshuffle, GradientFlow and Shuffle give. A device may not have them.
type ShuffledFlows interface {
	// MakesShuffledFlow tells whether ShuffledFlow takes the steps, with radii or, where radii is nil, with
	// their own. It looks at the shapes of filters and radii only. Of a device without ShuffledFlow it is
	// false.
	MakesShuffledFlow(steps []FlowStep, radii []CodedRadii) bool
	// ShuffledFlow sets dst = Uᵀ·Ψ(U·src), where U is Unshuffle by factor and Ψ are the steps, of a whole
	// image. Step k has radii[k] in the place of its Radius, unless radii is nil. dst and src share no
	// memory. Once ctx.Err() is an error the call stops soon, with this error, and dst is undefined.
	ShuffledFlow(ctx context.Context, dst, src Buffer, factor int, steps []FlowStep, radii []CodedRadii) error
}

// CodedRadii are radii of a projection onto balls (BallProjections), for every pixel, in a byte each.
type CodedRadii struct {
	Shape  Shape          // N×groups×H×W
	Codes  []uint8        // of the shape
	Tables [][256]float32 // the radii that the codes of each group stand for, 0 or more
}
