package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/restore"
)

func (a *app) inpaintCommand() *cobra.Command {
	var b batchFlags
	var maskFile, kernelFile string
	var boundary choice
	b.suffix = ".inpainted"
	c := &cobra.Command{
		Use:   "inpaint IN... --mask FILE",
		Short: "Fill missing pixels: scratches, writing, dust",
		Long: `Fills the pixels that a mask marks from those around them, by plug-and-play
proximal gradient as in deblur: with a certified prior the iteration converges, and
the report says what is proven (-v prints the certificate).

The mask is an image of the size of the input. White marks the pixels to fill, black
those to keep; what is brighter than half is white, transparent is black. One mask
serves all inputs.

A network is run twice, the second time with what the first result leaves of the
pixels to keep added to them, which brings back detail; --iterations is about both
together.

The pixels to keep are kept as they are, to the bit (JPEG files are compressed
anew). If they are noisy, --sigma gives the standard deviation of the noise, where 1
is white, or auto to estimate it: the noise is then removed everywhere. If the image
is blurred too, --kernel names an image of the blur, as in deblur, and --boundary
says what is beyond the frame.

The default prior is ` + restore.DefaultMethod() + `; 'restore info' describes the others.
What is filled is smooth: edges and shading go on, textures and objects are not
invented.

A result stands beside its input as NAME.inpainted.EXT unless -o says otherwise. A
WebP image becomes a PNG. Transparency and metadata are carried along untouched.`,
		Example: `  restore inpaint --mask scratches.png photo.png
  restore inpaint --mask lost.png --sigma auto noisy.png -o filled.png
  restore inpaint --mask dust.png --recursive scans -o cleaned/`,
		Args: inputs(1, -1, "one input or more"),
	}
	c.Flags().StringVarP(&maskFile, "mask", "m", "", "image `FILE` whose white pixels are to be filled (required)")
	c.Flags().StringVarP(&kernelFile, "kernel", "k", "", "image `FILE` of a blur that is to be removed too")
	bindBoundary(c, &boundary, "with --kernel: what lies beyond the frame")
	b.bind(c, "prior", "the relative change of an iteration (default 5e-5)")
	b.defaultTo(c, restore.DefaultMethod())
	b.sigma = sigmaFlag{given: true, zero: true, auto: true}
	sigma := c.Flags().Lookup("sigma")
	sigma.DefValue = b.sigma.String()
	sigma.Usage = "standard deviation of the noise in the pixels to keep, where 1 is white; 0: they stay as they are; auto: estimated"
	c.RunE = func(c *cobra.Command, args []string) error {
		if maskFile == "" {
			return usagef("inpaint needs --mask FILE, an image that is white where pixels are to be filled")
		}
		if err := readOnce(maskFile, kernelFile, b.weights, b.reference); err != nil {
			return err
		}
		auto := !b.sigma.given
		if b.sigma.value == 0 {
			b.sigma.given = false // the default of restore.Inpaint
		}
		opts, tasks, err := b.prepare(a, c, args)
		if err != nil {
			return err
		}
		if auto {
			opts = append(opts, restore.SigmaAuto())
		}
		if err := b.protect(tasks, maskFile, kernelFile); err != nil {
			return err
		}
		dev, err := b.open()
		if err != nil {
			return err
		}
		defer dev.Close() // its only error would be of work that has been waited for
		chosen, done, err := b.use(c.Context(), a, dev)
		if err != nil {
			return err
		}
		defer done()
		opts = append(opts, chosen...)
		b.remarkProof(a)
		if opts, err = a.blurOptions(c.Context(), opts, kernelFile, boundary, b.reading); err != nil {
			return err
		}
		m, err := a.read(c.Context(), maskFile, b.reading)
		if err != nil {
			return err
		}
		mask := m.ToImage()
		return a.batch(c.Context(), "inpaint", tasks, func(ctx context.Context, _ int, t task) (*outcome, string, error) {
			o, text, err := b.restore(ctx, a, dev, t, opts, func(ctx context.Context, img *restore.Planar, opts ...restore.Option) (*restore.Planar, *restore.Report, error) {
				out, report, err := restore.Inpaint(ctx, img, mask, opts...)
				return asPlanar(out, report, err)
			})
			if o != nil {
				o.Mask, o.Kernel = maskFile, kernelFile
				if kernelFile != "" {
					o.Boundary = boundary.value
				}
			}
			return o, text, err
		})
	}
	return c
}

// defaultTo makes a method the default of its flag, which has been bound.
func (r *restoration) defaultTo(c *cobra.Command, method string) {
	r.method = method
	c.Flags().Lookup(r.flag).DefValue = method
}

// blurOptions adds the options about a blur that is removed along with other things, if
// there is one.
func (a *app) blurOptions(ctx context.Context, opts []restore.Option, kernelFile string, boundary choice, r reading) ([]restore.Option, error) {
	opts = append(opts, restore.Boundary(boundaryOf(boundary)))
	if kernelFile == "" {
		return opts, nil
	}
	kernel, err := a.readKernel(ctx, kernelFile, r)
	if err != nil {
		return nil, err
	}
	return append(opts, restore.Kernel(kernel)), nil
}
