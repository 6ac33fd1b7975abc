package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// Config has all settings of a run except the data. DefaultConfig has useful values; the zero value has not.
// It is stored as JSON.
type Config struct {
	// Seed of all random numbers.
	Seed uint64 `json:"seed"`

	// Family is weights.FamilyAveraged or weights.FamilyDnCNN.
	Family string `json:"family"`
	// Initial is the checksum of the weights that the run started from (Data.Initial), or empty for random
	// ones.
	Initial string `json:"initial"`
	// Channels is the number of channels of an image, Width that of the layers, and Kernel the odd height and
	// width of the filters. Blocks is the number of blocks, or of a DnCNN's layers with normalisation.
	Channels int `json:"channels"`
	Width    int `json:"width"`
	Kernel   int `json:"kernel"`
	Blocks   int `json:"blocks"`
	// Shuffle q ≥ 2 makes an averaged network work at 1/q of the resolution, on q² times the channels
	// (denoise.Model.Shuffle); 0 or 1 is none. Crops must be a multiple of it.
	Shuffle int `json:"shuffle"`
	// Slope of LeakyReLU, in (0, 1]. A DnCNN has ReLU.
	Slope float64 `json:"slope"`
	// Group G ≥ 1 makes an averaged network project groups of G hidden channels onto balls of learned radii
	// (activation.Balls) instead of LeakyReLU; it must divide Width. 0 means LeakyReLU.
	Group int `json:"group"`
	// Guide makes a network that looks at the photograph set the radii of the balls at every pixel (package
	// guide); nil means the same radii everywhere. It needs Group.
	Guide *Guide `json:"guide,omitempty"`
	// Integrator is the name of an explicit method of rungekutta.Integrators; empty for a DnCNN.
	Integrator string `json:"integrator"`
	// Length is h, the integration time of a block; 0 means the radius of the integrator, the paper's choice.
	Length float64 `json:"length"`

	// Constraint of an averaged network is Adaptive or Budget, of a DnCNN Free.
	Constraint Constraint `json:"constraint"`
	// NormLimit is the limit of the norm c under Budget. Length·NormLimit² must be at most twice the radius.
	// A slightly smaller value leaves room between the norm that training estimates and the proven one.
	NormLimit float64 `json:"norm_limit"`
	// InitialNorm is c/NormLimit before training, in (0, 1).
	InitialNorm float64 `json:"initial_norm"`
	// PowerSize is the height and width of the images of the power iterations.
	PowerSize int `json:"power_size"`
	// PowerIterations is their largest number before training; they end when the norm has settled.
	PowerIterations int `json:"power_iterations"`

	// SigmaMin and SigmaMax bound the standard deviation of the noise, on images in [0,1]. It is drawn
	// uniformly for each crop. They may be equal.
	SigmaMin float64 `json:"sigma_min"`
	SigmaMax float64 `json:"sigma_max"`
	// Levels are increasing noise levels between which the biases and gains of an averaged network are
	// interpolated (denoise.Model.Sigmas); a network without them does not know the noise level. With them
	// the constraint is Budget. All crops of an iteration then have one noise level, drawn uniformly in √σ,
	// and the loss is divided by (σ/SigmaMax)^LossExponent, so that low noise counts as well.
	Levels       []float64 `json:"levels"`
	LossExponent float64   `json:"loss_exponent"`
	// Deblur makes a network with levels learn to be the prior of restore.Deblur instead of removing noise;
	// nil means removing noise. The levels and the loss are as above, but SigmaMin and SigmaMax are not used
	// for drawing.
	Deblur *Deblurring `json:"deblur,omitempty"`
	// Camera makes a network with levels learn the noise of cameras; nil means white noise.
	Camera *Camera `json:"camera,omitempty"`
	// Raw makes a network with levels learn the mosaics of raw photographs; nil means pictures.
	Raw *Raw `json:"raw,omitempty"`
	// Batch is the number of crops that go through the network together, Accumulate the number of batches in
	// the gradient of one iteration, and Crop the height and width of a crop in pixels.
	Batch      int `json:"batch"`
	Accumulate int `json:"accumulate"`
	Crop       int `json:"crop"`
	// Reduce is the largest factor by which crops are reduced. Every other crop is cut out larger, by a
	// factor drawn uniformly from 1 to Reduce, and averaged down. 0 or 1 is none.
	Reduce float64 `json:"reduce,omitempty"`
	// Saved is the share of crops, in [0, 1], that first lose detail and colour to JPEG, like the photographs
	// that people have.
	Saved float64 `json:"saved,omitempty"`
	// Augment flips crops and turns them by multiples of 90 degrees.
	Augment bool `json:"augment"`

	// Iterations is the number of updates of the weights.
	Iterations int       `json:"iterations"`
	Optimiser  Optimiser `json:"optimiser"`
	Schedule   Schedule  `json:"schedule"`
	// AverageDecay d makes the result a moving average of the weights, average ← d·average + (1−d)·weights
	// after each iteration, with a smaller d at the start; 0 means no average.
	AverageDecay float64 `json:"average_decay"`

	// HalfPrecision makes the weight file of an averaged network hold float16 numbers, which are certified as
	// stored. For a DnCNN only the filters are float16.
	HalfPrecision bool `json:"half_precision"`

	// ReportEvery, ValidateEvery and CheckpointEvery are numbers of iterations. 0 means
	// only at the end.
	ReportEvery     int `json:"report_every"`
	ValidateEvery   int `json:"validate_every"`
	CheckpointEvery int `json:"checkpoint_every"`
	// ValidationSigmas are the noise levels of the validation; an empty list means SigmaMin and SigmaMax, or
	// those of Deblur.
	ValidationSigmas []float64 `json:"validation_sigmas"`
	// ValidationSeed is the seed of the validation's noise, the same in every validation.
	ValidationSeed uint64 `json:"validation_seed"`

	// ActivationMemory is the number of bytes for activations that the backward pass of an averaged network
	// needs. If it is too small, blocks are computed twice, with the same bits.
	ActivationMemory int64 `json:"activation_memory"`
}

// DefaultConfig is the recipe of "general" for one noise level: an averaged network with Euler's method, the paper's
// channels and noise level, but half of its blocks, at half the resolution, with balls of 8 channels instead of
// LeakyReLU, and under Budget. docs/notebook/training.md has the gain of each of these.
func DefaultConfig() Config {
	return Config{
		Family: weights.FamilyAveraged, Channels: 3, Width: 64, Kernel: 3, Blocks: 5, Shuffle: 2, Group: 8, Slope: 0.01,
		Integrator: "euler", Constraint: Budget, NormLimit: 1.4, InitialNorm: 0.88, PowerSize: 32, PowerIterations: 1000,
		SigmaMin: 0.15, SigmaMax: 0.15, Batch: 8, Accumulate: 1, Crop: 64, Augment: true,
		Iterations: 30_000, Optimiser: MuonDefaults(), Schedule: Schedule{Name: Cosine, Maximum: 0.02, Warmup: 100},
		AverageDecay: 0.999, HalfPrecision: true,
		ReportEvery: 10, ValidateEvery: 500, CheckpointEvery: 100, ActivationMemory: 2 << 30,
	}
}

// ForNoiseLevels returns the configuration for noise of low to high, 0 < low ≤ high ≤ 1. An averaged network
// under Budget with more than one noise level gets tables for levels at most an octave apart.
func (c Config) ForNoiseLevels(low, high float64) Config {
	c.SigmaMin, c.SigmaMax = low, high
	c.Levels, c.LossExponent = nil, 0
	if c.Family != weights.FamilyAveraged || c.Constraint != Budget || !(0 < low && low < high) {
		return c
	}
	octaves := math.Ceil(math.Log2(high / low))
	for i := range int(octaves) {
		c.Levels = append(c.Levels, low*math.Pow(high/low, float64(i)/octaves))
	}
	c.Levels = append(c.Levels, high)
	c.LossExponent = lossExponent
	return c
}

// lossExponent is that of networks for many noise levels. Above 1 all levels would count
// alike; the high ones are the harder ones, and 0.65 was better than 1.3 at all.
const lossExponent = 0.5

// PaperConfig is the paper's recipe for an integrator: LeakyReLU and the image's resolution. The caller fills
// in the learning rates and the weight decay. The paper chose them by a range test and on a validation set.
func PaperConfig(integrator string) Config {
	c := DefaultConfig()
	c.Integrator, c.Constraint, c.Batch, c.AverageDecay = integrator, Adaptive, 5, 0
	c.Blocks, c.Shuffle, c.Group, c.Iterations, c.HalfPrecision = 10, 0, 0, 40_000, false
	c.Optimiser = Optimiser{Name: SGD, Momentum: 0.9, WeightDecay: 1e-5}
	c.Schedule = Schedule{Name: PiecewiseLinear}
	return c
}

// ForDnCNN returns the configuration for a DnCNN with the paper's 18 layers. It has no norm to bound, no
// shuffle and no balls.
func (c Config) ForDnCNN() Config {
	c.Family, c.Integrator, c.Constraint = weights.FamilyDnCNN, "", Free
	c.Shuffle, c.Group, c.Levels, c.LossExponent, c.Deblur, c.Camera, c.Raw, c.Guide, c.Blocks = 0, 0, nil, 0, nil, nil, nil, nil, 18
	return c
}

// Limits that keep numbers from a file within reason.
const (
	maxSize  = 1 << 16
	maxCount = 1 << 30
)

// Check returns an error unless the configuration can be trained.
func (c Config) Check() error {
	for _, n := range []struct {
		what     string
		is       int
		min, max int
	}{
		{"channels", c.Channels, 1, maxSize}, {"width", c.Width, c.Channels, maxSize}, {"kernel", c.Kernel, 1, maxSize},
		{"blocks", c.Blocks, 1, 1 << 12}, {"batch", c.Batch, 1, maxSize}, {"accumulate", c.Accumulate, 1, maxSize},
		{"crop", c.Crop, 1, maxSize}, {"iterations", c.Iterations, 1, maxCount}, {"report_every", c.ReportEvery, 0, maxCount},
		{"validate_every", c.ValidateEvery, 0, maxCount}, {"checkpoint_every", c.CheckpointEvery, 0, maxCount},
	} {
		if n.is < n.min || n.is > n.max {
			return fmt.Errorf("%s is %d, must be from %d to %d", n.what, n.is, n.min, n.max)
		}
	}
	if c.Kernel%2 == 0 {
		return fmt.Errorf("kernel is %d, must be odd", c.Kernel)
	}
	sigmas := append([]float64{c.SigmaMin, c.SigmaMax}, c.ValidationSigmas...)
	for _, s := range sigmas {
		if !(s > 0 && s <= 1) {
			return fmt.Errorf("a noise level is %v, must be above 0 and at most 1", s)
		}
	}
	if c.SigmaMin > c.SigmaMax {
		return fmt.Errorf("sigma_min %v is above sigma_max %v", c.SigmaMin, c.SigmaMax)
	}
	if !(c.AverageDecay >= 0 && c.AverageDecay < 1) {
		return fmt.Errorf("average_decay is %v, must be 0 or more and below 1", c.AverageDecay)
	}
	if !(c.Reduce >= 0 && c.Reduce <= 16) {
		return fmt.Errorf("reduce is %v, must be from 0 to 16", c.Reduce)
	}
	if !(c.Saved >= 0 && c.Saved <= 1) {
		return fmt.Errorf("saved is %v, must be from 0 to 1", c.Saved)
	}
	if c.Saved > 0 && c.Channels != 1 && c.Channels != 3 {
		return fmt.Errorf("saved is for 1 or 3 channels, not %d", c.Channels)
	}
	if err := c.Optimiser.check(); err != nil {
		return err
	}
	if err := c.Schedule.check(); err != nil {
		return err
	}
	switch c.Family {
	case weights.FamilyAveraged:
		return c.checkAveraged()
	case weights.FamilyDnCNN:
		if c.Constraint != Free || c.Integrator != "" {
			return fmt.Errorf("a DnCNN has the constraint %q and no integrator, not %q and %q", Free, c.Constraint, c.Integrator)
		}
		if c.shuffle() != 1 || len(c.Levels) > 0 || c.Group != 0 || c.Deblur != nil || c.Camera != nil || c.Raw != nil || c.Guide != nil {
			return errors.New("a DnCNN has no shuffle, no levels, no groups and no guide, and is not trained for deblurring")
		}
		return nil
	}
	return fmt.Errorf("family %.40q, must be %q or %q", c.Family, weights.FamilyAveraged, weights.FamilyDnCNN)
}

func (c Config) checkAveraged() error {
	t, err := c.tableau()
	if err != nil {
		return err
	}
	r, err := t.Radius()
	if err != nil {
		return err
	}
	if !(c.Slope > 0 && c.Slope <= 1) {
		return fmt.Errorf("slope is %v, must be above 0 and at most 1", c.Slope)
	}
	if !(c.Length >= 0) || math.IsInf(c.Length, 1) {
		return fmt.Errorf("length is %v, must be 0 or more", c.Length)
	}
	if c.PowerSize < 1 || c.PowerSize > maxSize || c.PowerIterations < 1 || c.PowerIterations > maxCount {
		return fmt.Errorf("%d power iterations on images of %d×%d, both must be at least 1", c.PowerIterations, c.PowerSize, c.PowerSize)
	}
	if err := c.checkLevels(); err != nil {
		return err
	}
	if err := c.checkDeblurring(); err != nil {
		return err
	}
	if err := c.checkCamera(); err != nil {
		return err
	}
	if err := c.checkRaw(); err != nil {
		return err
	}
	if c.Group < 0 || c.Group > 0 && c.Width%c.Group != 0 {
		return fmt.Errorf("group is %d, must divide the width %d, or be 0 for LeakyReLU", c.Group, c.Width)
	}
	if c.Guide != nil {
		if c.Group == 0 {
			return errors.New("a guide sets the radii of balls, and the network has none: group is 0")
		}
		if err := c.Guide.check(); err != nil {
			return err
		}
	}
	switch q := c.shuffle(); {
	case q < 1 || q > c.Width/q:
		return fmt.Errorf("shuffle is %d, must be 0 or more, and shuffle²·channels at most the width %d", c.Shuffle, c.Width)
	case c.Width/(q*q) < c.Channels:
		return fmt.Errorf("width is %d, must be at least %d: shuffle²·channels", c.Width, q*q*c.Channels)
	case c.Crop%q != 0:
		return fmt.Errorf("crop is %d, must be a multiple of shuffle, %d", c.Crop, q)
	}
	switch h := c.length(r); {
	case c.Constraint == Adaptive:
		return nil
	case c.Constraint != Budget:
		return fmt.Errorf("constraint %.40q of an averaged network, must be %q or %q", c.Constraint, Adaptive, Budget)
	case !(c.InitialNorm > 0 && c.InitialNorm < 1):
		return fmt.Errorf("initial_norm is %v, must be above 0 and below 1", c.InitialNorm)
	case !(c.NormLimit > 0) || !(h*c.NormLimit*c.NormLimit <= 2*r):
		return fmt.Errorf("norm_limit is %v, must be above 0 and at most √(2r/h) = %.4g", c.NormLimit, math.Sqrt(2*r/h))
	}
	return nil
}

func (c Config) checkLevels() error {
	if !(c.LossExponent >= 0 && c.LossExponent <= 4) {
		return fmt.Errorf("loss_exponent is %v, must be from 0 to 4", c.LossExponent)
	}
	if len(c.Levels) == 0 {
		if c.LossExponent != 0 {
			return errors.New("loss_exponent is for a network with levels")
		}
		return nil
	}
	if c.Constraint != Budget {
		return fmt.Errorf("a network with levels has the constraint %q, not %.40q", Budget, c.Constraint)
	}
	for i, s := range c.Levels {
		if !(s > 0 && s <= 1) || i > 0 && s <= c.Levels[i-1] {
			return fmt.Errorf("levels are %v, must rise within (0, 1]", c.Levels)
		}
	}
	return nil
}

func (c Config) shuffle() int {
	if c.Shuffle == 0 {
		return 1
	}
	return c.Shuffle
}

// tableau returns the integrator of an averaged network, an explicit one.
func (c Config) tableau() (rungekutta.Tableau, error) {
	t, err := rungekutta.Named(c.Integrator)
	if err != nil {
		return rungekutta.Tableau{}, err
	}
	return t, t.Check()
}

func (c Config) length(radius float64) float64 {
	if c.Length == 0 {
		return radius
	}
	return c.Length
}

func (c Config) validationSigmas() []float64 {
	if len(c.ValidationSigmas) > 0 {
		return c.ValidationSigmas
	}
	if c.Deblur != nil {
		return slices.Compact([]float64{c.Deblur.NoiseMin, c.Deblur.NoiseMax})
	}
	return slices.Compact([]float64{c.SigmaMin, c.SigmaMax})
}

// MarshalConfig returns the JSON of a configuration, for people to read.
func MarshalConfig(c Config) ([]byte, error) {
	b, err := json.MarshalIndent(c, "", "  ")
	return append(b, '\n'), err
}

// UnmarshalConfig reads the output of MarshalConfig, or JSON that a person wrote. Missing fields have the
// values of DefaultConfig; unknown ones are an error.
func UnmarshalConfig(data []byte) (Config, error) {
	c := DefaultConfig()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", decodingError(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("configuration: something follows the JSON object")
	}
	if err := c.Check(); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return c, nil
}

// recipe returns the configuration as one line.
func recipe(c Config) (string, error) {
	b, err := json.Marshal(c)
	return "configuration " + string(b), err
}
