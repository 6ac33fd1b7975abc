package denoise

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/backend"
)

// Relax returns (1−λ)·id + λ·Φ, for finite λ > 0. It is λα-averaged if Φ is α-averaged and λα ≤ 1 (Relaxation). With
// λ < 1 it makes a nonexpansive network averaged, with any constant that is asked for (the paper, section 2.1). It is
// as safe for concurrent use as d. Freeing it frees d.
func Relax(d Denoiser, lambda float64) (Denoiser, error) {
	if d == nil {
		return nil, errNoDenoiser
	}
	if !(lambda > 0) || float32(lambda) <= 0 || !isFinite32(lambda) {
		return nil, fmt.Errorf("relaxation by %v, must be above 0 and finite", lambda)
	}
	lambda = float64(float32(lambda)) // what the device multiplies by
	c := d.Certificate()
	return relaxed{d, lambda, c.wrapped(fmt.Sprintf("relaxed by %v", float32(lambda)),
		"definition of averagedness: λα (Bauschke and Combettes 2011, proposition 4.28)",
		averaged.Relaxation(c.Averagedness, lambda))}, nil
}

type relaxed struct {
	Denoiser
	lambda      float64
	certificate Certificate
}

func (r relaxed) Averagedness() (alpha float64, proven bool) { return r.certificate.averagedness() }
func (r relaxed) Certificate() Certificate                   { return r.certificate }

func (r relaxed) Apply(ctx context.Context, dst, src backend.Buffer) error {
	if err := r.Denoiser.Apply(ctx, dst, src); err != nil {
		return err
	}
	return r.mix(dst, src)
}

func (r relaxed) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (float64, error) {
	e, err := applyWithin(ctx, r.Denoiser, dst, src, maxError/r.lambda)
	if err != nil {
		return 0, err
	}
	return r.lambda * e, r.mix(dst, src)
}

// mix sets dst = (1−λ)·src + λ·dst.
func (r relaxed) mix(dst, src backend.Buffer) error {
	return r.Device().LinearCombination(dst,
		backend.Term{A: float32(1 - r.lambda), X: src}, backend.Term{A: float32(r.lambda), X: dst})
}
