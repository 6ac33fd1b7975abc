package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

func testData(t testing.TB) Data {
	validation, err := NewPictures(3, []Picture{gradientPicture(3, 13, 14, false), gradientPicture(3, 7, 9, true)})
	require.NoError(t, err)
	return Data{Training: testPictures(t, 3), Validation: validation}
}

func testCard() weights.Card {
	return weights.Card{
		Name: "test", Licence: "Apache-2.0",
		Provenance: weights.Provenance{Software: "go test", Data: "a formula"},
	}
}

// content is what a run folder holds, without what the clock says.
type content struct {
	checkpoint, weights []byte
	metrics             []Metrics
}

func readContent(t testing.TB, folder string) (c content) {
	var err error
	c.checkpoint, err = os.ReadFile(filepath.Join(folder, CheckpointFile))
	require.NoError(t, err)
	c.weights, err = os.ReadFile(filepath.Join(folder, WeightsFile))
	require.NoError(t, err)
	lines, err := os.ReadFile(filepath.Join(folder, MetricsFile))
	require.NoError(t, err)
	for line := range strings.Lines(string(lines)) {
		var m Metrics
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		require.GreaterOrEqual(t, m.ImagesPerSecond, 0.0)
		m.ImagesPerSecond = 0
		c.metrics = append(c.metrics, m)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
	return c
}

func create(t testing.TB, dev backend.Device, folder string, c Config) *Run {
	r, err := Create(dev, folder, c, testData(t))
	require.NoError(t, err)
	return r
}

// end trains to the end, and writes the weights.
func end(t testing.TB, r *Run) {
	require.NoError(t, r.Train(t.Context(), nil))
	_, _, err := r.Finish(t.Context(), testCard())
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

// testConfigs are runs of all kinds.
func testConfigs() map[string]Config {
	budget, adaptive, accumulated := smallConfig(), smallConfig(), smallConfig()
	adaptive.Constraint, adaptive.Integrator, adaptive.AverageDecay = Adaptive, "heun", 0
	adaptive.Optimiser = Optimiser{Name: SGD, Momentum: 0.9, WeightDecay: 1e-4, GradientLimit: 1}
	adaptive.Schedule = Schedule{Name: PiecewiseLinear, Minimum: 0.1, Maximum: 3} // so that N grows
	accumulated.Accumulate, accumulated.Augment, accumulated.ValidationSigmas = 2, false, []float64{0.1}
	unconstrained := smallDnCNN()
	unconstrained.Accumulate = 2
	projected, both := smallConfig(), levelsConfig()
	projected.Group, both.Group = 3, 7
	both.HalfPrecision = true
	deblurring := levelsConfig()
	deblurring.Deblur = &Deblurring{NoiseMin: 0.01, NoiseMax: 0.05, Step: 10, Iterations: 1, Margin: 1}
	return map[string]Config{"deblurring": deblurring, "levels": levelsConfig(), "balls": projected, "levels and balls": both, "guided": guidedConfig(), "budget": budget, "adaptive": adaptive, "accumulated": accumulated, "dncnn": unconstrained}
}

// TestInterruptedRunsGiveTheSameBits: stopped by a context in the middle of an iteration
// or of a validation, by an error of the progress function, by a kill after or between
// checkpoints, and with another number of threads, a run ends with the same files.
func TestInterruptedRunsGiveTheSameBits(t *testing.T) {
	for name, c := range testConfigs() {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			end(t, create(t, processor(t, cpu.Threads(1)), whole, c))
			want := readContent(t, whole)
			require.Len(t, want.metrics, 4)
			require.Len(t, want.metrics[1].Validation, len(c.validationSigmas()))
			if name == "adaptive" {
				require.Greater(t, want.metrics[3].Blocks[0].Steps, 1)
			}

			folder := t.TempDir()
			run := create(t, processor(t), folder, c)
			open := func(dev backend.Device) {
				require.NoError(t, run.Close())
				var err error
				run, err = Open(dev, folder, testData(t))
				require.NoError(t, err)
			}
			// The progress function stops it after 2.
			errEnough := errors.New("enough")
			require.ErrorIs(t, run.Train(t.Context(), func(p backend.Progress) error {
				if p.Iteration == 2 {
					return errEnough
				}
				return nil
			}), errEnough)
			open(processor(t, cpu.Threads(3)))
			require.Equal(t, 2, run.Iteration())

			// A context ends in the third iteration, after some calls of the device.
			for calls := range 6 {
				stopping := &stoppingContext{Context: t.Context(), left: 1 + calls}
				require.ErrorIs(t, run.Train(stopping, nil), context.Canceled)
				open(processor(t))
			}
			// A kill at 4: the last checkpoint is of less, and a line of metrics is half written.
			done := run.Iteration()
			require.Less(t, done, 5)
			ctx, cancel := context.WithCancel(t.Context())
			kept, err := os.ReadFile(filepath.Join(folder, CheckpointFile))
			require.NoError(t, err)
			require.ErrorIs(t, run.Train(ctx, func(p backend.Progress) error {
				if p.Iteration == 4 {
					cancel()
				}
				return nil
			}), context.Canceled)
			require.NoError(t, os.WriteFile(filepath.Join(folder, CheckpointFile), kept, 0o600))
			f, err := os.OpenFile(filepath.Join(folder, MetricsFile), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString(`{"iteration":5,"lo`)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			open(processor(t, cpu.Threads(2)))
			require.Equal(t, done, run.Iteration())
			end(t, run)
			require.Equal(t, want, readContent(t, folder))
		})
	}
}

// stoppingContext ends when it has been asked a number of times.
type stoppingContext struct {
	context.Context
	left int
}

func (c *stoppingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedValidation is made up for by the next run.
func TestInterruptedValidation(t *testing.T) {
	c := smallConfig()
	c.ValidateEvery, c.CheckpointEvery, c.Iterations = 2, 0, 4
	whole := t.TempDir()
	end(t, create(t, processor(t), whole, c))
	want := readContent(t, whole)
	require.Len(t, want.metrics, 3)
	folder := t.TempDir()
	run := create(t, processor(t), folder, c)
	interrupted := false
	for calls := 1; !interrupted; calls++ {
		require.ErrorIs(t, run.Train(&stoppingContext{Context: t.Context(), left: calls}, nil), context.Canceled)
		interrupted = run.trainer.iteration == 2 && run.trainer.pending.Iterations == 2
		require.NoError(t, run.Close())
		var err error
		run, err = Open(processor(t), folder, testData(t))
		require.NoError(t, err)
		require.Less(t, run.Iteration(), 3, "an interruption in the validation is met")
	}
	end(t, run)
	require.Equal(t, want, readContent(t, folder))
}

// TestTrainingLearns: a network that has learned to remove noise from a smooth picture
// is better than doing nothing, in training and on the held-out pictures.
func TestTrainingLearns(t *testing.T) {
	smooth := func(h, w int) Picture {
		p := Picture{Channels: 1, Height: h, Width: w, Samples: make([]float32, h*w)}
		for i := range p.Samples {
			p.Samples[i] = float32(i%w+2*(i/w)) / float32(w+2*h)
		}
		return p
	}
	for _, constraint := range []Constraint{Budget, Adaptive} {
		c := smallConfig()
		c.Channels, c.Width, c.Blocks, c.Crop, c.Batch, c.Constraint = 1, 8, 2, 16, 4, constraint
		c.Optimiser = adamDefaults()
		c.Iterations, c.Schedule.Maximum, c.SigmaMin, c.SigmaMax, c.ReportEvery = 120, 0.02, 0.1, 0.1, 20
		training, err := NewPictures(1, []Picture{smooth(30, 40), smooth(40, 20)})
		require.NoError(t, err)
		validation, err := NewPictures(1, []Picture{smooth(24, 24)})
		require.NoError(t, err)
		folder := t.TempDir()
		r, err := Create(processor(t), folder, c, Data{Training: training, Validation: validation})
		require.NoError(t, err)
		end(t, r)
		m := readContent(t, folder).metrics
		require.Less(t, m[0].PSNR, 23.0, "noisy is 20 dB")
		require.Greater(t, m[len(m)-1].PSNR, 24.0)
		require.Greater(t, m[len(m)-1].Validation[0].PSNR, 24.0)
		if constraint == Budget {
			require.Equal(t, 1, m[len(m)-1].Blocks[0].Steps)
		}
	}
}

// TestFinish: the weight file has a certificate that holds, and is the network that was
// validated.
func TestFinish(t *testing.T) {
	for name, c := range testConfigs() {
		dev := processor(t)
		r := create(t, dev, t.TempDir(), c)
		require.NoError(t, r.Train(t.Context(), nil))
		path, certificate, err := r.Finish(t.Context(), testCard())
		require.NoError(t, err)
		averaged := c.Family == weights.FamilyAveraged
		require.Equal(t, averaged, certificate.Proven)
		f, err := weights.ReadFile(path)
		require.NoError(t, err)
		n, err := denoise.Load(t.Context(), dev, f)
		require.NoError(t, err)
		t.Cleanup(n.Free)
		_, proven := n.Averagedness()
		require.Equal(t, averaged, proven)
		card, _ := n.Card()
		require.Equal(t, c.Iterations, card.Provenance.Iterations)
		require.Equal(t, c.SigmaMax, card.Sigma)
		require.Contains(t, card.Provenance.Recipe, `"sigma_min":0.05`)
		for i, b := range certificate.Blocks {
			if c.Constraint == Budget {
				require.Equal(t, 1, b.Steps, name)
			}
			require.GreaterOrEqual(t, b.Steps, r.trainer.network.blockMetrics()[i].Steps)
		}
		require.NoError(t, r.Close())
	}
}

// TestFullDisk: a checkpoint that cannot be written ends the training with an error, and a line of
// metrics that cannot be written leaves the lines before.
func TestFullDisk(t *testing.T) {
	folder := t.TempDir()
	c := smallConfig()
	c.CheckpointEvery, c.ReportEvery = 1, 1
	run := create(t, processor(t), filepath.Join(folder, "run"), c)
	checkpoint, aside := filepath.Join(folder, "run", CheckpointFile), filepath.Join(folder, "aside")
	err := run.Train(t.Context(), func(p backend.Progress) error {
		if p.Iteration == 2 { // a folder in its place
			return errors.Join(os.Rename(checkpoint, aside), os.Mkdir(checkpoint, 0o777))
		}
		return nil
	})
	require.ErrorContains(t, err, CheckpointFile)
	require.NoError(t, run.Close())
	require.NoError(t, os.Remove(checkpoint))
	require.NoError(t, os.Rename(aside, checkpoint))
	run, err = Open(processor(t), filepath.Join(folder, "run"), testData(t))
	require.NoError(t, err)
	require.Equal(t, 2, run.Iteration())
	end(t, run)
	require.Len(t, readContent(t, filepath.Join(folder, "run")).metrics, c.Iterations)

	log, err := openMetrics(filepath.Join(folder, "log"), 9)
	require.NoError(t, err)
	require.NoError(t, log.append(Metrics{Iteration: 1}))
	require.NoError(t, log.close())
	require.Error(t, log.append(Metrics{Iteration: 2}))
	b, err := os.ReadFile(filepath.Join(folder, "log"))
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(b, []byte("\n")))
}

// TestDivergence is an error, and leaves the last checkpoint.
func TestDivergence(t *testing.T) {
	c := smallConfig()
	c.Constraint, c.Optimiser = Adaptive, Optimiser{Name: SGD}
	c.Schedule = Schedule{Name: Constant, Maximum: 1e30}
	folder := t.TempDir()
	run := create(t, processor(t), folder, c)
	err := run.Train(t.Context(), nil)
	require.ErrorContains(t, err, "iteration 1: ")
	require.ErrorIs(t, err, ErrDiverged)
	require.NoError(t, run.Close())
	run, err = Open(processor(t), folder, testData(t))
	require.NoError(t, err)
	require.Zero(t, run.Iteration())
	require.NoError(t, run.Close())
}

func TestRefusals(t *testing.T) {
	dev := processor(t)
	folder := t.TempDir()
	c := smallConfig()
	r := create(t, dev, folder, c)
	require.NoError(t, r.Close())
	_, err := Create(dev, folder, c, testData(t))
	require.ErrorContains(t, err, "holds a run already")
	_, err = Open(dev, t.TempDir(), testData(t))
	require.ErrorIs(t, err, os.ErrNotExist)

	other := testData(t)
	other.Training, err = NewPictures(3, []Picture{gradientPicture(3, 12, 12, false)})
	require.NoError(t, err)
	_, err = Open(dev, folder, other)
	require.ErrorContains(t, err, "other pictures")

	changed := c
	changed.Schedule.Maximum *= 2
	b, err := MarshalConfig(changed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, ConfigFile), b, 0o600))
	_, err = Open(dev, folder, testData(t))
	require.ErrorContains(t, err, "another configuration")

	for _, data := range []Data{{}, {Training: &Pictures{channels: 3}}, {Training: testPictures(t, 1)}} {
		_, err = Create(dev, t.TempDir(), c, data)
		require.Error(t, err)
	}
	wide := c
	wide.Crop = 10
	_, err = Create(dev, t.TempDir(), wide, testData(t))
	require.ErrorContains(t, err, "9 pixels wide or high, crops are 10")
	mixed := testData(t)
	mixed.Validation = testPictures(t, 1)
	_, err = Create(dev, t.TempDir(), c, mixed)
	require.ErrorContains(t, err, "held-out pictures of 1 channels")
}

// TestOutOfMemory: a device with too little room says so, wherever it ends.
func TestOutOfMemory(t *testing.T) {
	for _, integrator := range []string{"euler", "kutta3"} {
		c := smallConfig()
		c.Iterations, c.Integrator = 1, integrator
		refused := 0
		for limit := int64(1 << 10); ; limit += limit / 4 {
			dev := processor(t, cpu.MemoryLimit(limit))
			err := func() error {
				r, err := Create(dev, t.TempDir(), c, testData(t))
				if err != nil {
					return err
				}
				return errors.Join(r.Train(t.Context(), nil), r.Close())
			}()
			if err == nil {
				break
			}
			require.ErrorIs(t, err, backend.ErrOutOfMemory)
			refused++
		}
		require.Greater(t, refused, 10)
	}
}

func testCardWithSigma() weights.Card {
	c := testCard()
	c.Sigma = 0.1
	return c
}
