package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
)

// implicit tells whether the batch is near the fixed point of a run, and the gradient is to be that of the run.
func (t *trainer) implicit() bool {
	return t.runs != nil && t.runs.own != nil && t.config.Deblur.Terms > 0
}

// throughRun replaces the gradient e of the loss with respect to the fixed point x of a run,
//
//	x = T(x) = P(Φ(D(x))),
//
// by that with respect to the result of Φ there, with the first terms of Neumann's series for the inverse
// in the derivative of a fixed point (implicit function theorem; Bai, Kolter and Koltun 2019, Lorraine,
// Vicol and Duvenaud 2020):
//
//	P'·Σ (∂Tᵀ)ʲ e,   ∂Tᵀ = D'·Φ'ᵀ·P',   j from 0 to Terms.
//
// With the first term alone all frequencies count alike, though at those that the blur leaves D lets hardly
// anything of the network's error pass, and at those that it takes away all of it, step after step. T is
// averaged, so that the terms do not grow. What Φ makes of the batch is in t.runs.last. Afterwards the
// network is as after another forward pass.
func (t *trainer) throughRun(ctx context.Context, q *devicequeue.Queue, gradient backend.Buffer) error {
	a, p := t.network.(*averaged), t.runs
	inside := func(v []float32) { // P'
		for i, x := range p.last {
			if x < 0 || x > 1 {
				v[i] = 0
			}
		}
	}
	pulled := t.kept.Take(q, gradient.Shape())
	defer t.kept.Give(pulled)
	sum := p.point
	q.Download(sum, gradient)
	copy(p.x, sum)
	inside(sum)
	for range t.config.Deblur.Terms {
		q.Upload(gradient, sum)
		q.Do(func() error { return a.pulled(ctx, pulled, gradient, t.batch.noisy) })
		q.Download(p.fixed, pulled)
		if q.Err != nil {
			return q.Err
		}
		if err := p.apply(p.own, sum, p.fixed); err != nil {
			return err
		}
		for i, v := range p.x {
			sum[i] += v
		}
		inside(sum)
	}
	q.Upload(gradient, sum)
	q.Do(func() error { return a.forward(ctx, pulled, t.batch.noisy) })
	return q.Err
}

// pulled sets dst to Φ'ᵀv, the adjoint of the network's derivative at src applied to v, and adds to no
// gradient. The radii have to be frozen.
func (a *averaged) pulled(ctx context.Context, dst, v, src backend.Buffer) error {
	if err := a.forward(ctx, dst, src); err != nil {
		return err
	}
	q := &devicequeue.Queue{Dev: a.dev}
	source := a.kept.Take(q, a.flowShape())
	defer a.kept.Give(source)
	if q.Err != nil {
		return q.Err
	}
	gradient, err := a.rearranged(v)
	if err != nil {
		return err
	}
	q.Do(func() error { return a.flow.backwardTo(ctx, source, gradient, false) })
	if a.small != nil {
		q.Do(func() error { return a.dev.Shuffle(dst, source, a.config.shuffle()) })
	} else {
		q.Combine(dst, backend.Term{A: 1, X: source})
	}
	return q.Err
}
