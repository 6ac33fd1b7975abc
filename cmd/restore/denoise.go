package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/restore"
)

func (a *app) denoiseCommand() *cobra.Command {
	var b batchFlags
	var adapt bool
	b.suffix = ".denoised"
	c := &cobra.Command{
		Use:   "denoise IN...",
		Short: "Remove noise from images",
		Long: `Removes Gaussian-like noise from images. The noise level, --sigma, is a standard
deviation in units where 1 is white; by default it is estimated from each image,
and printed.

The default method is ` + restore.DefaultMethod() + `. Method tv minimises the total variation on luma
and opponent colour axes, to a certified duality gap (--tolerance, 1e-4 by default,
relative). The others are networks ('restore info' describes them).
` + embeddedNetworks() + `
Others come from a file: --weights FILE names one, and with it the method. Its
certificate (-v prints it) is verified when the file is loaded; a file that was
changed since is refused, and one that has none is certified then.

A network serves every noise level: one for all of them takes that of the image; for
others the image is scaled to the level that they were trained for, and back. The
strength of a certified network follows the image, too: the more fine detail it has,
the less it is smoothed (--adapt=false: as its noise says).

Transparency and metadata are carried along untouched.

A result stands beside its input as NAME.denoised.EXT unless -o says otherwise; in
an output folder it keeps its name. A WebP image becomes a PNG. Nothing is
overwritten without --force. IN may be - for standard input; the result then goes
to standard output unless -o says otherwise.`,
		Example: `  restore denoise photo.jpg
  restore denoise --sigma 0.15 photo.png
  restore denoise --sigma 25/255 noisy.pfm -o clean.pfm --reference original.png
  restore denoise --method ` + exampleNetwork() + ` photo.png
  restore denoise --weights run/weights.safetensors photo.png
  restore denoise --recursive --skip-existing holiday -o cleaned/
  cat photo.png | restore denoise - > clean.png`,
		Args: inputs(1, -1, "one input or more"),
	}
	b.bind(c, "method", "the relative duality gap (default 1e-4)")
	bindAdapt(c, &adapt)
	c.RunE = func(c *cobra.Command, args []string) error {
		opts, tasks, err := b.prepare(a, c, args)
		if err != nil {
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
		opts = append(append(opts, chosen...), restore.Adapt(adapt))
		b.remarkIterations(a)
		return a.batch(c.Context(), "denoise", tasks, func(ctx context.Context, _ int, t task) (*outcome, string, error) {
			return b.restore(ctx, a, dev, t, opts, func(ctx context.Context, img *restore.Planar, opts ...restore.Option) (*restore.Planar, *restore.Report, error) {
				out, report, err := restore.Denoise(ctx, img, opts...)
				return asPlanar(out, report, err)
			})
		})
	}
	return c
}

// asPlanar undoes the generality of image.Image: of a Planar package restore
// makes a Planar.
func asPlanar(img any, report *restore.Report, err error) (*restore.Planar, *restore.Report, error) {
	if err != nil {
		return nil, nil, err
	}
	p, ok := img.(*restore.Planar)
	if !ok {
		return nil, nil, fmt.Errorf("the result is a %T, want a planar image", img)
	}
	return p, report, nil
}
