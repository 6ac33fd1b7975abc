package classifier

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// residual is the block x + B σ(Ax + a) + b of the ResNet, unconstrained. With B = −hAᵀ and b = 0
// it is an Euler step.
type residual struct {
	dev    backend.Device
	memory *devicequeue.Pool
	a, b   *train.Layer
	hidden backend.Buffer // of the last Forward
}

func newResidual(dev backend.Device, name string, channels, kernel int) (_ *residual, err error) {
	r := &residual{dev: dev, memory: devicequeue.NewPool(dev)}
	if r.a, err = train.NewLayer(dev, name+".a", channels, channels, kernel, backend.Activation{Kind: backend.LeakyReLU, Slope: slope}); err != nil {
		return nil, err
	}
	if r.b, err = train.NewLayer(dev, name+".b", channels, channels, kernel, backend.Activation{}); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

func (r *residual) layers() []*train.Layer {
	if r.b == nil {
		return []*train.Layer{r.a}
	}
	return []*train.Layer{r.a, r.b}
}

// Forward is train.Part's.
func (r *residual) Forward(ctx context.Context, dst, src backend.Buffer) error {
	q := &devicequeue.Queue{Dev: r.dev}
	r.memory.Reclaim()
	r.hidden = r.memory.Take(q, src.Shape())
	q.Do(func() error { return r.a.Forward(ctx, r.hidden, src) })
	q.Do(func() error { return r.b.Forward(ctx, dst, r.hidden) })
	q.Combine(dst, backend.Term{A: 1, X: dst}, backend.Term{A: 1, X: src})
	return q.Err
}

// Backward is train.Part's. No activation follows B, so that nothing spoils the gradient before
// it is added.
func (r *residual) Backward(ctx context.Context, source, gradient backend.Buffer, learn bool) error {
	q := &devicequeue.Queue{Dev: r.dev}
	hidden := r.memory.Take(q, gradient.Shape())
	defer r.memory.Give(hidden, r.hidden)
	q.Do(func() error { return r.b.Backward(ctx, hidden, gradient, learn) })
	q.Do(func() error { return r.a.Backward(ctx, source, hidden, learn) })
	if source != nil {
		q.Combine(source, backend.Term{A: 1, X: source}, backend.Term{A: 1, X: gradient})
	}
	return q.Err
}

// lipschitz is 1 + ‖B‖‖A‖, which is all that is known of an unconstrained block.
func (r *residual) lipschitz(ctx context.Context) (float64, error) {
	a, err := normOf(ctx, r.a)
	if err != nil {
		return 0, err
	}
	b, err := normOf(ctx, r.b)
	return math.Nextafter(1+math.Nextafter(a*b, math.Inf(1)), math.Inf(1)), err
}

func (r *residual) Parameters() []*train.Parameter {
	return append(r.a.Parameters(), r.b.Parameters()...)
}

func (r *residual) Initialise(seed uint64) error {
	for i, l := range r.layers() {
		if err := l.Initialise(mixed(seed, uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

func (r *residual) each(f func(*train.Layer) error) error {
	for _, l := range r.layers() {
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

func (r *residual) Clear() error     { return r.each((*train.Layer).Clear) }
func (r *residual) Gradients() error { return r.each((*train.Layer).Gradients) }
func (r *residual) Update() error    { return r.each((*train.Layer).Update) }

func (r *residual) Save(f *weights.File, prefix string) error {
	return r.each(func(l *train.Layer) error { return l.Save(f, prefix) })
}

func (r *residual) Load(f *weights.File, prefix string) error {
	return r.each(func(l *train.Layer) error { return l.Load(f, prefix) })
}

func (r *residual) Release() {
	for _, l := range r.layers() {
		l.Release()
	}
	r.memory.Free()
}
