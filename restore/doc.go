// Package restore removes noise and blur from images, fills what is missing in them, and
// enlarges them: image.Image in, image.Image out.
//
//	out, report, err := restore.Denoise(ctx, img)
//	out, report, err = restore.Deblur(ctx, img, kernel, restore.Sigma(0.01))
//	out, report, err = restore.Inpaint(ctx, img, mask)
//	out, report, err = restore.Upscale(ctx, img, 2)
//
// The noise level is estimated where it is not given, everything else has a
// default that is meant to be left alone, and the report says what was done and
// what is proven of it. What the options and results are made of is in the
// packages below: tv (total variation), denoise (networks and their certificates),
// weights (their files, and those that are embedded), deblur (kernels and blur
// operators), pnp (the iteration and its certificate), backend (devices).
//
// Methods lists the denoisers: total variation, and networks. The weights of some networks
// are part of the library, those of others are in files:
//
//	out, report, err = restore.Denoise(ctx, img, restore.Method("euler"))
//	out, report, err = restore.Denoise(ctx, img, restore.WeightsFile("run/weights.safetensors"))
//
// The certificate of a file is verified whenever it is loaded. For many images it is loaded
// once:
//
//	dev := cpu.New()
//	file, err := weights.Read(r) // or weights.Open(weights.Euler)
//	network, err := denoise.Load(ctx, dev, file)
//	out, report, err = restore.Denoise(ctx, img, restore.Network(network))
//
// Samples are taken as stored, in float32 on [0,1] per channel, without a
// conversion to linear light. Alpha is carried along untouched. Noise levels are
// standard deviations in these units: 0.1 is 25.5 of 255.
//
// All functions are safe for concurrent use, with one device or with several.
// They look at their context between the passes over the image, each of which
// takes well under a second up to some ten megapixels.
package restore
