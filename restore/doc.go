// Package restore removes noise and blur from images, fills missing parts, and enlarges: image.Image in, image.Image
// out.
//
//	out, report, err := restore.Denoise(ctx, img)
//	out, report, err = restore.Deblur(ctx, img, kernel, restore.Sigma(0.01))
//	out, report, err = restore.Inpaint(ctx, img, mask)
//	out, report, err = restore.Upscale(ctx, img, 2)
//	clean, report, err := restore.DenoiseRawFile(ctx, photo)
//	x, report, err := restore.Solve(ctx, host.On, y, restore.Sigma(0.01))
//
// Every option has a default: the noise level is estimated, and the program's best network is chosen (Methods). The
// report says what was done and what is proven of it. A Restorer keeps the device and the networks for many images:
//
//	r, err := restore.New(restore.Method("fast"), restore.MemoryLimit(1<<30))
//	defer r.Close()
//	out, report, err = r.Denoise(ctx, img)
//
// Weights that anybody may use are part of this package. A blank import of weights/research adds those for research.
// The option Weights takes others, from weights.ReadFile, and verifies their certificate.
//
// Samples are float32 in [0,1] per channel, as stored: nothing is converted to linear light, and LinearLight is about
// the blur alone. Alpha is kept, and invisible pixels have no influence. Noise levels are standard deviations in these
// units: 0.1 is 25.5 of 255.
//
// A panic of the caller's own code, such as a Progress, Prior or operator, comes out of the call in the goroutine that made it.
// A Restorer remains usable.
//
// All functions are safe for concurrent use. They look at their context between passes over the image, each of which
// takes well under a second up to some ten megapixels. The folder examples has whole programs.
package restore
