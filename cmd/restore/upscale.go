package main

import (
	"context"
	"fmt"
	"image"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/upscale"
)

// upscaler is the restorer of upscale.
type upscaler struct {
	batchFlags
	blurFlags
	factor, antialias choice
	times             int // the factor, once checked
}

func (a *app) upscaleCommand() *cobra.Command {
	u := &upscaler{}
	u.Suffix = ".upscaled"
	u.reading.noise = true
	return a.restoringCommand(u, &cobra.Command{
		Use:   "upscale IN... --factor 2|3|4",
		Short: "Enlarge images (super-resolution)",
		Long: `Enlarges images by a factor of 2, 3 or 4: finds the image that gives the input when
it is scaled down. Edges become sharper than by interpolation; textures are not
invented.

The default prior is ` + networks.DefaultPrior() + `; 'restore info' describes the others. With a
certified prior the iteration converges.

'restore man upscale' has more about --antialias, noise and blur.`,
		Annotations: manual.Story(`The image is found by an iteration as in deblur; -v prints its certificate. A network
is run twice. If it has a guide, the guide looks before each run, as in deblur. Else
the second run adds what the first one left of the image. --iterations counts both
together.

--antialias says how the image was scaled down, or how it was taken: bicubic, the
default, is what image programs do; area is the mean over each square, as the pixels
of a sensor make it; gaussian is a blur with a standard deviation of 0.4 of the
factor. --kernel adds a blur of the scene, an image as in deblur, in pixels of the
result. With --antialias none it is the whole blur, of which one sample of each square
was kept. --boundary says what lies beyond the frame; reflect, the default, is near
what programs that scale images do there.

--sigma is the standard deviation of the noise in the image, where 1 is white; by
default it is estimated.

A result stands beside its input as NAME.upscaled.EXT unless -o says otherwise. A
WebP or GIF image becomes a PNG. Transparency is interpolated, and metadata are kept. A
result of more than --max-pixels is refused.`),
		Example: `  restore upscale --factor 2 photo.jpg
  restore upscale --factor 4 --antialias area thumbnail.png -o large.png
  restore upscale --factor 3 --kernel disk.png --sigma 0.01 photo.png`,
	})
}

func (u *upscaler) bindOwn(c *cobra.Command) {
	f := c.Flags()
	u.factor = newChoice("2", "3", "4")
	f.VarP(&u.factor, "factor", "x", "how many times as wide and as high the result is")
	completeChoice(c, "factor", &u.factor)
	u.bind(c, selectPrior, "the relative change of an iteration (default 5e-5; with a guide 1e-4)")
	u.antialias = newChoice(upscale.Bicubic.String(), upscale.Area.String(), upscale.GaussianBlur.String(), upscale.NoAntialias.String())
	f.Var(&u.antialias, "antialias", "how the image was scaled down: "+message.Or(u.antialias.words))
	completeChoice(c, "antialias", &u.antialias)
	u.bindKernel(c, "image `FILE` of a blur to remove too, in pixels of the result")
	bindBoundary(c, &u.boundary, "what lies beyond the frame")
	u.boundary.value = deblur.Reflect.String()
	f.Lookup("boundary").DefValue = u.boundary.value
}

func (u *upscaler) checkOwn() (err error) {
	if u.antialias.value == upscale.NoAntialias.String() && u.kernelFile == "" {
		return usagef("--antialias none needs --kernel FILE, an image of the blur before the image was scaled down")
	}
	u.times, err = strconv.Atoi(u.factor.value)
	return err // none: Set takes three words only
}

func (u *upscaler) ownFiles() []string { return []string{u.kernelFile} }

func (u *upscaler) loadOwn(ctx context.Context, a *app) ([]restore.Option, error) {
	opts, err := u.loadBlur(ctx, a, u.reading)
	if err != nil {
		return nil, err
	}
	antialias, err := upscale.ParseAntialias(u.antialias.value)
	return append(opts, restore.Antialias(antialias)), err
}

func (u *upscaler) frame(input string, m *imagefile.Image) (err error) {
	h, w := m.Height, m.Width
	m.Width, m.Height = u.times*w, u.times*h
	if int64(m.Height) > u.maxPixels/int64(m.Width) {
		return fileError{input, fmt.Errorf("%w: the result would have %d×%d, above the limit of %d pixels", imagefile.ErrTooManyPixels, m.Width, m.Height, u.maxPixels)}
	}
	m.Pix = make([]float32, m.Channels*m.Width*m.Height)
	if m.Alpha != nil {
		m.Alpha, err = imageplanes.EnlargeAlpha(m.Alpha, h, w, u.times, u.Threads)
	}
	return err
}

func (u *upscaler) ofFile(m *imagefile.Image) []restore.Option { return compressionOf(m) }

func (u *upscaler) solve(ctx context.Context, small *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error) {
	return restore.Upscale(ctx, small, u.times, opts...)
}

func (u *upscaler) describe(o *record.Outcome) {
	o.Factor, o.Antialias = u.times, u.antialias.value
	o.Kernel, o.Boundary = u.kernelFile, u.boundary.value
}

func (u *upscaler) achieved(o *record.Outcome) string {
	return fmt.Sprintf("enlarged to %d×%d", o.Width, o.Height) + alsoRemoved(o)
}
