package operator_test

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/operator"
)

// every returns the operator that keeps every second sample of a row, for images of the given size, with a bound of its norm.
func every(height, width int, norm float64) operator.Host {
	return operator.Host{
		DomainH: height, DomainW: width, RangeH: height, RangeW: width / 2,
		Apply: func(dst, src []float32) error {
			for i := range dst {
				dst[i] = src[2*i]
			}
			return nil
		},
		Adjoint: func(dst, src []float32) error {
			for i, v := range src {
				dst[2*i] = v // the others are zeros before
			}
			return nil
		},
		Norm: norm, Reason: "rows of the identity",
	}
}

// An operator on plain numbers, of rows with an even number of samples, and what tries to refute it.
func Example() {
	ctx := context.Background()
	device, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()
	k, err := operator.FromHost(device, every(6, 8, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	const channels, steps, seed = 3, 20, 1
	fmt.Println("refuted:", operator.Check(ctx, device, k, channels, steps, seed))
	estimate, err := operator.EstimateNorm(ctx, device, k, steps, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	bound, reason := k.Norm()
	fmt.Printf("%.3f ≤ ‖K‖ ≤ %g: %s\n", estimate, bound, reason)

	wrong, err := operator.FromHost(device, every(6, 8, 0.9))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("refuted:", operator.Check(ctx, device, wrong, channels, steps, seed))
	// Output:
	// refuted: <nil>
	// 1.000 ≤ ‖K‖ ≤ 1: rows of the identity
	// refuted: operator: an image is stretched by 1, the norm is said to be at most 0.9 (rows of the identity)
}
