package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/devicequeue"
)

// validateDeblurring returns the mean PSNR of deblurring the middle of each picture, a crop as
// in training, under a camera shake that depends on the picture's number alone. The margin
// does not count.
func (t *trainer) validateDeblurring(ctx context.Context, set *Pictures, sigma float64) (ValidationMetrics, error) {
	shape := t.config.batchShape()
	shape.N = 1
	runs, err := newPlugAndPlay(t.dev, shape, t.config.Deblur.Step)
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
	taken := exposure{kernel: kernel, sigma: sigma, level: d.level(sigma, kernel)}
	network, err := t.network.denoiser(ctx, t.arrays(), taken.level)
	if err != nil {
		return 0, err
	}
	defer network.Free()
	noise := make([]float32, len(clean))
	q.Do(func() error { return t.dev.Gaussian(in, t.config.ValidationSeed+uint64(index), 0, float32(sigma)) })
	q.Download(noise, in)
	phi := network
	apply := func() error { return phi.Apply(ctx, out, in) }
	var freeze func() error
	if network.Guided() {
		freeze = func() error {
			radii, err := network.Guide(ctx, in, taken.level, 1)
			if err != nil {
				return err
			}
			if phi != network {
				phi.Free()
			}
			if phi, err = network.Freeze(radii); err != nil {
				phi = network
			}
			return err
		}
		defer func() {
			if phi != network {
				phi.Free()
			}
		}()
	}
	if q.Err == nil {
		q.Err = runs.solve(ctx, q, taken, clean, noise, [2]int{2 * d.Iterations, 2 * d.Iterations}, in, out, apply, freeze)
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
