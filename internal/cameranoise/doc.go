// Package cameranoise simulates what a colour camera makes of a scene: noise that is
// correlated between pixels and colours, that depends on brightness, and that was
// compressed, as in photographs and unlike in white Gaussian noise.
//
// The scene is a clean photograph, taken back to what fell on the sensor ("unprocessed":
// Brooks, Mildenhall, Xue, Chen, Sharlet and Barron 2019, "Unprocessing images for learned
// raw denoising"). From there the steps are those of a camera:
//
//	reduction       the scene, made sharper than the sensor by averaging pixels
//	inverse tone    S-curve and sRGB's gamma undone: linear light
//	inverse colour  the matrix and the white balance undone: light behind the colour filters
//	exposure        the light that the sensor gets
//	mosaic          each pixel keeps one of three colours (Bayer)
//	noise           Poisson of the light, Gaussian of the reading, also of whole rows
//	digits          clipped at black and white, 10 to 14 bits
//	development     white balance, demosaicking, matrix, gamma and S-curve
//	retouching      smoothing of brightness and colour, sharpening
//	resizing        by area, bicubic or by leaving pixels out
//	JPEG            any number of times, with subsampled colour
//
// Camera.Apply is all of it, Camera.Clean all but noise, digits and JPEG: what a restored
// photograph is to be compared with, since development alone changes a picture too.
//
// The noise of a sensor that is lit with x, where 1 saturates it, has variance λs·x + λr
// (Foi, Trimeche, Katkovnik and Egiazarian 2008, "Practical Poissonian-Gaussian noise
// modeling and fitting for single-image raw-data"). λs is one over the number of electrons
// at saturation, which is inverse to ISO. λr follows λs as Brooks et al. found on real
// cameras (section 3.1): log λr is normal around 2.18 log λs + 1.2 with deviation 0.26.
//
// Everything is a function of its arguments, to the bit, on every processor: randomness is
// backend.GaussianAt and UniformAt at the number of the pixel, and products are rounded before
// they are added, because Go may fuse them otherwise. Nothing is shared but buffers in a
// sync.Pool, so that calls may run at the same time.
package cameranoise
