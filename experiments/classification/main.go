// Classification is the paper's experiment on adversarial robustness (section 4.2): NonExpNet, a
// ResNet of the same form and the ResNet trained against attacks classify CIFAR-10, are attacked,
// and of NonExpNet it is proven how far no attack can succeed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/experiments/internal/cifar"
	"github.com/averaged/imaging/experiments/internal/classifier"
	"github.com/averaged/imaging/experiments/internal/command"
	"github.com/averaged/imaging/internal/findings"
)

func main() { command.Main(run) }

// The models, in the paper's order.
const (
	nonExpNet = "nonexpnet"
	resNet    = "resnet"
	resNetAT  = "resnet-at"
)

// options of a run.
type options struct {
	*command.Flags
	models        command.Words
	iterations    int
	iterationsRes int
	iterationsAT  int
	batch         int
	optimiser     string
	rates         command.Numbers // from, to
	decays        command.Numbers
	limit         float64
	stageLimit    float64
	widths        command.Numbers
	blocks        int
	heldOut       int
	seed          uint64
	reportOnly    bool
	attacked      int
	attackSize    int
	steps         int
	trainingSteps int
	epsilons      command.Numbers
}

func newOptions() *options {
	o := &options{
		Flags:  command.NewFlags("classification", "`folder` or zip file of CIFAR-10: images.zip, or the binary files"),
		models: command.Words{nonExpNet, resNet, resNetAT}, widths: command.Numbers{16, 32, 64, 128},
		epsilons: command.Numbers{0, 0.125, 0.25, 0.375, 0.5, 0.75, 1, 1.25, 1.5, 2},
	}
	o.Var(&o.models, "models", "which of nonexpnet, resnet and resnet-at")
	o.IntVar(&o.iterations, "iterations", 40_000, "updates of the weights; the paper has 40,000")
	o.IntVar(&o.iterationsRes, "resnet-iterations", 0, "updates of resnet; 0: as many as the others")
	o.IntVar(&o.iterationsAT, "at-iterations", 0, "updates of resnet-at, each of which takes eight times as long; 0: as many as the others")
	o.IntVar(&o.batch, "batch", 128, "pictures of an update")
	o.StringVar(&o.optimiser, "optimiser", "sgd", "sgd, the paper's, or muon")
	o.Var(&o.rates, "rates", "min and max learning rate; without it those of the optimiser")
	o.Var(&o.decays, "decays", "weight decays to be tried: the best one on the held-out pictures counts; without it the paper's choice")
	o.Float64Var(&o.limit, "limit", 0, "limit of the norms of the 1×1 layers of NonExpNet; 0 leaves them to weight decay, as the paper does")
	o.Float64Var(&o.stageLimit, "stage-limit", 0, "limit of the norms of its stages' filters, 1.4 for one step a block; 0 leaves them to weight decay, as the paper does")
	o.Var(&o.widths, "widths", "channels of the stages, and of the last layer")
	o.IntVar(&o.blocks, "blocks", 5, "blocks of a stage")
	o.IntVar(&o.heldOut, "held-out", 2500, "training pictures that are held out")
	o.Uint64Var(&o.seed, "seed", 1, "seed of all that is random")
	o.BoolVar(&o.reportOnly, "report", false, "train no further, and report on what there is")
	o.IntVar(&o.attacked, "attacked", 10_000, "test pictures that are attacked; attacks are what takes long")
	o.IntVar(&o.attackSize, "attack-batch", 64, "pictures that are attacked together; the result does not depend on it")
	o.IntVar(&o.steps, "attack-iterations", 100, "iterations of an attack")
	o.IntVar(&o.trainingSteps, "training-attack-iterations", 7, "iterations of an attack in adversarial training")
	o.Var(&o.epsilons, "epsilons", "sizes of the attacks, rising from 0")
	return o
}

func (o *options) check() error {
	for _, m := range o.models {
		if !slices.Contains([]string{nonExpNet, resNet, resNetAT}, m) {
			return command.Usagef("no model %q: nonexpnet, resnet, resnet-at", m)
		}
	}
	for i, e := range o.epsilons {
		if i == 0 && e != 0 || i > 0 && !(e > o.epsilons[i-1]) || math.IsInf(e, 0) {
			return command.Usagef("-epsilons %v: must rise from 0", o.epsilons.String())
		}
	}
	for _, d := range o.decays {
		if !(d >= 0) {
			return command.Usagef("-decays %v: must not be negative", o.decays.String())
		}
	}
	for _, w := range o.widths {
		if w != math.Trunc(w) {
			return command.Usagef("-widths %v: must be whole numbers", o.widths.String())
		}
	}
	switch {
	case len(o.epsilons) < 2:
		return command.Usagef("-epsilons needs 0 and one more")
	case len(o.rates) != 0 && len(o.rates) != 2:
		return command.Usagef("-rates needs two numbers")
	case o.attacked < 1 || o.attackSize < 1 || o.steps < 1 || o.trainingSteps < 1:
		return command.Usagef("numbers of pictures and of iterations must be at least 1")
	}
	return nil
}

// config returns the training of a model under a weight decay.
func (o *options) config(model string, decay float64) (classifier.Config, error) {
	kind := classifier.ResNet
	if model == nonExpNet {
		kind = classifier.NonExpNet
	}
	iterations := o.iterations
	switch {
	case model == resNet && o.iterationsRes > 0:
		iterations = o.iterationsRes
	case model == resNetAT && o.iterationsAT > 0:
		iterations = o.iterationsAT
	}
	c := classifier.PaperConfig(kind, iterations)
	if o.optimiser == "muon" {
		c = c.Muon()
	} else if o.optimiser != "sgd" {
		return c, command.Usagef("-optimiser %q: sgd or muon", o.optimiser)
	}
	c.Seed, c.Batch, c.Form.Blocks = o.seed, o.batch, o.blocks
	c.Form.Widths = nil
	for _, w := range o.widths {
		c.Form.Widths = append(c.Form.Widths, int(w))
	}
	if kind == classifier.NonExpNet {
		c.Form.Limit, c.Form.StageLimit = o.limit, o.stageLimit
	}
	if len(o.rates) == 2 {
		c.Schedule.Minimum, c.Schedule.Maximum = o.rates[0], o.rates[1]
	}
	if decay >= 0 {
		c.Optimiser.WeightDecay = decay
	}
	if model == resNetAT {
		c = c.Adversarial(o.trainingSteps)
	}
	return c, nil
}

// trained is a model with what is known of it.
type trained struct {
	name   string
	run    *classifier.Run
	all    []*classifier.Run // of all weight decays
	result *robustness
	// heldOut are loss and accuracy of each on the held-out pictures.
	heldOut []struct{ loss, accuracy float64 }
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o := newOptions()
	return o.Run(ctx, arguments, out, o.check, o.work)
}

func (o *options) work(ctx context.Context, dev backend.Device, out io.Writer) (*findings.Page, error) {
	data, err := cifar.Read(o.Data, o.heldOut, o.seed)
	if err != nil {
		return nil, err
	}
	if data.Training.Len() < o.batch {
		return nil, fmt.Errorf("%d training pictures make no batch of %d", data.Training.Len(), o.batch)
	}
	fmt.Fprintf(out, "%d training, %d held-out and %d test pictures\n", data.Training.Len(), data.HeldOut.Len(), data.Test.Len())
	models, err := o.train(ctx, dev, data, out)
	defer func() {
		for _, m := range models {
			for _, r := range m.all {
				r.Release()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		if m.result, err = o.evaluate(ctx, m, data, out); err != nil {
			return nil, err
		}
	}
	return o.report(models, data), nil
}

// train trains the models, each under the weight decays that are to be tried, and chooses by the
// loss on the held-out pictures. It returns what there is, also with an error.
func (o *options) train(ctx context.Context, dev backend.Device, data *cifar.Data, out io.Writer) (models []*trained, err error) {
	decays := o.decays
	if len(decays) == 0 {
		decays = command.Numbers{-1}
	}
	for _, name := range o.models {
		m := &trained{name: name}
		models = append(models, m)
		best := math.Inf(1)
		for _, decay := range decays {
			c, err := o.config(name, decay)
			if err != nil {
				return models, err
			}
			label := name + "-" + strconv.FormatFloat(c.Optimiser.WeightDecay, 'g', -1, 64)
			r, err := classifier.OpenRun(ctx, dev, filepath.Join(o.Out, label), c, data)
			if err != nil {
				return models, err
			}
			m.all = append(m.all, r)
			if !o.reportOnly {
				if err := o.trainOne(ctx, r, label, out); err != nil {
					return models, err
				}
			}
			loss, accuracy, err := r.HeldOut(ctx)
			if err != nil {
				return models, err
			}
			m.heldOut = append(m.heldOut, struct{ loss, accuracy float64 }{loss, accuracy})
			if loss < best {
				best, m.run = loss, r
			}
		}
		if m.run == nil {
			return models, fmt.Errorf("%s: no training has a finite loss", name)
		}
	}
	return models, nil
}

func (o *options) trainOne(ctx context.Context, r *classifier.Run, label string, out io.Writer) error {
	if r.Iteration() == r.Config().Iterations {
		return nil
	}
	began, from := time.Now(), r.Iteration()
	fmt.Fprintf(out, "%s: %d parameters, from iteration %d\n", label, r.Network().Count(), from)
	err := r.Train(ctx, func(p classifier.Progress) error {
		pace := time.Since(began) / time.Duration(p.Iteration-from)
		fmt.Fprintf(out, "%s: iteration %d, loss %.4f, %.1f %% right, rate %.3g", label, p.Iteration, p.Loss, 100*p.Accuracy, p.LearningRate)
		if p.Steps > 0 {
			fmt.Fprintf(out, ", %d steps", p.Steps)
		}
		if p.HeldOutLoss > 0 {
			fmt.Fprintf(out, ", held out: loss %.4f, %.2f %%", p.HeldOutLoss, 100*p.HeldOutAccuracy)
		}
		fmt.Fprintf(out, ", %.2f s each, %v left\n", pace.Seconds(), (pace * time.Duration(r.Config().Iterations-p.Iteration)).Round(time.Second))
		return nil
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", label, err)
	}
	return err
}
