package main

import (
	"context"
	"image"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/restore"
)

// inpainter is the restorer of inpaint.
type inpainter struct {
	batchFlags
	blurFlags
	maskFile string
	mask     image.Image // once loaded
}

func (a *app) inpaintCommand() *cobra.Command {
	p := &inpainter{}
	p.suffix = ".inpainted"
	return a.restoringCommand(p, &cobra.Command{
		Use:   "inpaint IN... --mask FILE",
		Short: "Fill missing pixels: scratches, writing, dust",
		Long: `Fills the pixels that a mask marks from those around them, by plug-and-play
proximal gradient as in deblur: with a certified prior the iteration converges, and
the report says what is proven (-v prints the certificate).

The mask is an image of the size of the input. White marks the pixels to fill, black
those to keep; what is brighter than half is white, transparent is black. Strokes in
any colour on black or on transparent mark the pixels to fill, too. One mask serves
all inputs. What is under it does not count, and may be NaN or infinite.

A network is run twice; if it has a guide, the guide looks before each run, as in
deblur, else the second is made with what the first result leaves of the pixels to
keep added to them, which brings back detail. --iterations is about both together.

The pixels to keep are kept as they are, to the bit (JPEG files are compressed
anew). If they are noisy, --sigma gives the standard deviation of the noise, where 1
is white, or auto to estimate it: the noise is then removed everywhere. If the image
is blurred too, --kernel names an image of the blur, as in deblur, and --boundary
says what is beyond the frame.

The default prior is ` + defaultInversePrior() + `; 'restore info' describes the others.
What is filled is smooth: edges and shading go on, textures and objects are not
invented.

A result stands beside its input as NAME.inpainted.EXT unless -o says otherwise. A
WebP image becomes a PNG. Transparency and metadata are carried along.`,
		Example: `  restore inpaint --mask scratches.png photo.png
  restore inpaint --mask lost.png --sigma auto noisy.png -o filled.png
  restore inpaint --mask dust.png --recursive scans -o cleaned/`,
	})
}

func (p *inpainter) bindOwn(c *cobra.Command) {
	c.Flags().StringVarP(&p.maskFile, "mask", "m", "", "image `FILE` whose white pixels are to be filled (required)")
	p.bind(c, selectPrior, "the relative change of an iteration (default 5e-5; with a guide 1e-4)")
	p.defaultTo(c, defaultInversePrior())
	p.bindKernel(c, "image `FILE` of a blur that is to be removed too")
	bindBoundary(c, &p.boundary, "with --kernel: what lies beyond the frame")
	p.sigma = sigmaFlag{given: true, zero: true, auto: true}
	sigma := c.Flags().Lookup("sigma")
	sigma.DefValue = p.sigma.String()
	sigma.Usage = "standard deviation of the noise in the pixels to keep, where 1 is white; 0: they stay as they are; auto: estimated"
}

func (p *inpainter) checkOwn() error {
	if p.maskFile == "" {
		return usagef("inpaint needs --mask FILE, an image that is white where pixels are to be filled")
	}
	return nil
}

func (p *inpainter) ownFiles() []string { return []string{p.maskFile, p.kernelFile} }

func (p *inpainter) loadOwn(ctx context.Context, a *app) ([]restore.Option, error) {
	opts, err := p.loadBlur(ctx, a, p.reading)
	if err != nil {
		return nil, err
	}
	if !p.sigma.given {
		opts = append(opts, restore.SigmaAuto()) // the default of restore.Inpaint is no noise
	}
	m, err := a.read(ctx, p.maskFile, p.reading)
	if err != nil {
		return nil, err
	}
	p.mask = m.ToImage()
	p.reading.mask = p.mask
	return opts, nil
}

func (p *inpainter) solve(ctx context.Context, img *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error) {
	return restore.Inpaint(ctx, img, p.mask, opts...)
}

func (p *inpainter) describe(o *outcome) {
	o.Mask = p.maskFile
	if o.Kernel = p.kernelFile; o.Kernel != "" {
		o.Boundary = p.boundary.value
	}
}

func (p *inpainter) achieved(o *outcome) string { return "missing pixels filled" + alsoRemoved(o) }

// alsoRemoved is what was removed besides.
func alsoRemoved(o *outcome) string {
	switch blurred, noisy := o.Kernel != "", o.Sigma > 0; {
	case blurred && noisy:
		return ", blur and " + noiseOf(o) + " removed"
	case blurred:
		return ", blur removed"
	case noisy:
		return ", " + noiseOf(o) + " removed"
	}
	return ""
}
