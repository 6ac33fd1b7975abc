package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/devices"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/internal/evaluation"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
)

// evalFlags holds the flags of eval.
type evalFlags struct {
	reading
	computing
	methods    []string
	weights    []string
	sigmas     sigmaList
	blind      bool
	task       choice
	kernelFile string
	maskFile   string
	missing    shareFlag
	seed       uint64
	limit      int
	html       string // --html
	force      bool
	tile       string
	maxWork    float64
	adapt      bool
}

func (a *app) evalCommand() *cobra.Command {
	e := &evalFlags{}
	c := &cobra.Command{
		Use:   "eval FOLDER --sigma LIST",
		Short: "Measure methods on a folder of images",
		Long: `Adds Gaussian noise to every image in a folder and those below it, denoises it with
each method, and prints mean PSNR (peak 1) and SSIM, the PSNR before, and the mean
seconds. There is a row for each method and noise level; -v adds a row for each
image.

The default is ` + networks.DefaultMethod() + `, and ` + networks.DefaultPrior() + ` for deblurring and inpainting.
` + embeddedNetworks() + `
--kernel measures deblurring, --mask or --missing inpainting. 'restore man eval' has
more.`,
		Annotations: manual.Story(`--method names methods that need no weight file ('restore info' describes them);
--weights names the files of others. Both can be several, and are compared on the same
noise.

The noise of an image depends on --seed and on its place in the order of names: the
first image has the seed N, the next N+1, and so on, as in 'restore degrade --seed'.
The same sequence is used at every level. The methods know the noise level, unless
--blind lets them estimate it.

--task deblur: images are blurred with --kernel FILE, circularly, before the noise is
added. --task inpaint: pixels are missing, those that are white in --mask FILE, which
has the size of the images, or --missing SHARE of the pixels of each image, drawn by
its seed. Missing pixels count as black in the PSNR before. There is noise only where
--sigma says so. --task need not be given with --kernel, --mask or --missing.

--html FILE writes a page to look at, which works offline: the distribution of the
PSNR of each method, with a table, and the photographs on which it is lowest.`),
		Example: `  restore eval holdout --sigma 0.15
  restore eval holdout --sigma 15/255,25/255,50/255 --method tv --weights run/weights.safetensors
  restore eval holdout --sigma 0.15 --method tv,` + exampleNetwork() + ` --limit 10 --html holdout.html
  restore eval holdout --sigma 0.15 --weights a.safetensors --weights b.safetensors
  restore eval holdout --task deblur --kernel shake.pfm --sigma 2.55/255 --json
  restore eval holdout --task inpaint --missing 0.3 --html filled.html`,
		Args: inputs(1, 1, "a folder of images"),
	}
	f := c.Flags()
	f.Var(&e.sigmas, "sigma", "noise levels, where 1 is white, such as 0.02,25/255 (required but for inpainting)")
	f.StringSliceVarP(&e.methods, "method", "m", nil, "measure these methods, `NAMES` separated by commas; 'restore info' lists them")
	f.StringArrayVar(&e.weights, "weights", nil, "measure the network of a weight `FILE` (safetensors); can be repeated")
	f.BoolVar(&e.blind, "blind", false, "let the noise level be estimated from each noisy image")
	e.task = newChoice(evaluation.Denoise, evaluation.Deblur, evaluation.Inpaint)
	f.Var(&e.task, "task", "what is measured: "+message.Or(e.task.words))
	f.StringVarP(&e.kernelFile, "kernel", "k", "", "image `FILE` of a blur kernel: measure deblurring")
	f.StringVar(&e.maskFile, "mask", "", "image `FILE` whose white pixels are missing: measure inpainting")
	f.Var(&e.missing, "missing", "share of the pixels that are missing, such as 0.3 or 1/3: measure inpainting")
	f.Uint64Var(&e.seed, "seed", 1, "`NUMBER` of the noise of the first image")
	f.IntVar(&e.limit, "limit", 0, "only the first `N` images; 0: all")
	f.StringVar(&e.html, "html", "", "write a page `FILE`.html: distributions of the PSNR, and the worst photographs")
	f.BoolVar(&e.force, "force", false, "overwrite the page if it exists")
	f.StringVar(&e.tile, "tile", "auto", "compute networks in tiles of `SIDE` pixels, or auto; the result is the same")
	manual.Expert(c, "tile")
	bindMaxWork(c, &e.maxWork)
	bindAdapt(c, &e.adapt)
	e.computing.bind(c)
	e.reading.bind(c)
	completeMethod(c, "method", readyMethods())
	completeChoice(c, "task", &e.task)
	must(c.MarkFlagFilename("weights", "safetensors"))
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
		s := sigmaFlag{zero: true} // whether it may be 0 depends on the task: see checkTask
		if err := s.Set(strings.TrimSpace(word)); err != nil {
			return err
		}
		*l = append(*l, s.value)
	}
	return nil
}

// check finds what is wrong without a file, and which task it is.
func (e *evalFlags) check(c *cobra.Command) error {
	if err := e.reading.check(); err != nil {
		return err
	}
	if err := e.checkTask(c); err != nil {
		return err
	}
	if err := checkMaxWork(e.maxWork); err != nil {
		return err
	}
	if e.limit < 0 {
		return usagef("--limit %d: want 1 or more, or 0 for all images", e.limit)
	}
	if e.force && e.html == "" {
		return usagef("--force is for the page of --html FILE; give that, or leave it out")
	}
	if slices.Contains(e.weights, "") {
		return usagef("--weights is empty; give the name of a file, or leave it out")
	}
	return readOnce(e.files()...)
}

// files are those that are read besides the images; the names of some may be empty.
func (e *evalFlags) files() []string {
	return append([]string{e.kernelFile, e.maskFile}, e.weights...)
}

// contender is a method in the comparison.
type contender struct {
	restoration
	label   string
	options []restore.Option
}

// contenders loads the networks. done frees them.
func (e *evalFlags) contenders(c *cobra.Command, a *app, dev backend.Device) (list []*contender, done func(), err error) {
	var frees []func()
	done = func() {
		for _, f := range frees {
			f()
		}
	}
	for _, name := range e.methods {
		list = append(list, &contender{restoration: restoration{method: name, flag: "method", tile: e.tile, maxWork: e.maxWork}, label: name})
	}
	for _, file := range e.weights {
		list = append(list, &contender{restoration: restoration{weights: file, flag: "method", tile: e.tile, maxWork: e.maxWork}})
	}
	if len(list) == 0 {
		method := e.defaultMethod()
		list = append(list, &contender{restoration: restoration{method: method, flag: "method", tile: e.tile, maxWork: e.maxWork}, label: method})
	}
	labels := map[string]int{}
	for _, k := range list {
		if k.weights == "" {
			if err := k.checkMethod(c); err != nil {
				done()
				return nil, nil, err
			}
		}
		k.unnamed = k.unnamed && e.task.value == evaluation.Denoise // what a default adds is for denoising
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
		k.options = chosen
		if e.task.value != evaluation.Inpaint {
			k.options = append(k.options, restore.Adaptation(e.adapt))
		}
		if info := k.networkInfo(); info != nil {
			k.label = message.OneLine(info.Name)
		}
		labels[k.label]++
	}
	for _, k := range list {
		if k.weights != "" && labels[k.label] > 1 {
			k.label = message.FileName(k.weights)
		}
	}
	return list, done, nil
}

func (a *app) eval(c *cobra.Command, e *evalFlags, folder string) error {
	ctx := c.Context()
	if err := e.check(c); err != nil {
		return err
	}
	if _, err := tileSide(e.tile); err != nil {
		return err
	}
	images, err := a.evalImages(ctx, folder, e.limit)
	if err != nil {
		return err
	}
	page, err := e.newPage(folder, images)
	if err != nil {
		return err
	}
	run := &comparison{app: a, flags: e, images: images, page: page}
	run.device, err = a.start(&e.computing, func(dev backend.Device) (_ []restore.Option, done func(), err error) {
		run.contenders, done, err = e.contenders(c, a, dev)
		return nil, done, err
	})
	if err != nil {
		return err
	}
	defer run.device.End()
	if run.task, err = a.readTask(ctx, e); err != nil {
		return err
	}
	if len(images) == 0 {
		a.Note("nothing to do: no image was found in %s", message.FileName(folder))
		return statusError(exitNothing)
	}
	if err := page.begin(run); err != nil {
		return err
	}
	return page.write(ctx, a, run.all(ctx, folder))
}

// evalImages lists the images of a folder; a file is a list of one.
func (a *app) evalImages(ctx context.Context, folder string, limit int) ([]plan.Source, error) {
	if folder == message.StandardStream {
		return nil, usagef("- (standard input) is not a folder of images; name one")
	}
	d := &plan.Destination{Recursive: true}
	list, err := d.Sources(ctx, []string{folder}, true)
	if err != nil {
		return nil, err
	}
	if len(list) == 1 && list[0].Path == folder && list[0].Err != nil {
		return nil, fileError{folder, list[0].Err}
	}
	list = slices.DeleteFunc(list, func(s plan.Source) bool {
		if s.Unfit != "" {
			a.Remark(s.Path, "skipped, it %s", s.Unfit)
		}
		return s.Unfit != ""
	})
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// comparison is a run of eval.
type comparison struct {
	app        *app
	flags      *evalFlags
	device     *devices.Failover
	task       *evaluation.Task
	contenders []*contender // on the device
	images     []plan.Source
	page       *evalPage

	bar    *terminal.Bar
	parts  int // of the work: images times methods times levels
	done   int
	failed int
	width  int // of the first column
}

// all measures everything, and prints the rows of a noise level when it is done.
func (r *comparison) all(ctx context.Context, folder string) error {
	r.parts = len(r.flags.sigmas) * len(r.images) * len(r.contenders)
	r.bar = r.app.newProgress(folder)
	defer r.bar.Clear()
	r.bar.Show(0, 0)
	r.header()
	for _, sigma := range r.flags.sigmas {
		totals := make([]evaluation.Total, len(r.contenders))
		r.page.level(sigma)
		for i, s := range r.images {
			if err := r.one(ctx, i, s, sigma, totals); err != nil {
				return err
			}
		}
		for i, k := range r.contenders {
			if totals[i].Images > 0 {
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
func (r *comparison) one(ctx context.Context, index int, s plan.Source, sigma float64, totals []evaluation.Total) error {
	p, err := r.degrade(ctx, index, s, sigma)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.done += len(r.contenders)
		return r.fail(s.Path, nil, sigma, err)
	}
	for i := range r.contenders {
		result, err := r.measure(ctx, i, &p, sigma)
		k := r.contenders[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.done++
		if err != nil {
			if err := r.fail(s.Path, k, sigma, err); err != nil {
				return err
			}
			continue
		}
		totals[i].Add(result)
		if err := r.page.add(i, index, p, result); err != nil {
			return err
		}
		if err := r.imageRow(k, s.Path, index, sigma, result); err != nil {
			return err
		}
	}
	return nil
}

// degrade reads an image and degrades it.
func (r *comparison) degrade(ctx context.Context, index int, s plan.Source, sigma float64) (p evaluation.Photograph, err error) {
	if s.Err != nil {
		return p, s.Err
	}
	clean, err := r.app.read(ctx, s.Path, r.flags.reading)
	if err != nil {
		return p, err
	}
	r.app.measureInRange(s.Path, clean)
	err = r.device.On(func(dev backend.Device) (err error) {
		p, err = r.task.Degrade(dev, clean, index, sigma)
		return err
	})
	p.Name = message.FileName(s.Path)
	return p, err
}

// measure restores an image with the method that has this number.
func (r *comparison) measure(ctx context.Context, method int, p *evaluation.Photograph, sigma float64) (evaluation.Score, error) {
	var out *restore.Planar
	began := time.Now()
	err := r.device.Run([]restore.Option{
		restore.Progress(func(at backend.Progress) error {
			r.bar.Show((float64(r.done)+at.Fraction)/float64(r.parts), 0)
			return ctx.Err()
		}),
	}, func(opts []restore.Option) (err error) {
		out, _, err = asPlanar(r.task.Restore(ctx, *p, sigma, append(opts, r.contenders[method].options...)...))
		return err
	})
	if err != nil {
		return evaluation.Score{}, err
	}
	seconds := time.Since(began).Seconds()
	p.Restored = out.Pix
	result, err := evaluation.Measure(p.Clean, p.Given.Pix, p.Restored)
	result.Seconds = seconds
	return result, err
}

// fail tells that an image could not be measured; k is nil where that holds for every
// method.
func (r *comparison) fail(path string, k *contender, sigma float64, err error) error {
	r.failed++
	r.bar.Clear()
	text := r.app.failTask(plan.Task{Input: path}, err)
	r.page.fail(text)
	if !r.app.json {
		return r.app.stdout.err
	}
	rec := record.Eval{Schema: record.Schema, Command: "eval", Input: path, Sigma: record.Number(sigma), Error: text}
	if k != nil {
		rec.Method, rec.Network = k.method, k.networkInfo()
	}
	return r.app.printJSON(rec)
}
