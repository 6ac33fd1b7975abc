package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Rescale returns x ↦ s·Φ(x/s), for finite s > 0. A network for noise of standard deviation σ₀ becomes one for s·σ₀
// (Xu, Sun, Liu, Wohlberg and Kamilov 2020). The constant of Φ stays, because s cancels in ‖s·T(x/s) − s·T(y/s)‖.
//
// The result is as safe for concurrent use as d. Freeing it frees d. A network of an explicit method is rescaled by
// its biases and radii, at almost no cost. For others, each call allocates one buffer of the image's shape.
func Rescale(d Denoiser, s float64) (Denoiser, error) {
	if d == nil {
		return nil, errNoDenoiser
	}
	if !(s > 0) || !isFinite32(s) || !isFinite32(1/s) || float32(s) <= 0 || float32(1/s) <= 0 {
		return nil, fmt.Errorf("rescaling by %v, must be above 0 and, with its inverse, within float32", s)
	}
	s = float64(float32(s)) // what the device multiplies by
	c := d.Certificate()
	return rescaled{d, s, c.wrapped(fmt.Sprintf("rescaled by %.6g", s),
		"s·Φ(·/s) keeps the constant, by definition", c.Averagedness)}, nil
}

// isFinite32 tells whether a number is finite as a float32.
func isFinite32(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }

type rescaled struct {
	Denoiser
	s           float64
	certificate Certificate
}

func (r rescaled) Averagedness() (alpha float64, proven bool) { return r.certificate.averagedness() }
func (r rescaled) Certificate() Certificate                   { return r.certificate }

func (r rescaled) Apply(ctx context.Context, dst, src backend.Buffer) error {
	if done, _, err := r.byBiases(ctx, dst, src, 0); done {
		return err
	}
	return r.around(dst, src, func(small backend.Buffer) error { return r.Denoiser.Apply(ctx, dst, small) })
}

func (r rescaled) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (e float64, err error) {
	if done, e, err := r.byBiases(ctx, dst, src, maxError); done {
		return e, err
	}
	err = r.around(dst, src, func(small backend.Buffer) error {
		e, err = applyWithin(ctx, r.Denoiser, dst, small, maxError/r.s)
		return err
	})
	return r.s * e, err
}

// byBiases sets dst to the image of s·Φ(·/s) if that is a network like Φ with other
// biases and radii. These are made for every call, which takes microseconds, so that the wrapper
// has nothing of its own to free.
func (r rescaled) byBiases(ctx context.Context, dst, src backend.Buffer, maxError float64) (done bool, e float64, err error) {
	n, ok := r.Denoiser.(*Network)
	if !ok {
		return false, 0, nil
	}
	h, ok := n.body.(homogeneous)
	if !ok {
		return false, 0, nil
	}
	b, err := h.rescaled(float32(r.s))
	if err != nil {
		return true, 0, err
	}
	defer b.free()
	like := Network{dev: n.dev, channels: n.channels, shuffle: n.shuffle, tile: n.tile, body: b, photograph: n.photograph}
	e, err = like.ApplyWithin(ctx, dst, src, maxError)
	return true, e, err
}

// around sets dst to s times what apply makes of src/s.
func (r rescaled) around(dst, src backend.Buffer, apply func(small backend.Buffer) error) error {
	if dst == nil || src == nil {
		return errNoBuffer
	}
	dev := r.Device()
	small, err := dev.Alloc(src.Shape())
	if err != nil {
		return err
	}
	defer small.Free()
	if err := dev.LinearCombination(small, backend.Term{A: float32(1 / r.s), X: src}); err != nil {
		return err
	}
	if err := apply(small); err != nil {
		return err
	}
	return dev.LinearCombination(dst, backend.Term{A: float32(r.s), X: dst})
}
