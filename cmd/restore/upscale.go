package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/upscale"
	"github.com/spf13/cobra"
)

// upscaling holds the flags of upscale.
type upscaling struct {
	batchFlags
	factor, antialias, boundary choice
	kernelFile                  string
}

func (a *app) upscaleCommand() *cobra.Command {
	u := &upscaling{}
	u.suffix = ".upscaled"
	c := &cobra.Command{
		Use:   "upscale IN... --factor 2|3|4",
		Short: "Enlarge images (super-resolution)",
		Long: `Enlarges images by a factor of 2, 3 or 4: looks for the image that, scaled down,
is the given one, by plug-and-play proximal gradient as in deblur. With a certified
prior the iteration converges, and the report says what is proven (-v prints the
certificate). A network is run twice, the second time with what the first result
leaves of the image added to it; --iterations is about both together.

--antialias says how the image was scaled down, or how it was taken: bicubic, the
default, is what image programs do; area is the mean over each square, as a sensor's
pixels make it; gaussian is a blur with a standard deviation of 0.4 of the factor.
--kernel adds a blur of the scene, an image as in deblur, in pixels of the result;
with --antialias none it is the whole blur, of which one sample of each square was
kept. --boundary says what lies beyond the frame; reflect, the default, is near what
programs that scale images do there.

--sigma is the standard deviation of the noise in the image, where 1 is white; by
default it is estimated. The default prior is ` + restore.DefaultMethod() + `; 'restore info'
describes the others. Edges become sharper than by interpolation; textures are not
invented.

A result stands beside its input as NAME.upscaled.EXT unless -o says otherwise. A
WebP image becomes a PNG. Transparency is interpolated, metadata are kept; a result
of more than --max-pixels is refused.`,
		Example: `  restore upscale --factor 2 photo.jpg
  restore upscale --factor 4 --antialias area thumbnail.png -o large.png
  restore upscale --factor 3 --kernel disk.png --sigma 0.01 photo.png`,
		Args: inputs(1, -1, "one input or more"),
	}
	f := c.Flags()
	u.factor = newChoice("2", "3", "4")
	f.VarP(&u.factor, "factor", "x", "how many times as wide and as high the result is")
	completeChoice(c, "factor", &u.factor)
	u.antialias = newChoice(upscale.Bicubic.String(), upscale.Area.String(), upscale.GaussianBlur.String(), upscale.NoAntialias.String())
	f.Var(&u.antialias, "antialias", "with which blur the image was scaled down")
	completeChoice(c, "antialias", &u.antialias)
	f.StringVarP(&u.kernelFile, "kernel", "k", "", "image `FILE` of a blur that is to be removed too, in pixels of the result")
	bindBoundary(c, &u.boundary, "what lies beyond the frame")
	u.boundary.value = deblur.Reflect.String()
	f.Lookup("boundary").DefValue = u.boundary.value
	u.bind(c, "prior", "the relative change of an iteration (default 5e-5)")
	u.defaultTo(c, restore.DefaultMethod())
	c.RunE = func(c *cobra.Command, args []string) error { return a.upscale(c, u, args) }
	return c
}

func (a *app) upscale(c *cobra.Command, u *upscaling, args []string) error {
	if err := readOnce(u.kernelFile, u.weights, u.reference); err != nil {
		return err
	}
	if u.antialias.value == upscale.NoAntialias.String() && u.kernelFile == "" {
		return usagef("--antialias none needs --kernel FILE, an image of the blur before the image was scaled down")
	}
	opts, tasks, err := u.prepare(a, c, args)
	if err != nil {
		return err
	}
	if err := u.protect(tasks, u.kernelFile); err != nil {
		return err
	}
	factor, err := strconv.Atoi(u.factor.value)
	if err != nil {
		return err // not reached: Set takes three words only
	}
	antialias, err := upscale.ParseAntialias(u.antialias.value)
	if err != nil {
		return err // the same
	}
	dev, err := u.open()
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	chosen, done, err := u.use(c.Context(), a, dev)
	if err != nil {
		return err
	}
	defer done()
	opts = append(opts, chosen...)
	u.remarkProof(a)
	if opts, err = a.blurOptions(c.Context(), opts, u.kernelFile, u.boundary, u.reading); err != nil {
		return err
	}
	opts = append(opts, restore.AntialiasedBy(antialias))
	return a.batch(c.Context(), "upscale", tasks, func(ctx context.Context, _ int, t task) (*outcome, string, error) {
		return a.upscaleOne(ctx, u, dev, factor, t, opts)
	})
}

// upscaleOne does one task.
func (a *app) upscaleOne(ctx context.Context, u *upscaling, dev backend.Device, factor int, t task, opts []restore.Option) (*outcome, string, error) {
	enlarge := func(m *imagefile.Image) (err error) {
		h, w := m.Height, m.Width
		m.Width, m.Height = factor*w, factor*h
		if int64(m.Height) > u.maxPixels/int64(m.Width) {
			return fileError{t.input, fmt.Errorf("%w: the result would have %d×%d, above the limit of %d pixels", imagefile.ErrTooManyPixels, m.Width, m.Height, u.maxPixels)}
		}
		m.Pix = make([]float32, m.Channels*m.Width*m.Height)
		if m.Alpha != nil {
			m.Alpha, err = restore.EnlargeAlpha(m.Alpha, h, w, factor, u.threads)
		}
		return err
	}
	o, text, err := u.restoreInto(ctx, a, dev, t, opts, enlarge, func(ctx context.Context, small *restore.Planar, opts ...restore.Option) (*restore.Planar, *restore.Report, error) {
		out, report, err := restore.Upscale(ctx, small, factor, opts...)
		return asPlanar(out, report, err)
	})
	if err != nil {
		return nil, "", err
	}
	o.Factor, o.Antialias = factor, u.antialias.value
	o.Kernel, o.Boundary = u.kernelFile, u.boundary.value
	return o, fmt.Sprintf("%d×%d, %s", o.Width, o.Height, text), nil
}
