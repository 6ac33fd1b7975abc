package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/restore"
)

// evaluation holds the flags of eval.
type evaluation struct {
	reading
	computing
	methods    []string
	weights    []string
	sigmas     sigmaList
	blind      bool
	kernelFile string
	seed       uint64
	limit      int
	tile       string
	adapt      bool
}

func (a *app) evalCommand() *cobra.Command {
	e := &evaluation{}
	c := &cobra.Command{
		Use:   "eval FOLDER --sigma LIST",
		Short: "Measure denoisers on a folder of images",
		Long: `Adds Gaussian noise to every image in a folder and those below it, denoises it with
each of the methods, and prints how near the results are to the originals: the mean
PSNR (peak 1, nothing is clipped) and SSIM, what the PSNR was before, and the mean
seconds for an image. There is a row for each method and noise level; -v adds a row
for each image.

--method names methods that need no weight file, total variation (tv) and embedded
networks ('restore info' describes them); --weights names the files of others. Both
can be several, and are compared on the same noise. Without either it is the default
method, ` + restore.DefaultMethod() + `, or with --kernel the default prior, ` + restore.DefaultPrior() + `.
` + embeddedNetworks() + `

The noise of an image depends on --seed and on its place among the images of the
folder in the order of their names, and is that of 'restore degrade --seed', with
the same sequence at every level: the first image has the seed N, the next N+1, and
so on. The methods are told its level, unless --blind lets them estimate it.

With --kernel FILE deblurring is measured instead: images are blurred with the
kernel, circularly, before the noise is added, and restored by plug-and-play with
each of the methods as the prior.`,
		Example: `  restore eval holdout --sigma 0.15
  restore eval holdout --sigma 15/255,25/255,50/255 --method tv --weights run/weights.safetensors
  restore eval holdout --sigma 0.15 --method tv,` + exampleNetwork() + ` --limit 10 -v
  restore eval holdout --sigma 0.15 --weights a.safetensors --weights b.safetensors
  restore eval holdout --sigma 2.55/255 --kernel shake.pfm --json`,
		Args: inputs(1, 1, "a folder of images"),
	}
	f := c.Flags()
	f.Var(&e.sigmas, "sigma", "standard deviations of the noise, where 1 is white, separated by commas; 25/255 works too (required)")
	f.StringSliceVarP(&e.methods, "method", "m", nil, "measure the methods of these `NAMES`, separated by commas; 'restore info' describes them")
	f.StringArrayVar(&e.weights, "weights", nil, "measure the network of a weight `FILE` (safetensors); can be repeated")
	f.BoolVar(&e.blind, "blind", false, "let the noise level be estimated from each noisy image")
	f.StringVarP(&e.kernelFile, "kernel", "k", "", "image `FILE` of a blur kernel: measure deblurring")
	f.Uint64Var(&e.seed, "seed", 1, "`NUMBER` of the noise of the first image")
	f.IntVar(&e.limit, "limit", 0, "only the first `N` images; 0: all")
	f.StringVar(&e.tile, "tile", "auto", "compute networks in tiles of `SIDE` pixels, or auto; the result does not depend on it")
	expert(c, "tile")
	bindAdapt(c, &e.adapt)
	e.computing.bind(c)
	e.reading.bind(c)
	completeMethod(c, "method", readyMethods())
	if err := c.MarkFlagFilename("weights", "safetensors"); err != nil {
		panic(err) // the flag was not defined: a mistake in this program, found by any test
	}
	c.RunE = func(c *cobra.Command, args []string) error { return a.eval(c, e, args[0]) }
	return c
}

// sigmaList are several noise levels.
type sigmaList []float64

func (l *sigmaList) String() string {
	words := make([]string, len(*l))
	for i, v := range *l {
		words[i] = decimal(v)
	}
	return strings.Join(words, ",")
}

func (l *sigmaList) Type() string { return "LIST" }

// Set adds to the list, so that the flag can be repeated.
func (l *sigmaList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		var s sigmaFlag
		if err := s.Set(strings.TrimSpace(word)); err != nil {
			return err
		}
		*l = append(*l, s.value)
	}
	return nil
}

// check finds what is wrong without a file.
func (e *evaluation) check() error {
	if err := e.reading.check(); err != nil {
		return err
	}
	switch {
	case len(e.sigmas) == 0:
		return usagef("eval needs --sigma LIST, such as 0.15 or 15/255,25/255,50/255")
	case e.limit < 0:
		return usagef("--limit %d: want 1 or more, or 0 for all images", e.limit)
	}
	files := []string{e.kernelFile}
	for _, w := range e.weights {
		if w == "" {
			return usagef("--weights is empty; give the name of a file, or leave it out")
		}
		files = append(files, w)
	}
	return readOnce(files...)
}

// contender is a method in the comparison.
type contender struct {
	restoration
	label   string
	options []restore.Option
}

// contenders loads the networks. done frees them.
func (e *evaluation) contenders(c *cobra.Command, a *app, dev backend.Device) (list []*contender, done func(), err error) {
	var frees []func()
	done = func() {
		for _, f := range frees {
			f()
		}
	}
	for _, name := range e.methods {
		list = append(list, &contender{restoration: restoration{method: name, flag: "method", tile: e.tile}, label: name})
	}
	for _, file := range e.weights {
		list = append(list, &contender{restoration: restoration{weights: file, flag: "method", tile: e.tile}})
	}
	if len(list) == 0 {
		method := restore.DefaultMethod()
		if e.kernelFile != "" {
			method = restore.DefaultPrior()
		}
		list = append(list, &contender{restoration: restoration{method: method, flag: "method", tile: e.tile}, label: method})
	}
	labels := map[string]int{}
	for _, k := range list {
		if k.weights == "" {
			if err := k.checkMethod(c); err != nil {
				done()
				return nil, nil, err
			}
		}
		if k.side, err = tileSide(e.tile); err != nil {
			done()
			return nil, nil, err
		}
		chosen, free, err := k.use(c.Context(), a, dev)
		if err != nil {
			done()
			return nil, nil, err
		}
		frees = append(frees, free)
		k.options = append(chosen, restore.Device(dev), restore.Adaptation(e.adapt))
		if info := k.networkInfo(); info != nil {
			k.label = oneLine(info.Name)
		}
		labels[k.label]++
	}
	for _, k := range list {
		if k.weights != "" && labels[k.label] > 1 {
			k.label = name(k.weights)
		}
	}
	return list, done, nil
}

func (a *app) eval(c *cobra.Command, e *evaluation, folder string) error {
	ctx := c.Context()
	if err := e.check(); err != nil {
		return err
	}
	if _, err := tileSide(e.tile); err != nil {
		return err
	}
	images, err := a.evalImages(ctx, folder, e.limit)
	if err != nil {
		return err
	}
	dev, err := e.open()
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	contenders, done, err := e.contenders(c, a, dev)
	if err != nil {
		return err
	}
	defer done()
	run := &comparison{app: a, flags: e, dev: dev, contenders: contenders, images: images}
	if e.kernelFile != "" {
		k, err := a.readKernel(ctx, e.kernelFile, e.reading)
		if err != nil {
			return err
		}
		run.kernel = &k
	}
	if len(images) == 0 {
		a.note("nothing to do: no image was found in %s", name(folder))
		return statusError(exitNothing)
	}
	return run.all(ctx, folder)
}

// evalImages lists the images of a folder; a file is a list of one.
func (a *app) evalImages(ctx context.Context, folder string, limit int) ([]source, error) {
	if folder == standardStream {
		return nil, usagef("- (standard input) is not a folder of images; name one")
	}
	d := &destination{recursive: true}
	list, err := d.sources(ctx, []string{folder}, true)
	if err != nil {
		return nil, err
	}
	if len(list) == 1 && list[0].path == folder && list[0].err != nil {
		return nil, fileError{folder, list[0].err}
	}
	list = slices.DeleteFunc(list, func(s source) bool {
		if s.unfit != "" {
			a.remark(s.path, "skipped, it %s", s.unfit)
		}
		return s.unfit != ""
	})
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// comparison is a run of eval.
type comparison struct {
	app        *app
	flags      *evaluation
	dev        backend.Device
	kernel     *deblur.Kernel // nil: denoising
	contenders []*contender
	images     []source

	bar    *progressBar
	parts  int // of the work: images times methods times levels
	done   int
	failed int
	width  int // of the first column
}

// score is how near a result came to the original.
type score struct {
	noisy, psnr, ssim, seconds float64
}

// total sums up scores.
type total struct {
	score
	images, withSSIM int
}

func (t *total) add(s score) {
	t.images++
	t.noisy, t.psnr, t.seconds = t.noisy+s.noisy, t.psnr+s.psnr, t.seconds+s.seconds
	if !math.IsNaN(s.ssim) {
		t.withSSIM++
		t.ssim += s.ssim
	}
}

func (t *total) mean() score {
	n := float64(t.images)
	return score{t.noisy / n, t.psnr / n, t.ssim / float64(t.withSSIM), t.seconds / n}
}

// all measures everything, and prints the rows of a noise level when it is done.
func (r *comparison) all(ctx context.Context, folder string) error {
	r.parts = len(r.flags.sigmas) * len(r.images) * len(r.contenders)
	r.bar = r.app.newProgress(folder)
	defer r.bar.clear()
	r.bar.show(0, 0)
	r.header()
	for _, sigma := range r.flags.sigmas {
		totals := make([]total, len(r.contenders))
		for i, s := range r.images {
			if err := r.one(ctx, i, s, sigma, totals); err != nil {
				return err
			}
		}
		for i, k := range r.contenders {
			if totals[i].images > 0 {
				if err := r.meanRow(k, sigma, &totals[i]); err != nil {
					return err
				}
			}
		}
	}
	if r.failed > 0 {
		return statusError(exitFailed)
	}
	return nil
}

// one measures all methods on an image. Its error ends the run; that of an image is
// printed.
func (r *comparison) one(ctx context.Context, index int, s source, sigma float64, totals []total) error {
	clean, noisy, err := r.degrade(ctx, index, s, sigma)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.done += len(r.contenders)
		return r.fail(s.path, nil, sigma, err)
	}
	before, err := quality.PSNR(clean.Pix, noisy.Pix, 1)
	if err != nil {
		return err
	}
	for i, k := range r.contenders {
		result, err := r.measure(ctx, k, clean, noisy, sigma)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.done++
		if err != nil {
			if err := r.fail(s.path, k, sigma, err); err != nil {
				return err
			}
			continue
		}
		result.noisy = before
		totals[i].add(result)
		if err := r.imageRow(k, s.path, index, sigma, result); err != nil {
			return err
		}
	}
	return nil
}

// degrade reads an image, and returns it as it is and with blur and noise.
func (r *comparison) degrade(ctx context.Context, index int, s source, sigma float64) (clean, noisy *imagefile.Image, err error) {
	if s.err != nil {
		return nil, nil, s.err
	}
	if clean, err = r.app.read(ctx, s.path, r.flags.reading); err != nil {
		return nil, nil, err
	}
	degraded := *clean
	degraded.Pix, degraded.Alpha = append([]float32(nil), clean.Pix...), nil
	if r.kernel != nil {
		if err := blur(r.dev, &degraded, *r.kernel, deblur.Circular); err != nil {
			return nil, nil, err
		}
	}
	return clean, &degraded, addNoise(r.dev, &degraded, r.seed(index), float32(sigma))
}

func (r *comparison) seed(index int) uint64 { return r.flags.seed + uint64(index) }

// measure restores an image with a method.
func (r *comparison) measure(ctx context.Context, k *contender, clean, noisy *imagefile.Image, sigma float64) (score, error) {
	began := time.Now()
	opts := append([]restore.Option{
		restore.Progress(func(p restore.ProgressReport) error {
			r.bar.show((float64(r.done)+p.Fraction)/float64(r.parts), 0)
			return ctx.Err()
		}),
	}, k.options...)
	if !r.flags.blind {
		opts = append(opts, restore.Sigma(sigma))
	}
	var out *restore.Planar
	var err error
	if r.kernel == nil {
		out, _, err = asPlanar(restore.Denoise(ctx, planarOf(noisy), opts...))
	} else {
		opts = append(opts, restore.Boundary(deblur.Circular))
		out, _, err = asPlanar(restore.Deblur(ctx, planarOf(noisy), *r.kernel, opts...))
	}
	if err != nil {
		return score{}, err
	}
	result := score{seconds: time.Since(began).Seconds()}
	if result.psnr, err = quality.PSNR(clean.Pix, out.Pix, 1); err != nil {
		return score{}, err
	}
	result.ssim, err = quality.SSIM(clean.Pix, out.Pix, clean.Channels, clean.Height, clean.Width)
	if errors.Is(err, quality.ErrTooSmall) {
		result.ssim, err = math.NaN(), nil
	}
	return result, err
}

// fail tells that an image could not be measured; k is nil where that holds for every
// method.
func (r *comparison) fail(path string, k *contender, sigma float64, err error) error {
	r.failed++
	r.bar.clear()
	text := r.app.failTask(task{input: path}, err)
	if !r.app.json {
		return r.app.stdout.err
	}
	rec := evalRecord{Schema: schema, Command: "eval", Input: path, Sigma: number(sigma), Error: text}
	rec.of(k)
	return r.app.printJSON(rec)
}
