package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/devices"
	"github.com/averaged/imaging/cmd/restore/internal/inventory"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/kernelimage"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// The names of the flag that chooses the denoiser.
const (
	selectMethod = "method" // of denoise
	selectPrior  = "prior"  // of commands that iterate
)

// restoration holds the flags about the computation that check and the commands that restore share.
type restoration struct {
	sigma      sigmaFlag
	method     string
	flag       string // what the flag of method is called: --method or --prior
	weights    string // file of a network; empty for total variation and embedded ones
	strength   strengthFlag
	iterations int
	tolerance  float64
	pull       float64 // --contraction
	tile       string
	maxWork    float64
	computing

	side        int              // of a tile, 0: automatic
	network     *denoise.Network // once loaded, nil for total variation
	unnamed     bool             // neither method nor weights were given
	coarse      *denoise.Network // of denoise then, for coarse noise, or nil
	mosaic      *denoise.Network // and that for mosaics, or nil
	mosaics     bool             // there are raw photographs among the inputs
	uncertified bool             // the network is to be as its weights say, without a proof
	prove       bool             // the certificate of embedded weights too
}

// bind defines the flags. tolerance says what --tolerance limits; a command without that flag has "".
func (r *restoration) bind(c *cobra.Command, flag, tolerance string) {
	f := c.Flags()
	r.sigma = sigmaFlag{auto: true}
	f.Var(&r.sigma, "sigma", "standard deviation of the noise, where 1 is white, such as 25/255; auto: measured")
	r.flag = flag
	f.StringVar(&r.method, flag, r.defaultMethod(), "denoiser `NAME`; 'restore info' lists and describes them")
	// Both commands take the name of the other for it.
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == selectPrior || name == selectMethod {
			name = flag
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&r.weights, "weights", "", "use the network in this `FILE` (safetensors)")
	r.strength = strengthFlag{factor: 1}
	f.Var(&r.strength, "strength", "light, normal, strong, or a factor: 2 removes noise of twice the measured level")
	f.IntVar(&r.iterations, "iterations", 0, "stop after `N` iterations; 0: the method's own limit")
	if tolerance != "" {
		f.Float64Var(&r.tolerance, "tolerance", 0, "stop at `T`, "+tolerance)
		manual.Expert(c, "tolerance")
	}
	f.StringVar(&r.tile, "tile", "auto", "compute networks in tiles of `SIDE` pixels, or auto; the result is the same")
	bindMaxWork(c, &r.maxWork)
	r.computing.bind(c)
	manual.Expert(c, "weights", "iterations", "tile")
	completeMethod(c, flag, readyMethods())
	must(c.MarkFlagFilename("weights", "safetensors"))
}

// bindMaxWork is the flag about how much work a network may ask for.
func bindMaxWork(c *cobra.Command, limit *float64) {
	c.Flags().Float64Var(limit, "max-work", denoise.DefaultWorkLimit,
		"refuse a network with more `MULTIPLICATIONS` (6e12: about a minute on one core)")
	manual.Expert(c, "max-work")
}

func checkMaxWork(limit float64) error {
	if !(limit > 0) {
		return usagef("--max-work %v: want a number above 0", limit)
	}
	return nil
}

// completeMethod lets the shell complete the names of methods, with what they are.
func completeMethod(c *cobra.Command, flag string, methods []restore.MethodInfo) {
	var words []cobra.Completion
	for _, m := range methods {
		words = append(words, cobra.CompletionWithDesc(m.Name, m.Description))
	}
	must(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// readyMethods are the methods that need no weight file.
func readyMethods() []restore.MethodInfo {
	return slices.DeleteFunc(restore.Methods(), func(m restore.MethodInfo) bool { return m.NeedsWeights })
}

func namesOf(methods []restore.MethodInfo) []string {
	var names []string
	for _, m := range methods {
		names = append(names, m.Name)
	}
	return names
}

// methodNames lists the methods that need no weight file.
func methodNames() string { return strings.Join(namesOf(readyMethods()), ", ") }

// settings checks the flags and turns them into options of package restore.
func (r *restoration) settings(a *app, c *cobra.Command) ([]restore.Option, error) {
	if err := r.checkMethod(c); err != nil {
		return nil, err
	}
	var err error
	if r.side, err = tileSide(r.tile); err != nil {
		return nil, err
	}
	if err := checkMaxWork(r.maxWork); err != nil {
		return nil, err
	}
	if r.side > 0 && !r.isNetwork() {
		a.Remark("", "--tile %s has no effect: total variation is computed for the whole image at once", r.tile)
	}
	var opts []restore.Option
	if r.strength.factor != 0 { // which leaves raw photographs as they are, and is refused for others
		opts = append(opts, restore.Strength(r.strength.factor))
	}
	if r.sigma.given && !(r.sigma.zero && r.sigma.value == 0) {
		opts = append(opts, restore.Sigma(r.sigma.value))
	}
	if r.iterations != 0 {
		opts = append(opts, restore.Iterations(r.iterations))
	}
	if c.Flags().Changed("tolerance") {
		opts = append(opts, restore.Tolerance(r.tolerance))
	}
	if f := c.Flags().Lookup("contraction"); f != nil && f.Changed {
		opts = append(opts, restore.Contraction(r.pull))
	}
	if err := restore.Validate(opts...); err != nil {
		return nil, optionError(err)
	}
	return opts, nil
}

// tileSide is the number of --tile, 0 if it is automatic.
func tileSide(text string) (int, error) {
	if text == "auto" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > denoise.LargestTile {
		return 0, usagef("--tile %s: want auto, or a number of pixels from 1 to %d", message.OneLine(text), denoise.LargestTile)
	}
	return n, nil
}

// optionError is an error of package restore about the value of an option, in the words of the
// flag that has the same name: kernel-size for KernelSize.
func optionError(err error) error {
	var wrong *restore.OptionError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := strings.ToLower(insideCapital.ReplaceAllString(wrong.Option, "-$0"))
	return usagef("--%s %v: want %s", flag, wrong.Value, wrong.Want)
}

var insideCapital = regexp.MustCompile(`\B[A-Z]`)

// checkMethod checks what can be known of --method and --weights without a file.
func (r *restoration) checkMethod(c *cobra.Command) error {
	r.unnamed = r.weights == "" && !c.Flags().Changed(r.flag)
	if r.weights != "" && !c.Flags().Changed(r.flag) {
		r.method = "" // the file says
		return nil
	}
	methods := restore.Methods()
	i := slices.IndexFunc(methods, func(m restore.MethodInfo) bool { return m.Name == r.method })
	switch {
	case i < 0 && !slices.Contains(weights.Names(), r.method):
		return usagef("--%s %s: unknown method; %sthere is: %s", r.flag, message.OneLine(r.method), message.DidYouMean(r.method, append(namesOf(methods), weights.Names()...)), methodNames())
	case r.weights == "" && slices.Contains(inventory.MissingNetworks(), r.method):
		return usagef("--%s %s: not in this build; %s; or use --%s %s", r.flag, r.method, inventory.HowToGetResearch, r.flag, r.defaultMethod())
	case i < 0:
		return usagef("--%s %s: not in this build; name its file with --weights alone, without --%s", r.flag, r.method, r.flag)
	case methods[i].NeedsWeights && r.weights == "":
		return usagef("--%s %s: this build ships no weights for it; give some with --weights FILE, or use --%s %s", r.flag, r.method, r.flag, r.defaultMethod())
	case r.weights != "" && !methods[i].NeedsWeights && !methods[i].Embedded:
		return usagef("--%s %s takes no weights; leave out one of --%s and --weights", r.flag, r.method, r.flag)
	}
	return nil
}

// defaultMethod is the method that is used where none is named.
func (r *restoration) defaultMethod() string {
	if r.flag == selectPrior {
		return networks.DefaultPrior()
	}
	return networks.DefaultMethod()
}

// helpWidth is the longest line of a help text, in columns.
const helpWidth = 84

// embeddedNetworks says in a help text which networks need no file.
func embeddedNetworks() string {
	text, column := "Built in:", len("Built in:")
	for i, name := range weights.Embedded() {
		if i > 0 {
			text, column = text+",", column+1
		}
		if column+len(" ,")+len(name) > helpWidth {
			text, column = text+"\n"+name, len(name)
			continue
		}
		text, column = text+" "+name, column+1+len(name)
	}
	return text + "."
}

// exampleNetwork is the first embedded network, for examples that work in this build.
func exampleNetwork() string { return weights.Embedded()[0] }

// bindLinearLight is the flag about what was blurred.
func bindLinearLight(c *cobra.Command, linear *choice) {
	*linear = newChoice("auto", "on", "off")
	c.Flags().Var(linear, "linear-light", "whether light was blurred, as in a camera, or samples; auto: the photograph tells")
	completeChoice(c, "linear-light", linear)
}

// lightOption is the option that --linear-light makes, nil where the photograph tells.
func lightOption(linear choice) restore.Option {
	switch linear.value {
	case "on":
		return restore.LinearLight()
	case "off":
		return restore.StoredSamples()
	}
	return nil
}

// bindBoundary is the flag about the world beyond the frame.
func bindBoundary(c *cobra.Command, b *choice, usage string) {
	*b = newChoice(deblur.Unknown.String(), deblur.Circular.String(), deblur.Zero.String(), deblur.Reflect.String())
	c.Flags().Var(b, "boundary", usage+": "+message.Or(b.words))
	manual.Expert(c, "boundary")
	completeChoice(c, "boundary", b)
}

// boundaryOf is the boundary of a flag, whose words are the names of boundaries.
func boundaryOf(b choice) deblur.Boundary {
	boundary, err := deblur.ParseBoundary(b.value)
	if err != nil {
		panic(err) // Set has taken no other word
	}
	return boundary
}

// readKernel reads a kernel from an image file.
func (a *app) readKernel(ctx context.Context, path string, r reading) (deblur.Kernel, error) {
	return readWeights(ctx, a, path, r, kernelimage.Kernel)
}

// readKernels reads a sheet of kernels from an image file.
func (a *app) readKernels(ctx context.Context, path string, cells gridFlag, r reading) (deblur.Grid, error) {
	return readWeights(ctx, a, path, r, func(m *imagefile.Image) (deblur.Grid, []string, error) {
		return kernelimage.Grid(m, cells.rows, cells.columns)
	})
}

// readWeights makes of an image file what it is an image of, and prints notes.
func readWeights[T any](ctx context.Context, a *app, path string, r reading, of func(*imagefile.Image) (T, []string, error)) (weights T, err error) {
	m, err := a.read(ctx, path, r)
	if err != nil {
		return weights, err
	}
	weights, notes, err := of(m)
	if err != nil {
		return weights, fileError{path, err}
	}
	for _, note := range notes {
		a.Remark(path, "%s", note)
	}
	return weights, nil
}

// batchFlags are the flags of a command that restores many images.
type batchFlags struct {
	failover *devices.Failover // from the time on when all inputs are known
	destination
	reading
	writing
	restoration
	reference string
	report    string // --report
	preview   previewFlag
	bar       *terminal.Bar // of the image at hand
}

func (b *batchFlags) bind(c *cobra.Command, flag, tolerance string) {
	b.destination.bind(c)
	b.restoration.bind(c, flag, tolerance)
	b.reading.bind(c)
	b.writing.bind(c)
	if flag == selectPrior {
		c.Flags().Float64Var(&b.pull, "contraction", 0, "pull each iterate towards the start by 1−`Q`, such as 0.98: gives an error bound")
		manual.Expert(c, "contraction")
	}
	c.Flags().StringVar(&b.reference, "reference", "", "print the PSNR of each result against this image `FILE`")
	manual.Expert(c, "reference")
	c.Flags().StringVar(&b.report, "report", "", "write a page `FILE`.html: before and after under a slider, and what is doubtful")
}

// bindAdapt is the flag of commands in which the strength of networks can follow the image.
func bindAdapt(c *cobra.Command, adapt *bool) {
	c.Flags().BoolVar(adapt, "adapt", true, "smooth less where the image has fine detail (networks without a guide)")
	manual.Expert(c, "adapt")
}

// prepare checks all flags, and returns the options and the tasks.
func (b *batchFlags) prepare(a *app, c *cobra.Command, args []string) ([]restore.Option, []plan.Task, error) {
	opts, err := b.settings(a, c)
	if err != nil {
		return nil, nil, err
	}
	if err := b.checkPreview(); err != nil {
		return nil, nil, err
	}
	if err := readOnce(b.reference, b.weights); err != nil {
		return nil, nil, err
	}
	if err := b.reading.check(); err != nil {
		return nil, nil, err
	}
	if err := b.writing.check(b.Output); err != nil {
		return nil, nil, err
	}
	tasks, err := b.plan(c.Context(), args)
	if err != nil {
		return nil, nil, err
	}
	if err := b.checkRawFlags(tasks); err != nil {
		return nil, nil, err
	}
	b.mosaics = slices.ContainsFunc(tasks, func(t plan.Task) bool { return t.Raw })
	return opts, tasks, b.protect(tasks, b.reference, b.weights)
}

// readOnce refuses to take two things from standard input.
func readOnce(files ...string) error {
	found := false
	for _, f := range files {
		if f == message.StandardStream && found {
			return usagef("- (standard input) can be read once; name a file for the other")
		}
		found = found || f == message.StandardStream
	}
	return nil
}

// readReference reads what the result of restoring m is compared with: a file of
// its size, or the middle of a larger one, because an image that was blurred
// beyond its frame is smaller than the original.
func (a *app) readReference(ctx context.Context, path string, m *imagefile.Image, r reading) ([]float32, error) {
	ref, err := a.read(ctx, path, r)
	if err != nil {
		return nil, err
	}
	if ref.Width < m.Width || ref.Height < m.Height {
		return nil, fileError{path, fmt.Errorf("the reference has %d×%d pixels and the result %d×%d; give one that is as large or larger",
			ref.Width, ref.Height, m.Width, m.Height)}
	}
	if ref.Channels != m.Channels {
		return nil, fileError{path, fmt.Errorf("the reference is %s and the result %s; give two of a kind", colours(ref.Channels), colours(m.Channels))}
	}
	ref.Crop(m.Height, m.Width, (ref.Height-m.Height)/2, (ref.Width-m.Width)/2)
	return ref.Pix, nil
}

func colours(channels int) string {
	if channels == 1 {
		return "grey"
	}
	return "colour"
}
