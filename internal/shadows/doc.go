// Package shadows finds by how much noise has darkened a photograph, and the curve that mends it.
//
// The noise of a sensor is in linear light, where its mean is zero. A camera's tone curve f is concave, so
// that what comes out is darker than without noise: of noise n with standard deviation σ in a light u,
// limited at black,
//
//	E f(max(u+n, 0)) ≈ f(u) + ½·f″(u)·σ²,
//
// which in the shadows of a noisy photograph is as much as a tenth of the brightness, in all of them. A
// denoiser estimates the mean of what it sees, and keeps the shift.
//
// With f(u) = u^(1/γ) the ratio of what comes out, its standard deviation over its mean, says all: it
// determines σ/u, and with it the ratio of f(u) to the mean, and the skewness (model). So for each channel and
// brightness the noise that a denoiser has taken away gives the shift. That the noise has come through a tone
// curve at all shows in its skewness: negative, and the more so the darker it is. Noise that was added to a
// finished picture has none, nor has what a camera has smoothed after its tone curve; these are left as they
// are.
//
// The curve is a function of each sample alone. It leaves black where it is, and rises everywhere (Curve.Slope).
// It is no nonexpansive map: two images differ after it by up to Slope times as much.
package shadows
