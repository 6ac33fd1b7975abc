package backend

// BallProjections are an activation of several channels at once. With R radii for C channels, R a divisor of
// C, the C/R consecutive channels of group g at a pixel are a vector v. It is projected onto the ball of
// radius[g] around 0:
//
//	P(v) = v · min(1, radius[g]/‖v‖).
//
// A projection onto a closed convex set is firmly nonexpansive. It is the gradient of a convex function,
// ½‖v‖² − ½dist(v, ball)², which is Huber's function of ‖v‖. With groups of one channel it is a clip to
// [−radius, radius]. Inside the ball and on the sphere P(v) is v to the bit.
//
// The radii are a vector of R numbers, one for each group, or a map. A map is an array of R channels with the
// batch and the pixels of the source, and radius[n,g,y,x] is that of group g at this pixel of this image. P
// is then a projection onto a product of balls, which is convex as well. Radii must be finite and at least 0,
// and squared norms of vectors must fit a float32 (numbers up to 1e19); otherwise the result is undefined.
// Norms below 1e-19 may have few correct bits. A NaN in a group makes the whole group NaN.
type BallProjections interface {
	// ProjectBalls sets dst to the projection of src. dst may be src.
	ProjectBalls(dst, src, radius Buffer) error
	// ProjectBallsGradient is the backward pass. It sets dst = P'(src)·dy and dradius = beta·dradius + ∂⟨dy,
	// P(src)⟩/∂radius, which has the shape of radius; for a vector it is summed over batch and pixels. P' is
	// symmetric. On the sphere itself it is the identity, as inside. With beta = 0 the old dradius is not
	// read. dst may be dy.
	ProjectBallsGradient(dst, dradius, src, dy, radius Buffer, beta float32) error
}
