package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/weights"
)

// The files of a run folder.
const (
	ConfigFile     = "config.json"
	MetricsFile    = "metrics.jsonl"
	CheckpointFile = "checkpoint.safetensors"
	WeightsFile    = "weights.safetensors"
)

// Data are the pictures of a run. Validation may be nil; then there is none.
type Data struct {
	Training, Validation *Pictures
	// Initial are the weights that Create starts from: those of an averaged network of the same form, with
	// any integrator. nil means random ones. A network with levels may start from one without, and the other
	// way round.
	Initial *weights.File
}

// Run is a training in a folder. It is for one goroutine, and a folder is for one Run.
type Run struct {
	folder     string
	trainer    *trainer
	validation *Pictures
	metrics    *metricsLog
	last       Step
}

// Create makes a run in a folder. It makes the folder if needed, which must not hold a run. It fills in
// Config.Initial. The caller keeps the device.
func Create(dev backend.Device, folder string, c Config, data Data) (_ *Run, err error) {
	if c.Initial = ""; data.Initial != nil {
		c.Initial = data.Initial.Checksum()
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, ConfigFile)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("the folder %q holds a run already: resume it, or take another folder", folder)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r, err := newRun(dev, folder, c, data)
	if err != nil {
		return nil, err
	}
	defer r.closeOnError(&err)
	if err := r.trainer.initialise(data.Initial); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	if r.metrics, err = openMetrics(filepath.Join(folder, MetricsFile), 0); err != nil {
		return nil, err
	}
	if err := r.save(); err != nil {
		return nil, err
	}
	// The configuration comes last: with it the folder holds a run.
	b, err := MarshalConfig(c)
	if err != nil {
		return nil, err
	}
	return r, atomicfile.WriteBytes(context.Background(), path, true, b)
}

// ReadConfig returns the configuration of the run in a folder.
func ReadConfig(folder string) (Config, error) {
	b, err := os.ReadFile(filepath.Join(folder, ConfigFile))
	if err != nil {
		return Config{}, err
	}
	return UnmarshalConfig(b)
}

// Open resumes the run in a folder at its last checkpoint. The pictures must be those that it started with.
func Open(dev backend.Device, folder string, data Data) (_ *Run, err error) {
	c, err := ReadConfig(folder)
	if err != nil {
		return nil, err
	}
	f, err := weights.ReadFile(filepath.Join(folder, CheckpointFile))
	if err != nil {
		return nil, err
	}
	r, err := newRun(dev, folder, c, data)
	if err != nil {
		return nil, err
	}
	defer r.closeOnError(&err)
	if err := r.trainer.decode(f); err != nil {
		return nil, err
	}
	r.metrics, err = openMetrics(filepath.Join(folder, MetricsFile), r.trainer.iteration)
	return r, err
}

func newRun(dev backend.Device, folder string, c Config, data Data) (*Run, error) {
	if data.Validation.Len() > 0 && data.Validation.channels != c.Channels {
		return nil, fmt.Errorf("held-out pictures of %d channels for a network of %d", data.Validation.channels, c.Channels)
	}
	t, err := newTrainer(dev, c, data.Training)
	if err != nil {
		return nil, err
	}
	return &Run{folder: folder, trainer: t, validation: data.Validation}, nil
}

func (r *Run) closeOnError(err *error) {
	if *err != nil {
		*err = errors.Join(*err, r.Close())
	}
}

// Config returns the configuration.
func (r *Run) Config() Config { return r.trainer.config }

// Iteration returns the number of updates made so far.
func (r *Run) Iteration() int { return r.trainer.iteration }

// Step is the last iteration of a run.
type Step struct {
	Iteration, Iterations int
	Loss                  float64 // of this iteration
	LearningRate          float64
	// Remaining is the time for the remaining iterations at the pace of this call of Train.
	Remaining time.Duration
	// Metrics is the line that was written, or nil.
	Metrics *Metrics
}

// Last returns the last iteration that this call of Train has made.
func (r *Run) Last() Step { return r.last }

// Train continues until the last iteration, and calls progress after each; Last returns that iteration. If
// ctx ends, it finishes the current layer of the network, writes a checkpoint and returns ctx.Err(); the next
// run repeats the interrupted update. If progress returns an error, it does the same with that error. Other
// errors leave the folder at its last checkpoint.
func (r *Run) Train(ctx context.Context, progress backend.ProgressFunc) error {
	t, c := r.trainer, r.trainer.config
	pace := newPace(c.Batch * c.Accumulate)
	// A run that ended while it validated has a report to make.
	if t.pending.Iterations > 0 && t.iteration > 0 {
		if _, err := r.report(ctx, pace); err != nil {
			return err
		}
	}
	for t.iteration < c.Iterations {
		begun := time.Now()
		report, err := t.iterate(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return errors.Join(ctx.Err(), r.save())
			}
			return fmt.Errorf("iteration %d: %w", t.iteration+1, err)
		}
		pace.add(time.Since(begun))
		r.last = Step{
			Iteration: t.iteration, Iterations: c.Iterations, Loss: report.loss, LearningRate: report.rate,
			Remaining: pace.remaining(c.Iterations - t.iteration),
		}
		if r.last.Metrics, err = r.report(ctx, pace); err != nil {
			if ctx.Err() != nil {
				return errors.Join(ctx.Err(), r.save())
			}
			return err
		}
		if due(t.iteration, c.CheckpointEvery, c.Iterations) {
			if err := r.save(); err != nil {
				return err
			}
		}
		if progress != nil {
			if err := progress(backend.Progress{Fraction: float64(t.iteration) / float64(c.Iterations), Iteration: t.iteration}); err != nil {
				return errors.Join(err, r.save())
			}
		}
	}
	return nil
}

// due tells whether something that is done every so many iterations is to be done now. It
// always is at the end.
func due(iteration, every, end int) bool {
	return iteration == end || every > 0 && iteration%every == 0
}

// report validates, and writes a line of metrics, where they are due.
func (r *Run) report(ctx context.Context, p *pace) (*Metrics, error) {
	t, c := r.trainer, r.trainer.config
	validate := r.validation.Len() > 0 && due(t.iteration, c.ValidateEvery, c.Iterations)
	if !validate && !due(t.iteration, c.ReportEvery, c.Iterations) {
		return nil, nil
	}
	n := float64(t.pending.Iterations)
	m := Metrics{
		Iteration: t.iteration, Loss: t.pending.Loss / n, GradientNorm: t.pending.GradientNorm / n,
		LearningRate: c.Schedule.Rate(t.iteration-1, c.Iterations), Blocks: t.network.blockMetrics(), ImagesPerSecond: p.images(),
	}
	m.PSNR = t.pending.PSNR / n
	if validate {
		var err error
		if m.Validation, err = t.validate(ctx, r.validation); err != nil {
			return nil, err
		}
	}
	t.pending = progressSums{}
	return &m, r.metrics.append(m)
}

// save writes a checkpoint.
func (r *Run) save() error {
	b, err := r.trainer.encode()
	if err != nil {
		return err
	}
	if err := r.metrics.sync(); err != nil {
		return err
	}
	return atomicfile.WriteBytes(context.Background(), filepath.Join(r.folder, CheckpointFile), true, b)
}

// Finish writes the weight file of what has been learned so far, and returns its path. It writes the average
// of the weights, if there is one. For an averaged network it adds the certificate of denoise.Model.Certify,
// which fixes the numbers of steps. Under Budget, a filter is scaled down to NormLimit if its proven bound
// asks for a second step. The card needs Name, Licence, Provenance.Software and Provenance.Data, and may have
// Provenance.Recipe. Finish fills in seed and iterations, and also recipe and noise level (the largest) if they are
// empty.
func (r *Run) Finish(ctx context.Context, card weights.Card) (string, denoise.Certificate, error) {
	t := r.trainer
	card.Provenance.Seed, card.Provenance.Iterations = t.config.Seed, t.iteration
	if card.Sigma == 0 {
		card.Sigma = t.config.SigmaMax
	}
	if card.Provenance.Recipe == "" {
		recipe, err := recipe(t.config)
		if err != nil {
			return "", denoise.Certificate{}, err
		}
		card.Provenance.Recipe = recipe
	}
	f, certificate, err := t.network.file(ctx, t.arrays(), card)
	if err != nil {
		return "", denoise.Certificate{}, err
	}
	b, err := f.Encode()
	if err != nil {
		return "", denoise.Certificate{}, err
	}
	path := filepath.Join(r.folder, WeightsFile)
	return path, certificate, atomicfile.WriteBytes(ctx, path, true, b)
}

// Close gives the device's memory back. It does not write a checkpoint. A second Close does nothing.
func (r *Run) Close() error {
	r.trainer.release()
	if r.metrics == nil {
		return nil
	}
	err := r.metrics.close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
