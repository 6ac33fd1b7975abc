package main

import (
	"context"
	"image"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
)

// inpainter is the restorer of inpaint.
type inpainter struct {
	batchFlags
	blurFlags
	maskFile string
	invert   bool        // --mask-invert
	mask     image.Image // once loaded
}

func (a *app) inpaintCommand() *cobra.Command {
	p := &inpainter{}
	p.Suffix = ".inpainted"
	return a.restoringCommand(p, &cobra.Command{
		Use:   "inpaint IN... --mask FILE",
		Short: "Fill missing pixels: scratches, writing, dust",
		Long: `Fills the pixels that are white in a mask from those around them. The mask has the
size of the input. Strokes of any colour on black, on transparent or on a copy of
the input work too, and so do strokes that are erased from a copy. The pixels to
keep stay as they are, to the bit, unless --sigma says they are noisy.
Edges and shading are continued; textures and objects are not invented.

The default prior is ` + networks.DefaultPrior() + `; 'restore info' describes the others. With a
certified prior the iteration converges.

'restore man inpaint' has more about masks, noise and blur.`,
		Annotations: manual.Story(`The pixels are filled by an iteration as in deblur; -v prints its certificate. In the
mask, a pixel counts as white if it differs from the darkest one by a tenth of the
range, so that soft edges are filled too. Transparent pixels are black. One mask serves all inputs.
Pixels under the mask do not count, and may be NaN or infinite. JPEG files are
compressed anew; where pixels of a JPEG share colours, those beside the mask are
filled too.

If the pixels to keep are noisy, --sigma gives the standard deviation of the noise,
where 1 is white, or auto to estimate it. The noise is then removed everywhere. If the
image is blurred too, --kernel names an image of the blur, as in deblur, and
--boundary says what is beyond the frame.

A network is run twice. If it has a guide, the guide looks before each run, as in
deblur. Else the second run adds what the first one left of the pixels to keep, which
brings back detail. --iterations counts both together.

A result stands beside its input as NAME.inpainted.EXT unless -o says otherwise. A
WebP or GIF image becomes a PNG. Transparency and metadata are kept.`),
		Example: `  restore inpaint --mask scratches.png photo.png
  restore inpaint --mask lost.png --sigma auto noisy.png -o filled.png
  restore inpaint --mask dust.png --recursive scans -o cleaned/`,
	})
}

func (p *inpainter) bindOwn(c *cobra.Command) {
	c.Flags().StringVarP(&p.maskFile, "mask", "m", "", "image `FILE` that is white where pixels are to be filled (required)")
	c.Flags().BoolVar(&p.invert, "mask-invert", false, "fill the pixels that are black in the mask, not the white ones")
	p.bind(c, selectPrior, "the relative change of an iteration (default 5e-5; with a guide 1e-4)")
	p.bindKernel(c, "image `FILE` of a blur to remove too")
	bindBoundary(c, &p.boundary, "with --kernel: what lies beyond the frame")
	p.sigma = sigmaFlag{given: true, zero: true, auto: true}
	sigma := c.Flags().Lookup("sigma")
	sigma.DefValue = p.sigma.String()
	sigma.Usage = "standard deviation of noise in the pixels to keep; 0 (default): they stay; auto: measured"
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
	if p.invert {
		for i, v := range m.Pix {
			m.Pix[i] = 1 - v
		}
	}
	p.mask = m.ToImage()
	p.reading.mask = p.mask
	return opts, nil
}

func (p *inpainter) ofFile(m *imagefile.Image) []restore.Option { return compressionOf(m) }

func (p *inpainter) solve(ctx context.Context, img *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error) {
	return restore.Inpaint(ctx, img, p.mask, opts...)
}

func (p *inpainter) describe(o *record.Outcome) {
	o.Mask = p.maskFile
	if o.Kernel = p.kernelFile; o.Kernel != "" {
		o.Boundary = p.boundary.value
	}
}

func (p *inpainter) achieved(o *record.Outcome) string {
	return "missing pixels filled" + alsoRemoved(o)
}

// alsoRemoved is what was removed besides.
func alsoRemoved(o *record.Outcome) string {
	switch blurred, noisy := o.Kernel != "", o.Sigma > 0; {
	case blurred && noisy:
		return ", blur and " + o.NoiseRemoved() + " removed"
	case blurred:
		return ", blur removed"
	case noisy:
		return ", " + o.NoiseRemoved() + " removed"
	}
	return ""
}
