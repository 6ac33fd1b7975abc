package operator

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// EstimateNorm estimates ‖K‖ by steps of power iteration on KᵀK, at least 1, from a random grey image that the
// seed chooses. The estimate is a lower bound, up to rounding, so it proves nothing that needs ‖K‖ to be
// small: for that see Linear.Norm.
func EstimateNorm(ctx context.Context, dev backend.Device, k Linear, steps int, seed uint64) (estimate float64, err error) {
	if err := checkGiven(dev, k); err != nil {
		return 0, err
	}
	return estimateNorm(ctx, dev, k, 1, steps, seed)
}

func estimateNorm(ctx context.Context, dev backend.Device, k Linear, channels, steps int, seed uint64) (estimate float64, err error) {
	if steps < 1 {
		return 0, fmt.Errorf("operator: %d steps of power iteration, want at least 1", steps)
	}
	dh, dw := k.Domain()
	h, w := k.Range()
	x, err := dev.Alloc(backend.Image(channels, dh, dw))
	if err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	defer x.Free()
	y, err := dev.Alloc(backend.Image(channels, h, w))
	if err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	defer y.Free()
	if err := dev.Gaussian(x, seed, 1, 1); err != nil {
		return 0, fmt.Errorf("operator: %w", err)
	}
	for range steps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := k.Apply(y, x); err != nil {
			return 0, fmt.Errorf("operator: %w", err)
		}
		var squares [2]float64
		err := dev.Reduce(squares[:],
			backend.Reduction{Kind: backend.SumSquares, X: x}, backend.Reduction{Kind: backend.SumSquares, X: y})
		if err != nil {
			return 0, fmt.Errorf("operator: %w", err)
		}
		if squares[0] == 0 || squares[1] == 0 {
			return estimate, nil
		}
		estimate = max(estimate, math.Sqrt(squares[1]/squares[0]))
		if err := k.Adjoint(x, y); err != nil {
			return 0, fmt.Errorf("operator: %w", err)
		}
		scale := float32(math.Sqrt(float64(channels) * float64(dh) * float64(dw) / squares[1]))
		if err := dev.LinearCombination(x, backend.Term{A: scale, X: x}); err != nil {
			return 0, fmt.Errorf("operator: %w", err)
		}
	}
	return estimate, nil
}
