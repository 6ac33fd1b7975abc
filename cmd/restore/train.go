package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// training holds the flags of train.
type training struct {
	reading
	computing
	recipeFlags
	sourceFlags
	run       string
	initial   string
	resume    bool
	rangeTest rangeFlag
	force     bool
}

func (a *app) trainCommand() *cobra.Command {
	t := &training{}
	c := &cobra.Command{
		Use:   "train FOLDER -o RUN",
		Short: "Train a denoising network on a folder of images",
		Long: `Trains a network on all images in a folder and those below it: random crops get
noise, and the network learns to remove it. With --val, images of another folder are
denoised from time to time to measure what was learned. Files that are no images, or
too small, are named and left out.

RUN is a folder with config.json, metrics.jsonl, curves.png, a checkpoint and at the
end weights.safetensors, with its certificate. Ctrl-C writes a checkpoint, and
'restore train --resume -o RUN' continues.

'restore man train' describes methods, recipes and configurations.`,
		Annotations: manual.Story(`--method names an explicit integrator, whose network is proven to be nonexpansive or
averaged when it is finished, or dncnn, the unconstrained network to compare with.

The default recipe is a network at half the resolution that projects groups of 8
channels onto balls. The norm of every block stays below a limit, so that one step is
enough, and the result is a moving average of the weights. With --sigma LOW..HIGH the
network knows the noise level.

--recipe paper is that of Sherry et al. (2024): LeakyReLU at full resolution,
stochastic gradient descent with momentum, a learning rate that rises and falls, and
as many steps in a block as its norm asks for. It needs --learning-rate, which
--range-test finds.

--recipe deblur is for the prior of 'restore deblur': the crops are blurred too, and
the network learns from the end of the iteration. Begin it with --init, the weights of
a network for many noise levels. --sigma is the noise of the blurred crops.

--recipe guided is for noise of 0.01 to 0.3, or of --sigma, and gives the network a
guide: a second network without constraints that looks at the photograph and sets how
strong the projections are at every pixel. The certificate stays as it is. Four crops
in five are saved as JPEG first, as most photographs are ("saved").

--recipe camera is for photographs: each batch goes through a simulated camera, from
its sensor to JPEG. --recipe raw is for the mosaics of raw photographs, by simulated
sensors. --recipe guided-deblur has a guide learn from runs of deblurring.
Begin all three with --init, the weights of a guided network.

Everything else is in a configuration, a JSON object. --config FILE reads one (RUN/
config.json of any run is complete), and --set KEY=VALUE changes any of its fields, as
in --set optimiser.weight_decay=1e-4 or --set augment=false. Named flags change what
--config says, and --set what both say.

RUN is a folder, which is made:
  config.json             the configuration
  command.json            folders, name and licence
  metrics.jsonl           loss, PSNR, learning rate, norms and steps, speed, a line
                          for every report
  curves.png              the same as a picture, drawn anew at each validation
  checkpoint.safetensors  from which --resume continues
  weights.safetensors     the result, with its certificate, for 'restore denoise
                          --weights', 'restore deblur', 'restore check'

An interrupt (Ctrl-C) writes a checkpoint and ends with status 130. 'restore train
--resume -o RUN' continues, after a kill or a crash too. The result has the same bits as
without the interruption, on the same kind of processor, for any number of threads.
For a finished run it writes the weight file again.

--range-test trains for a short while, as the learning rate rises from one value to
another by equal factors, and prints the learning rates for a schedule: the maximum is
where the loss was smallest, the minimum a tenth of it. With -o RUN it also draws the
loss in RUN/range-test.png.`),
		Example: `  restore train photographs -o run --val holdout
  restore train --resume -o run
  restore train photographs -o run --method heun --sigma 25/255 --iterations 20000
  restore train photographs -o all-levels --sigma 0.01..0.3
  restore train photographs -o guided --recipe guided
  restore train photographs -o camera --recipe camera --init guided/weights.safetensors
  restore train photographs -o raw --recipe raw --init camera/weights.safetensors
  restore train photographs -o prior --recipe deblur --init all-levels/weights.safetensors
  restore train photographs -o run2 --config run/config.json --seed 2
  restore train photographs --range-test --recipe paper --method rk4`,
		Args: inputs(0, 1, "one folder of images"),
	}
	f := c.Flags()
	f.StringVarP(&t.run, "output", "o", "", "the run: a new `FOLDER`, or with --resume an old one (required, except --range-test)")
	f.BoolVar(&t.resume, "resume", false, "continue the run in the folder of -o")
	f.StringVar(&t.initial, "init", "", "begin with the weights in this `FILE`, of a network of the same form, not at random")
	t.rangeTest.bind(c)
	f.BoolVar(&t.force, "force", false, "let --range-test overwrite an earlier picture; a run is never overwritten")
	t.sourceFlags.bind(c)
	t.recipeFlags.bind(c)
	t.computing.bind(c)
	c.Flags().Lookup("backend").Usage = "train on `DEVICE`: auto, cpu or cuda[:N]; auto: the fastest that works"
	t.Gradients = true
	t.reading.bind(c)
	must(c.MarkFlagFilename("init", "safetensors"))
	c.RunE = func(c *cobra.Command, args []string) error { return a.train(c, t, args) }
	return c
}

// train checks what can be checked without a file, and does one of the three things
// that the command can do.
func (a *app) train(c *cobra.Command, t *training, args []string) error {
	if err := t.reading.check(); err != nil {
		return err
	}
	if len(args) == 1 {
		t.Data = args[0]
	}
	if t.Data == message.StandardStream {
		return usagef("- (standard input) is not a folder of images; name one")
	}
	if err := t.sourceFlags.check(c); err != nil {
		return err
	}
	if err := t.checkApart(); err != nil {
		return err
	}
	if err := readOnce(t.configFile, t.initial); err != nil {
		return err
	}
	switch {
	case t.resume:
		if err := t.refuse(c, "continues the run as it began", "range-test", "init", "force"); err != nil {
			return err
		}
		if t.run == "" {
			return usagef("train --resume needs -o RUN, the folder of the run")
		}
		return a.resumeTraining(c, t)
	case t.Data == "":
		return usagef("train needs a folder of images; 'restore train --help' shows examples")
	case c.Flags().Changed("init") && t.initial == "":
		return usagef("--init is empty; give the name of a file, or leave it out")
	case t.rangeTest.given && t.initial != "":
		return usagef("--range-test begins with random weights; leave --init out")
	case t.rangeTest.given:
		return a.testRange(c, t)
	case t.force:
		return usagef("--force is for --range-test: a run is never overwritten; take another folder, or continue with --resume")
	case t.run == "":
		return usagef("train needs -o RUN, a folder for the run")
	}
	return a.beginTraining(c, t)
}

// refuse returns an error if a flag about the recipe, or one of some others, was given
// with --resume.
func (t *training) refuse(c *cobra.Command, why string, others ...string) error {
	for _, flag := range append(t.recipeFlags.names(), others...) {
		if c.Flags().Changed(flag) {
			return usagef("--resume %s; leave --%s out", why, flag)
		}
	}
	return nil
}

// beginTraining makes a run and trains it.
func (a *app) beginTraining(c *cobra.Command, t *training) error {
	ctx := c.Context()
	config, err := a.config(c, &t.recipeFlags)
	if err != nil {
		return err
	}
	if err := checkRunFolder(t.run); err != nil {
		return err
	}
	var initial *weights.File
	if t.initial != "" {
		if initial, err = a.readWeights(ctx, t.initial); err != nil {
			return err
		}
	}
	// Create would write down what it is given.
	switch {
	case config.Initial == "":
	case initial == nil:
		return usagef("the configuration begins with the weights %s; give their file with --init, or write --set initial= to begin with others", message.OneLine(config.Initial))
	case initial.Checksum() != config.Initial:
		return usagef("--init %s: the configuration begins with the weights %s; give those, or write --set initial= to begin with others", message.OneLine(t.initial), message.OneLine(config.Initial))
	}
	dev, err := a.open(&t.computing)
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	data, err := a.trainingData(ctx, t, config)
	if err != nil {
		return err
	}
	data.Initial = initial
	t.describe(t.run, data)
	run, err := train.Create(dev, t.run, config, data)
	if err != nil {
		return trainingError(ctx, t.run, err)
	}
	if err := t.sourceFlags.write(t.run); err != nil {
		return errors.Join(err, run.Close())
	}
	return a.finishTraining(ctx, t, run)
}

// resumeTraining continues a run.
func (a *app) resumeTraining(c *cobra.Command, t *training) error {
	ctx := c.Context()
	config, err := train.ReadConfig(t.run)
	if err != nil {
		return runError(t.run, train.ConfigFile, err)
	}
	if err := t.sourceFlags.recall(c, t.run); err != nil {
		return err
	}
	if err := t.checkApart(); err != nil {
		return err
	}
	dev, err := a.open(&t.computing)
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	data, err := a.trainingData(ctx, t, config)
	if err != nil {
		return err
	}
	t.describe(t.run, data)
	run, err := train.Open(dev, t.run, data)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return runError(t.run, train.CheckpointFile, err)
		}
		return trainingError(ctx, t.run, err)
	}
	if err := t.sourceFlags.write(t.run); err != nil {
		return errors.Join(err, run.Close())
	}
	a.Detail("%s: continues after iteration %d of %d", message.FileName(t.run), run.Iteration(), config.Iterations)
	return a.finishTraining(ctx, t, run)
}

// checkApart refuses a run in a folder of images, where its pictures would become some.
func (t *training) checkApart() error {
	for _, folder := range []string{t.Data, t.Validation} {
		if folder == "" || t.run == "" {
			continue
		}
		relative, err := filepath.Rel(plan.Identity(folder), plan.Identity(t.run))
		if err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			return usagef("-o %s lies in the folder of images %s, where its curves.png would become one of them; take a folder beside it", message.OneLine(t.run), message.OneLine(folder))
		}
	}
	return nil
}

// trainingError is an error of package train about a run.
func trainingError(ctx context.Context, run string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, train.ErrDiverged):
		err = fmt.Errorf("%w; take a smaller --learning-rate, which --range-test finds", err)
	case errors.Is(err, backend.ErrOutOfMemory):
		err = fmt.Errorf("%w; take a smaller --batch or --crop, or --set accumulate=2", err)
	}
	// A joined error has a line for each part. Its text names the file in RUN, which
	// fileError would take for RUN itself.
	return fileError{run, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))}
}
