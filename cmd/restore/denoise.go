package main

import (
	"context"
	"image"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/memory"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// denoiser is the restorer of denoise.
type denoiser struct {
	batchFlags
	adapt   bool
	shadows bool
}

func (a *app) denoiseCommand() *cobra.Command {
	d := &denoiser{}
	d.Suffix, d.RawPhotos = ".denoised", true
	return a.restoringCommand(d, &cobra.Command{
		Use:   "denoise IN...",
		Short: "Remove noise from images",
		Long: `Removes noise from images. It measures how much noise each part of an image has, and
removes little from texture and more from shadows. --strength light removes less,
strong more. An image without noise comes back as it is.

The default method is ` + networks.DefaultMethod() + `. fast takes a fifth of the time, tv needs no training.
` + embeddedNetworks() + `
'restore man denoise' has more about methods, files and metadata.`,
		Annotations: manual.Story(`By default a small network looks at each image and says how much to remove in every
square of 16 pixels. It also chooses the method: camera for noise that a camera has
smoothed, ` + networks.DefaultMethod() + ` for other noise. An image without noise, such as a screenshot or
a drawing, is copied, unless another format, depth, quality or less metadata is asked
for. --sigma S is for white noise of a known standard deviation, where 1 is white.

Method tv minimises the total variation on luma and opponent colour axes, to a
certified duality gap (--tolerance, 1e-4 by default, relative). The others are
networks; 'restore info' describes them. --weights FILE names another network, and
with it the method. Its certificate (-v prints it) is verified when the file is
loaded. A changed file is refused, and a file without a certificate is certified.

A network serves every noise level. If it was trained for one level, the image is
scaled to that level and back. The strength of a certified network without a guide
also follows the image: the more fine detail there is, the less it is smoothed.
--adapt=false turns this off. --shadows=false leaves dark shadows as they are.

--preview X,Y,W,H restores a part only, in seconds, and writes it before and after,
side by side. --report FILE.html writes a page with a slider.

The result of a raw photograph (.dng: Bayer mosaic or LinearRaw, not compressed or
lossless JPEG) is the same file with a cleaner mosaic, which raw developers open as
before. The noise is measured in it. --strength 0 changes nothing. With -o FILE.png
the result is a plain development, to look at.

Transparency and metadata are kept; sizes and orientation in them are corrected.
Other parts of a file, such as a gain map or a film, are dropped, with a note.

A result stands beside its input as NAME.denoised.EXT unless -o says otherwise. In an
output folder it keeps its name. A WebP or GIF image becomes a PNG. Nothing is overwritten
without --force. IN may be - for standard input; the result then goes to standard
output unless -o says otherwise.`),
		Example: `  restore denoise photo.jpg
  restore denoise --strength strong photo.jpg
  restore denoise --preview 800,600,300,300 --strength 0.7,1,1.4 photo.jpg
  restore denoise --report photo.html photo.jpg
  restore denoise --sigma 0.15 photo.png
  restore denoise --sigma 25/255 noisy.pfm -o clean.pfm --reference original.png
  restore denoise --method ` + weights.Fast + ` photo.png
  restore denoise --weights run/weights.safetensors photo.png
  restore denoise photo.dng                       # writes photo.denoised.dng
  restore denoise --recursive --skip-existing holiday -o cleaned/
  cat photo.png | restore denoise - > clean.png`,
	})
}

func (d *denoiser) bindOwn(c *cobra.Command) {
	d.bind(c, selectMethod, "the relative duality gap (default 1e-4)")
	d.bindPreview(c)
	bindAdapt(c, &d.adapt)
	c.Flags().BoolVar(&d.shadows, "shadows", true, "brighten shadows that camera noise has darkened; the certificate does not cover this")
	manual.Expert(c, "shadows")
}

func (d *denoiser) loadOwn(context.Context, *app) ([]restore.Option, error) {
	return []restore.Option{restore.Adaptation(d.adapt), restore.Shadows(d.shadows)}, nil
}

func (d *denoiser) solve(ctx context.Context, img *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error) {
	return restore.Denoise(ctx, img, opts...)
}

func (d *denoiser) memory(m *imagefile.Image) int64 { return memory.OfDenoising(m.Width * m.Height) }

func (d *denoiser) removedBlur() deblur.Kernel { return deblur.Kernel{} }

func (d *denoiser) achieved(o *record.Outcome) string {
	if o.Unchanged {
		return "no noise found"
	}
	if o.Method == "" { // nothing but impulses was found
		return "hot pixels, or salt and pepper, filled"
	}
	return o.NoiseRemoved() + " removed"
}
