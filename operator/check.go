package operator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Check refuses an operator that random images of as many channels refute: its results are not finite, its Adjoint is
// none of its Apply, as also if Apply adds an offset, or power iteration, as in EstimateNorm, finds an image that it
// stretches by more than its Norm. It allows for the rounding of float32. An operator that passes may still be wrong;
// package operatortest tries longer.
func Check(ctx context.Context, dev backend.Device, k Linear, channels, steps int, seed uint64) error {
	if err := checkGiven(dev, k); err != nil {
		return err
	}
	if err := checkAdjoint(ctx, dev, k, channels, seed); err != nil {
		return err
	}
	estimate, err := estimateNorm(ctx, dev, k, channels, steps, seed)
	if err != nil {
		return err
	}
	const rounding = 2e-5
	if bound, reason := k.Norm(); !(estimate <= bound*(1+rounding)+1e-30) {
		return fmt.Errorf("operator: an image is stretched by %.9g, the norm is said to be at most %.9g (%s)", estimate, bound, reason)
	}
	return nil
}

// checkGiven returns an error unless there are a device and an operator.
func checkGiven(dev backend.Device, k Linear) error {
	if k == nil {
		return errors.New("operator: the operator is nil")
	}
	return arguments.CheckDevice("operator", dev)
}

// checkAdjoint compares ⟨Kx, y⟩ with ⟨x, Kᵀy⟩ for independent normal x and y.
func checkAdjoint(ctx context.Context, dev backend.Device, k Linear, channels int, seed uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dh, dw := k.Domain()
	h, w := k.Range()
	var owned []backend.Buffer
	defer func() {
		for _, b := range owned {
			b.Free()
		}
	}()
	image := func(h, w int, seed uint64) (backend.Buffer, error) {
		b, err := dev.Alloc(backend.Image(channels, h, w))
		if err != nil {
			return nil, err
		}
		owned = append(owned, b)
		return b, dev.Gaussian(b, seed, 0, 1)
	}
	// product returns ⟨A·src, other⟩ and the length of A·src. That starts as noise, so that nothing fits by chance if A leaves
	// samples unset.
	product := func(name string, a func(dst, src backend.Buffer) error, src, other backend.Buffer, seed uint64) (dot, length float64, err error) {
		dst, err := image(other.Shape().H, other.Shape().W, seed)
		if err != nil {
			return 0, 0, err
		}
		if err := a(dst, src); err != nil {
			return 0, 0, err
		}
		var sums [2]float64
		err = dev.Reduce(sums[:], backend.Reduction{Kind: backend.Dot, X: dst, Y: other}, backend.Reduction{Kind: backend.SumSquares, X: dst})
		if err == nil && !(sums[1] <= math.MaxFloat64) {
			err = fmt.Errorf("%s gives a NaN or an infinity for a finite image", name)
		}
		return sums[0], math.Sqrt(sums[1]), err
	}
	x, err := image(dh, dw, seed)
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	y, err := image(h, w, seed+1)
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	left, forth, err := product("Apply", k.Apply, x, y, seed+2)
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	right, back, err := product("Adjoint", k.Adjoint, y, x, seed+3)
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	// y does not know the rounding of Kx, so that ⟨Kx, y⟩ is off by about the length of that, whatever the size. It is at most
	// 3e-5 of Kx where the kernel of a blur has hundreds of samples. A transform rounds in proportion to x instead.
	const rounding, ofTransforms = 1e-3, 1e-6
	bound, _ := k.Norm()
	room := rounding*max(forth, back) + ofTransforms*bound*math.Sqrt(float64(max(x.Shape().Len(), y.Shape().Len())))
	if !(math.Abs(left-right) <= room) {
		return fmt.Errorf("operator: the adjoint is not one: ⟨Kx, y⟩ is %.9g, ⟨x, Kᵀy⟩ is %.9g", left, right)
	}
	return nil
}
