package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// recipeFlags are the flags about what is trained and how: all that ends up in a
// train.Config.
type recipeFlags struct {
	method       string
	recipe       choice
	configFile   string
	set          []string
	width        int
	blocks       int
	sigma        sigmaRange
	batch        int
	crop         int
	iterations   int
	learningRate rateRange
	seed         uint64

	flags *pflag.FlagSet
	own   []string // their names
}

const (
	recipeDefault = "default"
	recipePaper   = "paper"
	recipeDeblur  = "deblur"
	recipeGuided  = "guided"
	recipeCamera  = "camera"
	recipeRaw     = "raw"

	recipeGuidedDeblur = "guided-deblur"
)

func (r *recipeFlags) bind(c *cobra.Command) {
	before := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	d := train.DefaultConfig()
	f := c.Flags()
	r.flags = f
	f.StringVarP(&r.method, "method", "m", d.Integrator, "train the network of `NAME`: "+strings.Join(trainable(), ", "))
	r.recipe = newChoice(recipeDefault, recipePaper, recipeDeblur, recipeGuided, recipeGuidedDeblur, recipeCamera, recipeRaw)
	f.Var(&r.recipe, "recipe", "where the configuration starts from, if not from --config")
	f.StringVar(&r.configFile, "config", "", "start from the configuration in a JSON `FILE`; other fields are the recipe's")
	f.StringArrayVar(&r.set, "set", nil, "set a field of the configuration, `KEY=VALUE`; can be repeated")
	f.IntVar(&r.width, "width", d.Width, "`N` channels of the layers")
	f.IntVar(&r.blocks, "blocks", d.Blocks, fmt.Sprintf("`N` blocks (with --recipe paper %d), or layers of dncnn (%d)", train.PaperConfig("euler").Blocks, d.ForDnCNN().Blocks))
	f.Var(&r.sigma, "sigma", fmt.Sprintf("noise level, where 1 is white, such as 25/255, or LOW..HIGH (default %v)", d.SigmaMax))
	f.IntVar(&r.batch, "batch", d.Batch, "`N` crops in a batch (with --recipe paper 5)")
	f.IntVar(&r.crop, "crop", d.Crop, "crops of N×N `PIXELS`")
	f.IntVarP(&r.iterations, "iterations", "n", d.Iterations, fmt.Sprintf("`N` updates of the weights (with --recipe paper %d, with --range-test %d)", train.PaperConfig("euler").Iterations, rangeTestIterations))
	f.Var(&r.learningRate, "learning-rate", fmt.Sprintf("largest learning rate, or MIN..MAX; --lr is the same (default %v)", d.Schedule.Maximum))
	f.Uint64Var(&r.seed, "seed", 1, "`NUMBER` of the initial weights, crops and noise")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "lr" {
			name = "learning-rate"
		}
		return pflag.NormalizedName(name)
	})
	completeChoice(c, "recipe", &r.recipe)
	words := newChoice(trainable()...)
	completeChoice(c, "method", &words)
	must(c.MarkFlagFilename("config", "json"))
	f.VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			r.own = append(r.own, f.Name)
		}
	})
}

// names are those of the flags.
func (r *recipeFlags) names() []string { return r.own }

// trainable lists the methods that there is a trainer for.
func trainable() []string {
	var names []string
	for _, t := range rungekutta.Integrators() {
		if _, err := t.Radius(); err == nil && t.Check() == nil {
			names = append(names, t.Name)
		}
	}
	return append(names, weights.FamilyDnCNN)
}

// config returns the configuration that the flags describe. What is wrong with it is a
// usageError, and what is wrong with the file of --config a fileError.
func (a *app) config(c *cobra.Command, r *recipeFlags) (train.Config, error) {
	given := r.flags.Changed
	var config train.Config
	switch {
	case given("config") && given("recipe"):
		return config, usagef("--config and --recipe both say where to start from; give one of them")
	case given("config"):
		if r.configFile == "" {
			return config, usagef("--config is empty; give the name of a file, or leave it out")
		}
		text, err := readInput(c.Context(), a, r.configFile, &configurations, io.ReadAll)
		if err != nil {
			return config, err
		}
		if config, err = train.UnmarshalConfig(text); err != nil {
			return config, fileError{r.configFile, err}
		}
	case r.recipe.value == recipePaper:
		config = train.PaperConfig(r.method)
	case r.recipe.value == recipeDeblur:
		config = train.DeblurringConfig()
	case r.recipe.value == recipeGuided:
		config = train.GuidedConfig()
	case r.recipe.value == recipeGuidedDeblur:
		config = train.GuidedDeblurringConfig()
	case r.recipe.value == recipeCamera:
		config = train.CameraConfig()
	case r.recipe.value == recipeRaw:
		config = train.RawConfig()
	default:
		config = train.DefaultConfig()
	}
	if given("method") || !given("config") {
		if err := r.useMethod(&config, !given("config")); err != nil {
			return config, err
		}
	}
	r.apply(&config)
	if r.recipe.value == recipePaper && config.Schedule.Maximum == 0 && len(r.set) == 0 && !r.rangeTesting() {
		return config, usagef("--recipe paper needs --learning-rate MIN..MAX; --range-test finds them")
	}
	if r.rangeTesting() && config.Schedule.Maximum == 0 {
		config.Schedule.Maximum = 1 // of no matter to the test, but it must be something
	}
	return r.applySet(config)
}

// rangeTesting tells whether the flags are for a range test.
func (r *recipeFlags) rangeTesting() bool { return r.flags.Changed("range-test") }

// useMethod makes the configuration one of the method's network. From a recipe it also
// takes the paper's size.
func (r *recipeFlags) useMethod(config *train.Config, fromRecipe bool) error {
	words := newChoice(trainable()...)
	if err := words.Set(r.method); err != nil {
		return usagef("--method %s: there is no training for it; %v", message.OneLine(r.method), err)
	}
	switch {
	case r.method == weights.FamilyDnCNN:
		blocks := config.Blocks
		*config = config.ForDnCNN()
		if !fromRecipe {
			config.Blocks = blocks
		}
	case config.Family == weights.FamilyDnCNN:
		config.Family, config.Integrator, config.Constraint = weights.FamilyAveraged, r.method, train.DefaultConfig().Constraint
	default:
		config.Integrator = r.method
	}
	return nil
}

// apply takes over the named flags that were given.
func (r *recipeFlags) apply(config *train.Config) {
	for _, f := range []struct {
		name string
		from int
		to   *int
	}{
		{"width", r.width, &config.Width}, {"blocks", r.blocks, &config.Blocks}, {"batch", r.batch, &config.Batch},
		{"crop", r.crop, &config.Crop}, {"iterations", r.iterations, &config.Iterations},
	} {
		if r.flags.Changed(f.name) {
			*f.to = f.from
		}
	}
	if r.flags.Changed("sigma") {
		switch {
		case config.Deblur != nil:
			config.Deblur.NoiseMin, config.Deblur.NoiseMax = r.sigma.low, r.sigma.high
		default:
			before := *config
			*config = config.ForNoiseLevels(r.sigma.low, r.sigma.high)
			if len(before.Levels) > 0 && len(config.Levels) > 0 {
				config.LossExponent = before.LossExponent
			}
		}
	}
	if r.flags.Changed("learning-rate") {
		config.Schedule.Maximum = r.learningRate.high
		if r.learningRate.ranged {
			config.Schedule.Minimum = r.learningRate.low
		}
	}
	if r.flags.Changed("seed") || !r.flags.Changed("config") {
		config.Seed = r.seed
	}
}

// applySet returns the configuration with the fields of --set, checked.
func (r *recipeFlags) applySet(config train.Config) (train.Config, error) {
	text, err := train.MarshalConfig(config)
	if err != nil {
		return config, err
	}
	if text, err = train.SetFields(text, r.set); err != nil {
		return config, usagef("--set %s", message.OneLine(err.Error()))
	}
	if config, err = train.UnmarshalConfig(text); err != nil {
		return config, usageError{err}
	}
	return config, nil
}

var configurations = fileKind{"a configuration (JSON)", 1 << 20, errors.New("has more than 1 MB, which no configuration has")}

// sigmaRange is one noise level, or a range that they are drawn from.
type sigmaRange struct{ low, high float64 }

func (s *sigmaRange) String() string {
	if s.high == 0 {
		return ""
	}
	return rangeText(s.low, s.high)
}

func (s *sigmaRange) Type() string { return "S|LOW..HIGH" }

func (s *sigmaRange) Set(text string) error {
	low, high, isRange := strings.Cut(text, "..")
	var from, to sigmaFlag
	if err := from.Set(low); err != nil {
		return err
	}
	to = from
	if isRange {
		if err := to.Set(high); err != nil {
			return err
		}
	}
	if from.value > to.value {
		return fmt.Errorf("want the lower one first")
	}
	s.low, s.high = from.value, to.value
	return nil
}

// rateRange is a largest learning rate, or a smallest and a largest one.
type rateRange struct {
	low, high float64
	ranged    bool
}

func (r *rateRange) String() string {
	switch {
	case r.ranged:
		return rangeText(r.low, r.high)
	case r.high > 0:
		return decimal(r.high)
	}
	return ""
}

func (r *rateRange) Type() string { return "MAX|MIN..MAX" }

func (r *rateRange) Set(text string) error {
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		low, high = "0", text
	}
	from, errFrom := parseNumber(low)
	to, errTo := parseNumber(high)
	switch {
	case errFrom != nil || errTo != nil:
		return fmt.Errorf("want a number such as 1e-3, or two such as 1e-4..1e-3")
	case !(from >= 0 && from <= to && to > 0):
		return fmt.Errorf("want numbers above 0, the smaller one first")
	}
	r.low, r.high, r.ranged = from, to, isRange
	return nil
}

func rangeText(low, high float64) string {
	if low == high {
		return decimal(low)
	}
	return decimal(low) + ".." + decimal(high)
}

// decimal writes a number with as many digits as it needs.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
