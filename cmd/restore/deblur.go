package main

import (
	"context"
	"image"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/memory"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
)

// deblurrer is the restorer of deblur.
type deblurrer struct {
	batchFlags
	blurFlags
	adapt   bool
	linear  choice         // --linear-light
	ofParts restore.Option // what was blurred, where kernels of parts were estimated
	flip    bool           // --kernel-flip
	centre  bool           // --kernel-center
	cells   gridFlag       // --kernel-grid
	grid    deblur.Grid    // where cells are given: once loaded, or estimated
	size    int            // --kernel-size
	written string
	save    imagefile.WriteOptions // of written
	limit   restore.Option         // of size, or nil
	app     *app

	compression []restore.Option // of the image at hand
	found       *restore.Blur    // in the image at hand; nil: the kernel, or the grid, is to be taken
	estimated   *record.Kernel   // of the image at hand; nil: the kernel was given
}

func (a *app) deblurCommand() *cobra.Command {
	d := &deblurrer{app: a}
	d.Suffix = ".deblurred"
	d.reading.noise = true
	c := a.restoringCommand(d, &cobra.Command{
		Use:   "deblur IN... [--kernel FILE]",
		Short: "Remove blur from images, with a kernel or without one",
		Long: `Removes blur and noise from images. Without --kernel the blur is estimated from each
photograph, and one line says how far the estimate can be trusted. With a certified
prior the iteration converges; -v prints the certificate.

The default prior is ` + networks.DefaultPrior() + `, tv is total variation, and the others are
networks ('restore info' describes them).
` + embeddedNetworks() + `
'restore man deblur' has more about kernels, boundaries and strength.`,
		Annotations: manual.Story(`The iteration alternates two steps. One moves towards an image that gives the
photograph when it is blurred. The other is a denoiser, the prior. Nothing is promised
of a prior without a certificate. --weights FILE names another network. For a
photograph with clipped highlights the default --tolerance of a network is halved.

The strength of the prior follows from the noise and is multiplied by --strength:
above 1 the result is smoother. A network with a guide, such as original, begins with
five steps for less and less noise. The guide looks before each step and before the
run, and sets how much may be removed at every pixel. That is frozen for the run, so
convergence is proven. A network without a guide is run twice: the second run adds
what the first one left of the photograph, which brings back detail, and its strength
follows the first result; --adapt=false turns that off. A network that is proven to be
nonexpansive only, such as Heun's, is mixed with a tenth of the identity. --iterations
counts all runs together; the certificate holds for each.

The kernel is an image of what became of a single point: brighter is more weight. It
may have any format and up to 2047×2047 pixels. 'restore kernel' makes some. Its
middle is its centre. A kernel whose centre of mass is far from the middle is moved,
with a note; --kernel-center=false turns that off. An even background of grey or white
is left out, with a note, except in floating-point images. A kernel that is turned,
flipped, inverted or of another photograph is noted, too.

A camera that shook blurred light, before its tone curve; a program blurs the samples as
they are stored. The photograph tells which it was: a blur leaves minima in the spectrum
of what it blurs. In doubt samples are assumed; nothing is proven of the decision.
--linear-light on or off says it. The curve is taken for that of sRGB. Light needs a
network with a guide.

--kernel-grid 3x4 takes the kernel image for a sheet of 3 rows and 4 columns of
kernels of one size, for a blur that varies over the frame. Each is for the middle of
its part of the photograph; between them the blur changes gradually. A camera that
turned needs so many that from one to the next no kernel moves by more than two or three
pixels; 32x32 is the limit. Without --kernel a kernel is estimated for each of 3×4 parts.

--write-kernel keeps an estimated kernel. A photograph that is not blurred is only
denoised. The certificate holds for the iteration with the kernel that was found;
nothing is proven about the estimate.

--boundary says what lies beyond the frame. unknown, the default, is right for
photographs: the scene continues there, and that part is estimated. circular, zero and
reflect are for test data that was made so.

--sigma is the standard deviation of the noise, where 1 is white; by default it is
estimated. If both the result and an estimate contradict a given --sigma, the first
run is repeated at the estimated level. The noise is measured at frequencies that the
kernel removes.

--preview X,Y,W,H restores a part only, with the blur and the noise of the whole
photograph. --report FILE.html writes a page to look at.

A result stands beside its input as NAME.deblurred.EXT unless -o says otherwise. A
WebP or GIF image becomes a PNG.`),
		Example: `  restore deblur photo.jpg --write-kernel kernel.png
  restore deblur --kernel motion.png photo.jpg
  restore deblur --kernel motion.png --preview 800,600,300,300 --strength 0.7,1,1.4 photo.jpg
  restore deblur --kernel shake.pfm --sigma 0.01 --boundary circular test.pfm -o result.pfm
  restore deblur --kernel motion.png --prior ` + exampleNetwork() + ` photo.png
  restore deblur --kernel motion.png --weights run/weights.safetensors photo.png
  restore deblur --kernel sheet.png --kernel-grid 3x4 photo.jpg
  restore kernel motion --length 15 --angle 30 -o motion.png`,
	})
	all := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if d.written != "" && (len(args) != 1 || d.Recursive) {
			return usagef("--write-kernel %s: give one input; each has a kernel of its own", message.OneLine(d.written))
		}
		return all(c, args)
	}
	return c
}

func (d *deblurrer) bindOwn(c *cobra.Command) {
	d.bindKernel(c, "image `FILE` of the blur; without it the blur is estimated from the photograph")
	c.Flags().StringVar(&d.written, "write-kernel", "", "write the estimated kernel to `FILE`: .png, .tif, .pgm or .pfm")
	bindKernelSize(c, &d.size)
	c.Flags().Var(&d.cells, "kernel-grid", "a sheet of `ROWSxCOLUMNS` kernels, for a blur that varies; without --kernel: estimated")
	c.Flags().BoolVar(&d.flip, "kernel-flip", false, "turn the kernel by 180 degrees")
	c.Flags().BoolVar(&d.centre, "kernel-center", true, "move a kernel that is far off centre to its centre of mass")
	manual.Expert(c, "kernel-flip", "kernel-center")
	d.bind(c, selectPrior, "the relative change of an iteration (default 1.5e-4; with tv it follows sigma)")
	d.bindPreview(c)
	bindAdapt(c, &d.adapt)
	bindLinearLight(c, &d.linear)
	bindBoundary(c, &d.boundary, "what lies beyond the frame")
}

func (d *deblurrer) checkOwn() (err error) {
	if d.linear.value == "on" && d.method == networks.TV {
		return usagef("--linear-light on needs a network with a guide, and --prior tv is none")
	}
	if d.byParts() && d.boundary.value != deblur.Unknown.String() {
		return usagef("--kernel-grid goes with --boundary unknown only")
	}
	if d.kernelFile != "" {
		switch {
		case d.written != "":
			return usagef("--write-kernel is for an estimated kernel: leave --kernel out")
		case d.size != 0:
			return usagef("--kernel-size is for an estimated kernel: leave --kernel out")
		}
		return nil
	}
	if d.flip {
		return usagef("--kernel-flip is for a kernel that is given, by --kernel FILE")
	}
	if d.limit, err = kernelSizeOption(d.size); err != nil || d.written == "" {
		return err
	}
	if d.written == message.StandardStream || plan.Identity(d.written) == plan.Identity(d.Output) {
		return usagef("--write-kernel %s: give a file of its own", message.OneLine(d.written))
	}
	if d.save, err = d.app.kernelWriting("--write-kernel", d.written, d.Force); err != nil {
		return err
	}
	return refuseExisting(d.written, d.Force || d.SkipExisting)
}

func (d *deblurrer) ownFiles() []string { return []string{d.kernelFile} }

// ofFile keeps the option for the estimates of the blur, which take few options, and forgets the blur of the image before. The
// iteration does not need it.
func (d *deblurrer) ofFile(m *imagefile.Image) []restore.Option {
	d.compression = compressionOf(m)
	if d.kernelFile == "" {
		d.blur = deblur.Kernel{}
	}
	return nil
}

func (d *deblurrer) loadOwn(ctx context.Context, a *app) (opts []restore.Option, err error) {
	switch {
	case d.cells.given() && d.kernelFile != "":
		if d.grid, err = a.readKernels(ctx, d.kernelFile, d.cells, d.reading); err != nil {
			return nil, err
		}
		if d.flip {
			for i, k := range d.grid.Kernels {
				d.grid.Kernels[i] = k.Turned()
			}
		}
		d.blur = d.grid.Typical()
	case d.kernelFile != "":
		if d.blur, err = a.readKernel(ctx, d.kernelFile, d.reading); err != nil {
			return nil, err
		}
		d.prepareKernel(a)
	}
	return []restore.Option{restore.Boundary(boundaryOf(d.boundary)), restore.Adaptation(d.adapt), d.light()}, nil
}

// light is the option about what was blurred: total variation knows samples alone.
func (d *deblurrer) light() restore.Option {
	if d.method == networks.TV {
		return restore.StoredSamples()
	}
	return lightOption(d.linear)
}

// prepareKernel turns and centres a kernel that was given.
func (d *deblurrer) prepareKernel(a *app) {
	if d.flip {
		d.blur = d.blur.Turned()
	}
	if dy, dx := d.blur.OffCentre(); d.centre && farOff(dy, d.blur.H, dx, d.blur.W) {
		d.blur = d.blur.Centred()
		a.Remark(d.kernelFile, "its centre of mass, %.3g pixels below and %.3g right of the middle, was used as the centre, so that the result is not shifted; --kernel-center=false uses the middle", dy, dx)
	}
}

// farOff says whether a centre of mass is so far from the middle that the kernel was not meant to be
// moved: those of measured shakes are up to two pixels off.
func farOff(dy float64, h int, dx float64, w int) bool {
	return math.Abs(dy) > max(2.5, float64(h)/6) || math.Abs(dx) > max(2.5, float64(w)/6)
}

// look checks the kernel against the photograph, or estimates the blur.
func (d *deblurrer) look(ctx context.Context, img *restore.Planar) error {
	few := append([]restore.Option{restore.Threads(d.Threads), d.light()}, d.compression...)
	if d.sigma.given && d.sigma.value > 0 {
		few = append(few, restore.Sigma(d.sigma.value))
	}
	switch {
	case d.kernelFile == "":
		d.bar.Begin("estimating the blur")
		err := d.estimate(ctx, img, few)
		d.bar.Begin("")
		return err
	case d.cells.given():
		return nil
	}
	doubts, err := restore.CheckKernel(ctx, img, d.blur, few...)
	d.app.remarkDoubts(d.app.Input, doubts)
	return err
}

// estimate estimates the blur of a photograph, or kernels for its parts.
func (d *deblurrer) estimate(ctx context.Context, img *restore.Planar, few []restore.Option) error {
	few = append(few, d.limit, restore.Progress(func(p backend.Progress) error {
		d.bar.Show(p.Fraction, 0)
		return ctx.Err()
	}))
	if d.byParts() {
		return d.estimateParts(ctx, img, few)
	}
	b, err := restore.EstimateBlur(ctx, img, append(few, restore.Boundary(boundaryOf(d.boundary)))...)
	if err != nil {
		return err
	}
	d.bar.Clear()
	if t := b.Turn; t != nil {
		d.app.Remark(d.app.Input, "blur estimated: %s", t)
	} else {
		d.app.tellKernel(d.app.Input, b.Kernel)
	}
	d.found, d.blur, d.estimated = b, b.Grid.Typical(), record.BlurOf(b)
	return d.keep(ctx, b.Grid)
}

// estimateParts estimates kernels for parts of a photograph, from the common one on.
func (d *deblurrer) estimateParts(ctx context.Context, img *restore.Planar, few []restore.Option) error {
	common, report, err := restore.EstimateKernel(ctx, img, few...)
	if err != nil {
		return err
	}
	d.bar.Clear()
	d.blur, d.estimated, d.ofParts = common, record.KernelOf(common, report), nil
	if report.LinearLight {
		few = append(few, restore.LinearLight()) // of the run the photograph tells again: its denoiser may know samples alone
	} else {
		d.ofParts = restore.StoredSamples()
		few = append(few, d.ofParts)
	}
	d.app.tellKernel(d.app.Input, report)
	d.bar.Begin("estimating the blur of parts")
	if d.grid, err = restore.EstimateGrid(ctx, img, common, d.cells.rows, d.cells.columns, few...); err != nil {
		return err
	}
	d.bar.Clear()
	return d.keep(ctx, d.grid)
}

func (d *deblurrer) solve(ctx context.Context, img *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error) {
	switch {
	case d.found != nil:
		b := *d.found
		b.Grid = d.shown(b.Grid)
		return restore.DeblurBlind(ctx, img, &b, opts...)
	case d.grid.Kernels != nil:
		return restore.DeblurVarying(ctx, img, d.shown(d.grid), append(opts, d.ofParts)...)
	}
	return restore.Deblur(ctx, img, d.blur, opts...)
}

// ofWhole implements restorer: whether light was blurred, and the noise.
func (d *deblurrer) ofWhole(ctx context.Context, img *restore.Planar, opts []restore.Option) ([]restore.Option, error) {
	switch {
	case d.found != nil:
		blurred := restore.StoredSamples()
		if d.found.LinearLight && d.network != nil && d.network.Guided() {
			blurred = restore.LinearLight()
		}
		return restore.OptionsForPart(ctx, img, d.found.Grid, append(opts, blurred)...)
	case d.grid.Kernels != nil:
		return restore.OptionsForPart(ctx, img, d.grid, append(opts, d.ofParts)...)
	}
	return restore.OptionsForPart(ctx, img, deblur.OneKernel(d.blur), opts...)
}

// shown is the grid for what is computed of the photograph: a part, if --preview is given.
func (d *deblurrer) shown(g deblur.Grid) deblur.Grid {
	if !d.preview.given() {
		return g
	}
	return g.Part(d.preview.whole.Dy(), d.preview.whole.Dx(), d.preview.part)
}

// memory is that of an iteration. Of a photograph with clipped samples there are also which, and room for one channel. A dark one
// is there brightened, too. Where light
// was blurred, the photograph and the scales of the blur are three images more.
func (d *deblurrer) memory(m *imagefile.Image) int64 {
	bytes := memory.OfDeblurring(len(m.Pix), pnp.ByChannel(backend.Image(m.Channels, m.Height, m.Width)))
	switch brightest := slices.Max(m.Pix); {
	case brightest >= 1:
		bytes += 4 * int64(len(m.Pix)+m.Width*m.Height)
	case brightest < 0.5:
		bytes += 4 * int64(len(m.Pix))
	}
	if d.linear.value != "off" && d.method != networks.TV {
		bytes += 3 * 4 * int64(len(m.Pix))
	}
	return bytes
}

// byParts says whether kernels for parts of the photograph are estimated.
func (d *deblurrer) byParts() bool { return d.cells.rows*d.cells.columns > 1 }

// keep tells how many kernels were estimated, if it is more than one, and writes them to the file of --write-kernel.
func (d *deblurrer) keep(ctx context.Context, g deblur.Grid) error {
	if len(g.Kernels) > 1 {
		d.estimated.Rows, d.estimated.Columns = g.Rows, g.Columns
		d.app.Remark(d.app.Input, "the blur is removed with %d×%d estimated kernels, one for each part of the frame", g.Rows, g.Columns)
	}
	if d.written == "" {
		return nil
	}
	d.estimated.Written = d.written
	_, err := d.app.writeKernels(ctx, g, d.written, d.save)
	return err
}

func (d *deblurrer) describe(o *record.Outcome) {
	o.Kernel, o.KernelEstimate, o.Boundary = d.kernelFile, d.estimated, d.boundary.value
}

func (d *deblurrer) achieved(o *record.Outcome) string {
	if o.Unchanged {
		return "no blur and hardly any noise found"
	}
	if e := d.estimated; e != nil {
		if e.Kind == record.NoBlur {
			return "no blur found, " + o.NoiseRemoved() + " removed"
		}
		return "estimated " + blurOf(o) + " and " + o.NoiseRemoved() + " removed"
	}
	return blurOf(o) + " and " + o.NoiseRemoved() + " removed"
}

// blurOf says what was blurred if it was not the samples as they are stored.
func blurOf(o *record.Outcome) string {
	if o.LinearLight {
		return "blur of light"
	}
	return "blur"
}
