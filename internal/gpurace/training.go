package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// runTraining times whole iterations of package train on a card.
func runTraining(ctx context.Context, dev backend.Device, guided bool, crops int, r result, lines *json.Encoder) error {
	r.Pass, r.Pictures = "training", crops
	c := paperConfig()
	if guided {
		c, r.Pass = train.GuidedConfig(), "training, guided"
	}
	if err := r.timeTraining(ctx, dev, c, crops); err != nil {
		return err
	}
	return lines.Encode(r)
}

// photograph is the side of the picture that crops are cut from.
const photograph = 256

// paperConfig is the training of the paper's network.
func paperConfig() train.Config {
	c := train.DefaultConfig()
	c.Blocks, c.Group, c.Shuffle = 10, 0, 0
	return c
}

// timeTraining fills in the times of iterations of training, with power iterations and optimiser: from
// the end of one, whose loss has come back, to that of the next.
func (r *result) timeTraining(ctx context.Context, dev backend.Device, c train.Config, crops int) error {
	c.Batch = crops
	c.PowerIterations = 10 // what comes before the first iteration is not timed
	before := max(2, r.Repetitions/3)
	c.Iterations = before + r.Repetitions + 1 // after the last one the weights are written
	c.ReportEvery, c.CheckpointEvery, c.ValidateEvery = 0, 0, 0
	s := backend.Image(c.Channels, photograph, photograph)
	picture := train.Picture{Channels: s.C, Height: s.H, Width: s.W, Samples: make([]float32, s.Len())}
	for i := range picture.Samples {
		picture.Samples[i] = min(max(0.5+0.2*backend.GaussianAt(1, uint64(i/7)), 0), 1)
	}
	data, err := train.NewPictures(c.Channels, []train.Picture{picture})
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpurace-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) // nobody needs what was learned
	run, err := train.Create(dev, folder, c, train.Data{Training: data})
	if err != nil {
		return err
	}
	defer run.Close() // its only error would be of a checkpoint that nobody needs
	ends := make([]time.Time, 0, c.Iterations)
	if err := run.Train(ctx, func(backend.Progress) error {
		ends = append(ends, time.Now())
		return nil
	}); err != nil {
		return err
	}
	times := make([]float64, r.Repetitions)
	for i := range times {
		times[i] = ends[before+i].Sub(ends[before+i-1]).Seconds() * 1e3
	}
	r.StreamMS = ends[before+r.Repetitions-1].Sub(ends[before-1]).Seconds() * 1e3 / float64(r.Repetitions)
	slices.Sort(times)
	r.MedianMS, r.MinimumMS = times[len(times)/2], times[0]
	r.Height, r.Width = c.Crop, c.Crop
	if c.Guide != nil {
		return nil // another count than that of its blocks
	}
	a := weights.Architecture{Width: c.Width, Blocks: c.Blocks, Kernel: c.Kernel}
	r.TFLOPS = 3 * racing.Operations(a, backend.Shape{N: crops, C: c.Channels, H: c.Crop, W: c.Crop}) / r.MedianMS / 1e9
	return nil
}
