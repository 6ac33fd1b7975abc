package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/restore"
)

func (a *app) deblurCommand() *cobra.Command {
	var b batchFlags
	var kernelFile string
	var boundary choice
	var adapt bool
	b.suffix = ".deblurred"
	c := &cobra.Command{
		Use:   "deblur IN... --kernel FILE",
		Short: "Remove a known blur from images",
		Long: `Removes a blur whose kernel is known, by a plug-and-play iteration: steps
towards an image that, blurred, is the photograph, each followed by a denoiser,
the prior. With a certified prior the iteration converges, and the report says
what is proven (-v prints the certificate). With one that has no certificate it
runs all the same, but nothing is promised.

The default prior is ` + restore.DefaultPrior() + `, tv is total variation, and the others are
networks ('restore info' describes them).
` + embeddedNetworks() + `
Others come from a file, --weights FILE. How strong the prior is follows from the
noise, and is multiplied by --strength: above 1 the result is smoother. A network
that is proven to be nonexpansive but not averaged, such as Heun's, is mixed with a
tenth of the identity, so that the iteration converges. A network is run twice, the
second time for the photograph with what the first result leaves of it added to it,
which brings back detail, and with a strength that follows what the first one shows
(--adapt=false: as before). If, by what the first result leaves and by an estimate,
--sigma is far from the truth, the first run is made again. --iterations is about
all runs together, and the certificate about each.

The kernel is an image of what became of a single point: brighter is more weight;
any size up to 2047×2047, any format, scaled to sum 1. 'restore kernel' makes some.
Its middle is its centre.

--boundary says what lies beyond the frame. unknown, the default, is what a
photograph has: the scene went on, and what was blurred into the frame is
estimated along with the rest. circular, zero and reflect are for test data that
was made so. --sigma is the standard deviation of the noise in the photograph, in
units where 1 is white; by default it is estimated.

A result stands beside its input as NAME.deblurred.EXT unless -o says otherwise. A
WebP image becomes a PNG.`,
		Example: `  restore deblur --kernel motion.png photo.jpg
  restore deblur --kernel shake.pfm --sigma 0.01 --boundary circular test.pfm -o result.pfm
  restore deblur --kernel motion.png --prior ` + exampleNetwork() + ` photo.png
  restore deblur --kernel motion.png --weights run/weights.safetensors photo.png
  restore kernel motion --length 15 --angle 30 -o motion.png`,
		Args: inputs(1, -1, "one input or more"),
	}
	c.Flags().StringVarP(&kernelFile, "kernel", "k", "", "image `FILE` of the blur kernel (required)")
	bindBoundary(c, &boundary, "what lies beyond the frame")
	bindAdapt(c, &adapt)
	b.bind(c, "prior", "the relative change of an iteration (default 1.5e-4; with tv 0.003·sigma, within 4e-5 and 1.5e-4)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if kernelFile == "" {
			return usagef("deblur needs --kernel FILE, an image of the blur; 'restore kernel' makes some")
		}
		if err := readOnce(kernelFile, b.weights, b.reference); err != nil {
			return err
		}
		opts, tasks, err := b.prepare(a, c, args)
		if err != nil {
			return err
		}
		if err := b.protect(tasks, kernelFile); err != nil {
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
		kernel, err := a.readKernel(c.Context(), kernelFile, b.reading)
		if err != nil {
			return err
		}
		opts = append(opts, restore.Boundary(boundaryOf(boundary)), restore.Adapt(adapt))
		return a.batch(c.Context(), "deblur", tasks, func(ctx context.Context, _ int, t task) (*outcome, string, error) {
			o, text, err := b.restore(ctx, a, dev, t, opts, func(ctx context.Context, img *restore.Planar, opts ...restore.Option) (*restore.Planar, *restore.Report, error) {
				out, report, err := restore.Deblur(ctx, img, kernel, opts...)
				return asPlanar(out, report, err)
			})
			if o != nil {
				o.Kernel, o.Boundary = kernelFile, boundary.value
			}
			return o, text, err
		})
	}
	return c
}
