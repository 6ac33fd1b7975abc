// Package restore removes noise and blur from images, fills what is missing in them, and
// enlarges them: image.Image in, image.Image out.
//
//	out, report, err := restore.Denoise(ctx, img)
//	out, report, err = restore.Deblur(ctx, img, kernel, restore.Sigma(0.01))
//	out, report, err = restore.Inpaint(ctx, img, mask)
//	out, report, err = restore.Upscale(ctx, img, 2)
//	clean, report, err := restore.DenoiseRaw(ctx, photo.Image())
//	x, report, err := restore.Solve(ctx, operator.On, y, restore.Sigma(0.01))
//
// The noise level is estimated where it is not given, everything else has a
// default that is meant to be left alone, and the report says what was done and
// what is proven of it. What the options and results are made of is in the
// packages below: tv (total variation), denoise (networks and their certificates),
// weights (their files, and those that are registered), deblur (kernels and blur
// operators), pnp (the iteration and its certificate), backend (devices).
//
// Methods lists the denoisers: total variation, and networks. Weights are packages that a program
// imports for them alone: this one imports weights/open, which anybody may use, and the networks that
// were trained for research are another:
//
//	import _ "github.com/averaged/imaging/weights/research"
//
//	out, report, err = restore.Denoise(ctx, img, restore.Method(restore.Euler))
//	out, report, err = restore.Denoise(ctx, img, restore.WeightsFile("run/weights.safetensors"))
//
// The certificate of a file is verified whenever it is loaded. For many images a Restorer, which has
// the same functions as methods, keeps the device and the networks:
//
//	r, err := restore.New(restore.Method(restore.Fast), restore.MemoryLimit(1<<30))
//	defer r.Close()
//	out, report, err = r.Denoise(ctx, img)
//
// Solve takes a linear operator of the caller's own, and Prior and PriorFunc a denoiser.
//
// The folder examples of the module has whole programs: webhandler (a web server with a deadline),
// batch (many pictures, in bounded memory), deblur, ownoperator (Solve) and owndenoiser (PriorFunc).
//
// # Names of options
//
// An option is a function with the name of what it sets, a noun: Sigma, Method, Device, Progress. Two
// that set the same thing begin alike (Sigma, SigmaAuto; Weights, WeightsFile; Prior, PriorFunc). What
// an option takes from another package has the name that it has there (Boundary, Constraint,
// Antialias). Each belongs to the tasks that the documentation of Option lists.
//
// Samples are taken as stored, in float32 on [0,1] per channel, without a
// conversion to linear light. Alpha is carried along untouched,
// and what is invisible takes no part (Denoise). Noise levels are
// standard deviations in these units: 0.1 is 25.5 of 255.
//
// All functions are safe for concurrent use, with one device or with several.
// They look at their context between the passes over the image, each of which
// takes well under a second up to some ten megapixels.
package restore
