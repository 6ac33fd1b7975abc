package main

import (
	"context"
	"image"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// deblurrer is the restorer of deblur.
type deblurrer struct {
	batchFlags
	blurFlags
	adapt  bool
	kernel deblur.Kernel // once loaded
}

func (a *app) deblurCommand() *cobra.Command {
	d := &deblurrer{}
	d.suffix = ".deblurred"
	return a.restoringCommand(d, &cobra.Command{
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
tenth of the identity, so that the iteration converges. A network is run twice. If
it has a guide, as guided has, the guide looks before each run at what the network
will see first, and says pixel by pixel how much may be taken away; that is frozen
for the run, so that convergence is proven whatever the guide says. Without one,
the second run is for the photograph with what the first result leaves of it added
to it, which brings back detail, and its strength follows what the first one shows
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
	})
}

func (d *deblurrer) bindOwn(c *cobra.Command) {
	d.bindKernel(c, "image `FILE` of the blur kernel (required)")
	d.bind(c, selectPrior, "the relative change of an iteration (default 1.5e-4; with tv 0.003·sigma, within 4e-5 and 1.5e-4)")
	bindAdapt(c, &d.adapt)
	bindBoundary(c, &d.boundary, "what lies beyond the frame")
}

func (d *deblurrer) checkOwn() error {
	if d.kernelFile == "" {
		return usagef("deblur needs --kernel FILE, an image of the blur; 'restore kernel' makes some")
	}
	return nil
}

func (d *deblurrer) ownFiles() []string { return []string{d.kernelFile} }

func (d *deblurrer) loadOwn(ctx context.Context, a *app) (opts []restore.Option, err error) {
	d.kernel, err = a.readKernel(ctx, d.kernelFile, d.reading)
	return []restore.Option{restore.Boundary(boundaryOf(d.boundary)), restore.Adaptation(d.adapt)}, err
}

func (d *deblurrer) solve(ctx context.Context, img *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error) {
	return restore.Deblur(ctx, img, d.kernel, opts...)
}

func (d *deblurrer) describe(o *outcome) { o.Kernel, o.Boundary = d.kernelFile, d.boundary.value }

func (d *deblurrer) achieved(o *outcome) string { return "blur and " + noiseOf(o) + " removed" }
