package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/strength"
)

// validateDeblurring returns the mean PSNR of deblurring the middle of each picture, a crop as
// in training, under a camera shake that depends on the picture's number alone. The margin
// does not count.
func (t *trainer) validateDeblurring(ctx context.Context, set *Pictures, sigma float64) (ValidationMetrics, error) {
	shape := t.config.batchShape()
	shape.N = 1
	runs, err := newPlugAndPlay(t.dev, shape)
	if err != nil {
		return ValidationMetrics{}, err
	}
	defer runs.close()
	memory := devicequeue.NewPool(t.dev)
	defer memory.Free()
	q := &devicequeue.Queue{Dev: t.dev}
	in, out := memory.Take(q, shape), memory.Take(q, shape)
	sum, n := 0.0, 0
	for i := range set.list {
		p := &set.list[i]
		if p.h < t.config.Crop || p.w < t.config.Crop {
			continue // as a picture to train on is left out
		}
		mse, err := t.deblurringError(ctx, q, runs, p, i, sigma, in, out)
		if err != nil {
			return ValidationMetrics{}, err
		}
		sum += psnr(mse)
		n++
	}
	return ValidationMetrics{sigma, sum / float64(max(n, 1))}, nil
}

// deblurringError is the mean squared error of one picture's middle.
func (t *trainer) deblurringError(ctx context.Context, q *devicequeue.Queue, runs *plugAndPlay, p *picture, index int, sigma float64, in, out backend.Buffer) (float64, error) {
	d, size := t.config.Deblur, t.config.Crop
	clean := make([]float32, in.Shape().Len())
	top, left := (p.h-size)/2, (p.w-size)/2
	for c := range t.config.Channels {
		for y := range size {
			p.row(clean[(c*size+y)*size:][:size], c, top+y, left)
		}
	}
	kernel, err := deblur.Shake(widestBlur-2*(index%8), uint64(index))
	if err != nil {
		return 0, err
	}
	taken := exposure{kernel: kernel, sigma: sigma}
	d.settle(&taken)
	noise := make([]float32, len(clean))
	q.Do(func() error { return t.dev.Gaussian(in, t.config.ValidationSeed+uint64(index), 0, float32(sigma)) })
	q.Download(noise, in)
	if q.Err != nil {
		return 0, q.Err
	}
	var apply func() error
	if t.config.Guide != nil {
		phi := &frozenPrior{ctx: ctx, trainer: t, in: in, out: out}
		defer phi.free()
		apply = phi.apply
		err = runs.approach(ctx, q, taken, clean, noise, sight{strength.AnnealedSteps, longestAfter}, in, out, guidedPrior{phi.tune, phi.look, apply})
	} else {
		var phi *denoise.Network
		if phi, err = t.network.denoiser(ctx, t.arrays(), taken.level); err != nil {
			return 0, err
		}
		defer phi.Free()
		apply = func() error { return phi.Apply(ctx, out, in) }
		err = runs.solve(ctx, q, taken, clean, noise, [2]int{2 * d.Iterations, 2 * d.Iterations}, in, out, apply)
	}
	if err != nil {
		return 0, err
	}
	q.Do(apply)
	result := noise
	q.Download(result, out)
	if q.Err != nil {
		return 0, q.Err
	}
	clip(result)
	sum, n := 0.0, 0
	for i, v := range result {
		y, x := i/size%size, i%size
		if min(y, x) < d.Margin || max(y, x) >= size-d.Margin {
			continue
		}
		e := float64(v) - float64(clean[i])
		sum += float64(e * e)
		n++
	}
	return sum / float64(n), nil
}

// frozenPrior is a network with a guide as it is outside of training: tuned to a level, and frozen for what it
// sees.
type frozenPrior struct {
	ctx       context.Context
	trainer   *trainer
	in, out   backend.Buffer
	level     float64
	tuned, of *denoise.Network // tuned to the level, and frozen
}

func (f *frozenPrior) tune(level float64) error {
	f.free()
	var err error
	f.level = level
	f.tuned, err = f.trainer.network.denoiser(f.ctx, f.trainer.arrays(), level)
	return err
}

func (f *frozenPrior) look() error {
	radii, err := f.tuned.Guide(f.ctx, f.in, f.level, 1)
	if err != nil {
		return err
	}
	f.of, err = f.tuned.Freeze(radii)
	return err
}

func (f *frozenPrior) apply() error { return f.of.Apply(f.ctx, f.out, f.in) }

func (f *frozenPrior) free() {
	for _, n := range []**denoise.Network{&f.of, &f.tuned} {
		if *n != nil {
			(*n).Free()
			*n = nil
		}
	}
}
