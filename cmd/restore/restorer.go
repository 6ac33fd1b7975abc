package main

import (
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/memory"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// restorer is what a command that restores images has of its own; restoringCommand makes the
// rest, which is the same for all of them. batchFlags, which each of them embeds, has the methods
// that few need.
type restorer interface {
	// shared are the flags that all have, bound by bindOwn along with those of its own.
	shared() *batchFlags
	bindOwn(c *cobra.Command)
	// checkOwn finds what is wrong with its flags without a file.
	checkOwn() error
	// ownFiles are the files that its flags name, which are read and never written.
	ownFiles() []string
	// loadOwn reads them, and returns the options that its flags make.
	loadOwn(ctx context.Context, a *app) ([]restore.Option, error)
	// ofFile are the options that follow from how an image that was read was coded.
	ofFile(m *imagefile.Image) []restore.Option
	// frame makes of an image that was read one of the size of the result, with its transparency
	// and any samples.
	frame(input string, m *imagefile.Image) error
	// look finds out, before solve, what no strength changes: the blur, or doubts about one that is given.
	look(ctx context.Context, img *restore.Planar) error
	solve(ctx context.Context, img *restore.Planar, opts ...restore.Option) (image.Image, *restore.Report, error)
	// memory is about what solve holds at once of an image that was read, in bytes.
	memory(m *imagefile.Image) int64
	// removedBlur is the kernel of a blur that is removed, the zero value if there is none.
	removedBlur() deblur.Kernel
	// noiseOfWhole is the noise of an image of which --preview restores a part; nil if it is given, or ofWhole measures it.
	noiseOfWhole(ctx context.Context, m *imagefile.Image) (*restore.NoiseEstimate, error)
	// ofWhole are the options, besides opts, with which --preview restores a part as in the whole, after look.
	ofWhole(ctx context.Context, img *restore.Planar, opts []restore.Option) ([]restore.Option, error)
	// describe adds to an outcome what its flags say.
	describe(o *record.Outcome)
	// achieved says of an outcome what became of the image, such as "noise removed".
	achieved(o *record.Outcome) string
}

func (b *batchFlags) shared() *batchFlags                         { return b }
func (b *batchFlags) checkOwn() error                             { return nil }
func (b *batchFlags) ownFiles() []string                          { return nil }
func (b *batchFlags) ofFile(*imagefile.Image) []restore.Option    { return nil }
func (b *batchFlags) frame(string, *imagefile.Image) error        { return nil }
func (b *batchFlags) look(context.Context, *restore.Planar) error { return nil }
func (b *batchFlags) describe(*record.Outcome)                    {}
func (b *batchFlags) memory(m *imagefile.Image) int64             { return memory.OfDeblurring(len(m.Pix), false) }

// compressionOf is the option about how an image that was read was compressed, if that is known.
func compressionOf(m *imagefile.Image) []restore.Option {
	if m.JPEG == nil {
		return nil
	}
	return []restore.Option{restore.Compressed(restore.Compression{Noise: m.JPEG.Noise, ChromaX: m.JPEG.ChromaX, ChromaY: m.JPEG.ChromaY})}
}

// restoringCommand completes the command of a restorer.
func (a *app) restoringCommand(r restorer, c *cobra.Command) *cobra.Command {
	c.Args = inputs(1, -1, "one input or more")
	r.bindOwn(c)
	c.RunE = func(c *cobra.Command, args []string) error { return a.restoreAll(c, r, args) }
	return c
}

// restoreAll checks the flags, loads what all inputs need, and restores one input after another.
func (a *app) restoreAll(c *cobra.Command, r restorer, args []string) error {
	ctx, b := c.Context(), r.shared()
	memory.Collect(memory.Seldom)
	if err := r.checkOwn(); err != nil {
		return err
	}
	files := append(r.ownFiles(), b.weights, b.reference)
	if err := readOnce(files...); err != nil {
		return err
	}
	opts, tasks, err := b.prepare(a, c, args)
	if err != nil {
		return err
	}
	if err := b.protect(tasks, files...); err != nil {
		return err
	}
	if a.page, err = b.newPage(a, c, tasks, files); err != nil {
		return err
	}
	b.failover, err = a.start(&b.computing, func(dev backend.Device) ([]restore.Option, func(), error) { return b.use(ctx, a, dev) })
	if err != nil {
		return err
	}
	defer b.failover.End()
	b.remarkMethod(a)
	own, err := r.loadOwn(ctx, a)
	if err != nil {
		return err
	}
	ofRaw := slices.Clip(opts)
	opts = append(ofRaw, own...)
	return a.writePage(ctx, b, a.batch(ctx, c.Name(), tasks, func(ctx context.Context, _ int, t plan.Task) (*record.Outcome, string, error) {
		if t.Raw {
			return a.restoreRaw(ctx, r, t, ofRaw)
		}
		if b.preview.given() {
			return a.previewOne(ctx, r, t, opts)
		}
		return a.restoreOne(ctx, r, t, opts)
	}))
}

// restoreOne does one task: read, compute, write, compare.
func (a *app) restoreOne(ctx context.Context, r restorer, t plan.Task, opts []restore.Option) (*record.Outcome, string, error) {
	b, seconds := r.shared(), stopwatch()
	m, file, err := a.readOriginal(ctx, t.Input, b.reading)
	if err != nil {
		return nil, "", err
	}
	memory.Limit(m.Width*m.Height, r.memory(m))
	noise, err := noiseOfFound(ctx, r, m)
	if err != nil {
		return nil, "", err
	}
	if noise != nil {
		opts = append(slices.Clone(opts), restore.Noise(*noise))
	}
	opts = append(slices.Clip(opts), r.ofFile(m)...)
	scale := floatRangeOf(m)
	if scale != nil {
		m.Pix = scale.scaled
	}
	img := planarOf(m)
	if b.writing.alpha.value == "drop" {
		img.Alpha = nil // all colours are to be seen
	}
	if err := r.frame(t.Input, m); err != nil {
		return nil, "", err
	}
	opt := b.writing.options(m, t.Output, b.Force)
	if scale != nil {
		a.remarkRange(t.Input, scale, opt)
	}
	opt.Threads = b.Threads
	if err := imagefile.CheckWrite(m, opt); err != nil {
		return nil, "", fileError{message.OutputName(t.Output), err}
	}
	if err := a.page.Before(img, m); err != nil {
		return nil, "", err
	}
	m.Pix = nil // until they are those of the result
	// The reference waits in memory: what is wrong with it is said before the work.
	var reference []float32
	if b.reference != "" {
		if reference, err = a.readReference(ctx, b.reference, m, b.reading); err != nil {
			return nil, "", err
		}
		if scale != nil {
			reference = scale.scale(reference)
		}
	}
	bar := a.newProgress(t.Input)
	defer bar.Clear()
	bar.Show(0, 0)
	b.bar = bar
	if err := r.look(ctx, img); err != nil {
		return nil, "", err
	}
	var out *restore.Planar
	var report *restore.Report
	err = b.failover.Run(opts, func(opts []restore.Option) (err error) {
		out, report, err = asPlanar(r.solve(ctx, img, append([]restore.Option{
			restore.Progress(func(p backend.Progress) error {
				bar.Show(p.Fraction, p.Residual)
				a.page.Progress(p)
				return ctx.Err()
			}),
		}, opts...)...))
		return err
	})
	if err != nil {
		return nil, "", err
	}
	bar.Clear()
	m.Pix = out.Pix
	if scale != nil && writesFloat(opt) {
		m.Pix = scale.back(out.Pix)
	}
	o := record.Of(m, report)
	if o.Unchanged {
		o.Anew, err = a.writeUnchanged(ctx, t.Output, m, opt, file)
		o.Copied = o.Anew == ""
	} else {
		o.Network = b.networkInfoFor(report.Method)
		a.warn(t.Input, m)
		err = a.write(ctx, t.Output, m, opt)
	}
	if err != nil {
		return nil, "", err
	}
	m.Pix = out.Pix
	r.describe(o)
	if reference != nil {
		if o.Fidelity, err = record.FidelityOf(reference, m.Pix); err != nil {
			return nil, "", fileError{b.reference, err}
		}
	}
	o.Seconds = seconds()
	if err := a.page.After(m, r.removedBlur(), report); err != nil {
		return nil, "", err
	}
	a.remarkRun(t.Input, report)
	return o, o.Summary(r.achieved(o)), nil
}

// noiseOfFound measures the noise of a damaged image in the part that could be read, and is nil
// for all others. The grey of the rest has none, and gets the levels of the nearest squares.
func noiseOfFound(ctx context.Context, r restorer, m *imagefile.Image) (*restore.NoiseEstimate, error) {
	if m.Lost.Empty() {
		return nil, nil
	}
	part := *m
	part.Pix, part.Alpha = slices.Clone(m.Pix), nil
	found := m.Found()
	part.Crop(found.Dy(), found.Dx(), found.Min.Y, found.Min.X)
	noise, err := r.noiseOfWhole(ctx, &part)
	if noise == nil || err != nil {
		return nil, err
	}
	whole := noise.Part(image.Rect(0, 0, m.Width, m.Height).Sub(found.Min))
	return &whole, nil
}

// asPlanar undoes the generality of image.Image: of a Planar package restore
// makes a Planar.
func asPlanar(img image.Image, report *restore.Report, err error) (*restore.Planar, *restore.Report, error) {
	if err != nil {
		return nil, nil, err
	}
	p, ok := img.(*restore.Planar)
	if !ok {
		return nil, nil, fmt.Errorf("the result is a %T, want a planar image", img)
	}
	return p, report, nil
}
