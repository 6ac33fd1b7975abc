package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/devicequeue"
)

// validate returns the mean PSNR at each noise level, over whole pictures or, of deblurring,
// their middles. The noise of a picture depends on its number and the seed alone.
func (t *trainer) validate(ctx context.Context, set *Pictures) ([]ValidationMetrics, error) {
	var list []ValidationMetrics
	for _, sigma := range t.config.validationSigmas() {
		v, err := t.validateAt(ctx, set, sigma)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (t *trainer) validateAt(ctx context.Context, set *Pictures, sigma float64) (ValidationMetrics, error) {
	if t.config.Deblur != nil {
		return t.validateDeblurring(ctx, set, sigma)
	}
	n, err := t.network.denoiser(ctx, t.arrays(), sigma)
	if err != nil {
		return ValidationMetrics{}, err
	}
	defer n.Free()
	sum := 0.0
	for i := range set.list {
		mse, err := t.meanSquaredError(ctx, n, set, i, sigma)
		if err != nil {
			return ValidationMetrics{}, err
		}
		sum += psnr(mse)
	}
	return ValidationMetrics{sigma, sum / float64(len(set.list))}, nil
}

// applier is a denoiser.
type applier interface {
	Apply(ctx context.Context, dst, src backend.Buffer) error
}

func (t *trainer) meanSquaredError(ctx context.Context, n applier, set *Pictures, index int, sigma float64) (float64, error) {
	p := &set.list[index]
	h, w := p.h, p.w
	if t.config.Raw != nil {
		h, w = h&^1, w&^1
	}
	shape := backend.Image(set.channels, h, w)
	samples := make([]float32, shape.Len())
	for c := range set.channels {
		for y := range h {
			p.row(samples[(c*h+y)*w:][:w], c, y, 0)
		}
	}
	memory := devicequeue.NewPool(t.dev)
	defer memory.Free()
	q := &devicequeue.Queue{Dev: t.dev}
	clean, noisy, out := memory.Take(q, shape), memory.Take(q, shape), memory.Take(q, shape)
	seed := t.config.ValidationSeed + uint64(index)
	var reference []float32
	if t.config.photographs() {
		var photograph []float32
		var err error
		if t.config.Raw != nil {
			photograph, reference, err = rawValidationPair(p, samples, h, w, seed, sigma)
		} else {
			photograph, reference, err = t.config.validationPair(samples, h, w, seed, sigma)
		}
		if err != nil {
			return 0, err
		}
		q.Upload(clean, reference)
		q.Upload(noisy, photograph)
	} else {
		q.Upload(clean, samples)
		q.Do(func() error { return t.dev.Gaussian(noisy, seed, 0, float32(sigma)) })
		q.Combine(noisy, backend.Term{A: 1, X: clean}, backend.Term{A: 1, X: noisy})
	}
	q.Do(func() error { return guidedApply(ctx, n, out, noisy, sigma) })
	counted := float64(shape.Len())
	if t.config.Raw != nil {
		counted /= 3
		q.Download(samples, out)
		onlyFiltered(samples, reference, h, w)
		q.Upload(out, samples)
	}
	var sum [1]float64
	q.Reduce(sum[:], backend.Reduction{Kind: backend.DiffSquares, X: out, Y: clean})
	return sum[0] / counted, q.Err
}

// guidedApply sets dst to the image of src under n, frozen for src where it has a guide.
func guidedApply(ctx context.Context, n applier, dst, src backend.Buffer, sigma float64) error {
	network, ok := n.(*denoise.Network)
	if !ok || !network.Guided() {
		return n.Apply(ctx, dst, src)
	}
	radii, err := network.Guide(ctx, src, sigma, 1)
	if err != nil {
		return err
	}
	frozen, err := network.Freeze(radii)
	if err != nil {
		return err
	}
	defer frozen.Free()
	return frozen.Apply(ctx, dst, src)
}
