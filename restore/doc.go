// Package restore removes noise and blur from images, fills what is missing in them, and enlarges them: image.Image in,
// image.Image out.
//
//	out, report, err := restore.Denoise(ctx, img)
//	out, report, err = restore.Deblur(ctx, img, kernel, restore.Sigma(0.01))
//	out, report, err = restore.Inpaint(ctx, img, mask)
//	out, report, err = restore.Upscale(ctx, img, 2)
//	clean, report, err := restore.DenoiseRaw(ctx, photo.Image())
//	x, report, err := restore.Solve(ctx, operator.On, y, restore.Sigma(0.01))
//
// Options have defaults that are meant to be left alone: the noise level is estimated, and the best network is chosen
// that the program has (Methods). The report says what was done and what is proven of it. For many images a Restorer keeps
// the device and the networks:
//
//	r, err := restore.New(restore.Method("fast"), restore.MemoryLimit(1<<30))
//	defer r.Close()
//	out, report, err = r.Denoise(ctx, img)
//
// Weights that anybody may use are part of this package. Those for research are in weights/research, which a program
// imports for its weights alone. Weights takes others, from weights.ReadFile, and verifies their certificate.
//
// Samples are taken as stored, in float32 on [0,1] per channel, without a conversion to linear light. Alpha is kept, and
// invisible pixels have no influence. Noise levels are standard deviations in these units: 0.1 is 25.5 of 255.
//
// All functions are safe for concurrent use. They look at their context between the passes over the image, each of which
// takes well under a second up to some ten megapixels. The folder examples of the module has whole programs.
package restore
