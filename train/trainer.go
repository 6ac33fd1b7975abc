package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/weights"
)

// trainer is the state of a run in memory, and makes its iterations.
type trainer struct {
	dev       backend.Device
	config    Config
	set       *Pictures
	network   network
	optimiser *optimiser
	generator *generator
	average   []array // of the network's effective arrays, or nil
	iteration int     // updates made

	kept    *devicequeue.Pool
	batch   *batch
	runs    *plugAndPlay // nil unless for deblurring
	result  backend.Buffer
	pending progressSums
}

// progressSums are of the iterations since the last line of metrics.
type progressSums struct {
	Loss         float64 `json:"loss"`
	PSNR         float64 `json:"psnr"`
	GradientNorm float64 `json:"gradient_norm"`
	Iterations   int     `json:"iterations"`
}

// checkPictures returns an error unless pictures can be trained on.
func (c Config) checkPictures(set *Pictures) error {
	if set.Len() == 0 {
		return errors.New("no pictures to train on")
	}
	if set.channels != c.Channels {
		return fmt.Errorf("pictures of %d channels for a network of %d", set.channels, c.Channels)
	}
	if n, least := set.smallest(), c.SmallestPicture(); n < least {
		return fmt.Errorf("a picture is %d pixels wide or high, crops are %d", n, least)
	}
	return nil
}

// newTrainer allocates a trainer whose parameters are all zero.
func newTrainer(dev backend.Device, c Config, set *Pictures) (_ *trainer, err error) {
	if err := arguments.CheckDevice("train", dev); err != nil {
		return nil, err
	}
	if err := c.checkPictures(set); err != nil {
		return nil, err
	}
	t := &trainer{dev: dev, config: c, set: set, generator: newGenerator(c.Seed), kept: devicequeue.NewPool(dev)}
	defer func() {
		if err != nil {
			t.release()
		}
	}()
	n, err := newNetwork(dev, c)
	if err != nil {
		return nil, err
	}
	t.network = n
	if t.optimiser, err = newOptimiser(dev, c.Optimiser, t.network.parameters()); err != nil {
		return nil, err
	}
	q := &devicequeue.Queue{Dev: dev}
	t.batch = newBatch(q, t.kept, c)
	if c.Deblur != nil {
		if t.runs, err = newPlugAndPlay(dev, c.batchShape()); err != nil {
			return nil, err
		}
	}
	t.result = t.kept.Take(q, c.batchShape())
	return t, q.Err
}

// initialise draws the parameters, or takes them from a weight file that is not nil.
func (t *trainer) initialise(from *weights.File) error {
	if err := t.network.initialise(t.generator); err != nil {
		return err
	}
	if from != nil {
		a, ok := t.network.(*averaged)
		if !ok {
			return errInitial
		}
		if err := a.beginWith(from); err != nil {
			return err
		}
	}
	if t.config.AverageDecay > 0 {
		t.average = t.network.effective()
	}
	return nil
}

// iterationReport is what one iteration saw.
type iterationReport struct {
	loss, mse, gradientNorm, rate float64
}

// iterate makes one update of the weights. When ctx ends it changes nothing and returns
// ctx.Err(). Any other error leaves a state that cannot be gone on from.
func (t *trainer) iterate(ctx context.Context) (iterationReport, error) {
	if err := ctx.Err(); err != nil {
		return iterationReport{}, err
	}
	// What the passes change is put back if they do not come to their end.
	before := t.generator.clone()
	report, err := t.differentiate(ctx)
	if err != nil {
		t.generator = before
		return report, err
	}
	report.rate = t.config.Schedule.Rate(t.iteration, t.config.Iterations)
	if err := t.optimiser.step(t.iteration, report.rate, report.gradientNorm); err != nil {
		return report, err
	}
	if err := t.network.update(); err != nil {
		return report, err
	}
	t.iteration++
	t.updateAverage()
	t.pending.Loss += report.loss
	t.pending.PSNR += psnr(report.mse)
	t.pending.GradientNorm += report.gradientNorm
	t.pending.Iterations++
	return report, nil
}

// differentiate computes the mean loss and its gradients over the batches of one
// iteration.
func (t *trainer) differentiate(ctx context.Context) (r iterationReport, err error) {
	if err := t.network.zeroGradients(); err != nil {
		return r, err
	}
	q := &devicequeue.Queue{Dev: t.dev}
	var taken exposure
	switch {
	case t.config.Deblur != nil:
		if taken, err = t.config.Deblur.draw(t.generator); err != nil {
			return r, err
		}
	case t.config.photographs():
		if taken.level, err = t.batch.photograph(q, t.set, t.generator); err != nil {
			return r, err
		}
	case len(t.config.Levels) > 0:
		taken.level = t.config.level(t.generator)
	}
	weight := 1.0
	if taken.level > 0 {
		weight = math.Pow(t.config.SigmaMax/taken.level, t.config.LossExponent)
		if err := t.network.tune(taken.level); err != nil {
			return r, err
		}
	}
	for range t.config.Accumulate {
		switch {
		case t.config.Deblur != nil:
			err = t.blur(ctx, q, taken)
		case !t.config.photographs(): // else the batch is there
			t.batch.draw(q, t.set, t.generator, taken.level)
			err = q.Err
		}
		if err != nil {
			return r, err
		}
		mse, err := t.pass(ctx, weight)
		if err != nil {
			return r, err
		}
		r.mse += mse
	}
	if r.loss = weight * r.mse; t.config.logarithmic() {
		r.loss = logarithmicLoss(r.mse)
	}
	if err := t.network.gradients(); err != nil {
		return r, err
	}
	r.gradientNorm = gradientNorm(t.network.parameters())
	if !isFinite(r.loss) || !isFinite(r.gradientNorm) {
		return r, fmt.Errorf("%w: the loss is %v, the norm of its gradient %v", ErrDiverged, r.loss, r.gradientNorm)
	}
	return r, nil
}

// blur draws a batch, and makes of it what the network sees in the iteration of deblurring.
func (t *trainer) blur(ctx context.Context, q *devicequeue.Queue, e exposure) error {
	d := t.config.Deblur
	t.batch.crops(t.set, t.generator)
	t.batch.white(q, t.generator)
	for i, v := range t.batch.noise {
		t.batch.noise[i] = float32(e.sigma) * v
	}
	q.Upload(t.batch.clean, t.batch.samples)
	if q.Err != nil {
		return q.Err
	}
	apply := func() error { return t.network.forward(ctx, t.result, t.batch.noisy) }
	if a, ok := t.network.(*averaged); ok && a.guided != nil {
		phi := guidedPrior{a.tune, func() error { return a.freeze(t.batch.noisy) }, apply}
		return t.runs.approach(ctx, q, e, t.batch.samples, t.batch.noise, d.sight(t.generator), t.batch.noisy, t.result, phi)
	}
	iterations := [2]int{d.iterations(t.generator), d.iterations(t.generator)}
	return t.runs.solve(ctx, q, e, t.batch.samples, t.batch.noise, iterations, t.batch.noisy, t.result, apply)
}

// pass goes forward and back with the batch, and returns its share of the mean squared
// error over all samples of the iteration. The loss is that times the weight, or logarithmicLoss of it: with
// e = result − clean and n samples, the gradient is weight·2e/n. Samples in the margin have no
// error.
func (t *trainer) pass(ctx context.Context, weight float64) (float64, error) {
	if err := t.network.forward(ctx, t.result, t.batch.noisy); err != nil {
		return 0, err
	}
	q := &devicequeue.Queue{Dev: t.dev}
	samples := float64(t.config.batchShape().Len()) * float64(t.config.Accumulate)
	if d := t.config.Deblur; d != nil && d.Margin > 0 {
		n, inside := t.config.Crop, float64(t.config.Crop-2*d.Margin)/float64(t.config.Crop)
		samples *= inside * inside
		whole := t.kept.Take(q, t.config.batchShape())
		defer t.kept.Give(whole)
		q.Combine(whole, backend.Term{A: 1, X: t.batch.clean})
		q.Do(func() error {
			return t.dev.CopyRegion(whole, d.Margin, d.Margin, t.result, backend.Region{Y0: d.Margin, Y1: n - d.Margin, X0: d.Margin, X1: n - d.Margin})
		})
		q.Combine(t.result, backend.Term{A: 1, X: whole})
	}
	if t.config.Raw != nil {
		n := t.config.Crop
		samples /= 3
		result := t.batch.cut[:t.config.batchShape().Len()]
		q.Download(result, t.result)
		onlyFiltered(result, t.batch.samples, n, n)
		q.Upload(t.result, result)
	}
	if t.implicit() { // the run ends in the box
		q.Download(t.runs.last, t.result)
		q.Do(func() error { return t.dev.Clip(t.result, t.result, 0, 1) })
	}
	var sum [1]float64
	q.Reduce(sum[:], backend.Reduction{Kind: backend.DiffSquares, X: t.result, Y: t.batch.clean})
	if t.config.logarithmic() {
		if q.Err != nil { // the sum is not there
			return 0, q.Err
		}
		weight = logarithmicLossSlope(sum[0] / samples)
	}
	factor := float32(weight * 2 / samples)
	q.Combine(t.result, backend.Term{A: factor, X: t.result}, backend.Term{A: -factor, X: t.batch.clean})
	if q.Err != nil {
		return 0, q.Err
	}
	if t.implicit() {
		if err := t.throughRun(ctx, q, t.result); err != nil {
			return 0, err
		}
	}
	return sum[0] / samples, t.network.backward(ctx, t.result)
}

// updateAverage moves the average towards the weights. In the beginning it forgets
// faster, so that it does not remember the initial weights for long.
func (t *trainer) updateAverage() {
	if t.average == nil {
		return
	}
	n := float64(t.iteration)
	d := min(t.config.AverageDecay, n/(n+9))
	now := t.network.effective()
	parallel.Concurrently(len(now), func(i int) {
		average := t.average[i].values
		for k, v := range now[i].values {
			average[k] = float32(float64(d*float64(average[k])) + float64((1-d)*float64(v)))
		}
	})
}

// arrays are the network's for a weight file: the average, or the weights as they are.
func (t *trainer) arrays() []array {
	if t.average != nil {
		return t.average
	}
	return t.network.effective()
}

func (t *trainer) release() {
	if t.batch != nil {
		t.batch.end()
	}
	if t.network != nil {
		t.network.release()
	}
	if t.optimiser != nil {
		t.optimiser.release()
	}
	if t.runs != nil {
		t.runs.close()
	}
	t.kept.Free()
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// psnr of a mean squared error, for the peak 1.
func psnr(mse float64) float64 { return -10 * math.Log10(mse) }
