package pnp_test

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
)

// halfway draws every sample half way to the mean of its neighbours in the row. It is ½-averaged: (id + M)/2, where the
// matrix M has nonnegative rows and columns with sums of 1, so that ‖M‖ ≤ 1.
type halfway struct{ device backend.Device }

func (h halfway) Averagedness() (alpha float64, proven bool) { return 0.5, true }

func (h halfway) Apply(ctx context.Context, dst, src backend.Buffer) error {
	s := src.Shape()
	from, to := make([]float32, s.Len()), make([]float32, s.Len())
	if err := h.device.Download(from, src); err != nil {
		return err
	}
	for start := 0; start < len(from); start += s.W {
		row := from[start : start+s.W]
		for x, v := range row {
			left, right := row[max(x-1, 0)], row[min(x+1, s.W-1)] // the ends are mirrored
			to[start+x] = v/2 + (left+right)/4
		}
	}
	return h.device.Upload(dst, to)
}

// Inpainting with an operator and a denoiser of one's own: the middle of three samples is not measured.
func ExampleSolve() {
	device, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()
	known := func(dst, src []float32) error {
		dst[0], dst[2] = src[0], src[2] // dst holds zeros before
		return nil
	}
	k, err := operator.FromHost(device, operator.Host{
		DomainH: 1, DomainW: 3, RangeH: 1, RangeW: 3,
		Apply: known, Adjoint: known, Norm: 1, Reason: "a projection",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := device.Alloc(backend.Image(1, 1, 3)) // one channel, one row, three columns
	if err != nil {
		fmt.Println(err)
		return
	}
	defer y.Free()
	if err := device.Upload(y, []float32{0.2, 0, 0.8}); err != nil {
		fmt.Println(err)
		return
	}
	x, report, err := pnp.Solve(context.Background(), device, y, k, halfway{device}, pnp.Options{Tolerance: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Free()
	out := make([]float32, x.Shape().Len())
	if err := device.Download(out, x); err != nil {
		fmt.Println(err)
		return
	}
	last := report.Iterations - 1
	fmt.Printf("%.3f, converged: %v\n", out, report.Converged)
	fmt.Println("the residual is below its bound:", report.Residuals[last] <= report.Bound(last))
	fmt.Print(report.Certificate)
	// Output:
	// [0.275 0.500 0.725], converged: true
	// the residual is below its bound: true
	// denoiser       Φ is 0.5-averaged (proven)
	// operator       ‖K‖ ≤ 1: a projection
	// gradient step  τ = 1: x − τ∇E(x) is 0.5-averaged (Baillon–Haddad)
	// iteration      T is 0.75-averaged (Combettes–Yamada 2015, Proposition 2.5)
	// fixed point    exists: T maps the box [0,1]ⁿ continuously into itself (Brouwer)
	// residual       min ‖x − T(x)‖ ≤ 1.73205·(‖x₀ − x*‖ + errors)/√(k+1) after k steps (Krasnoselskii–Mann)
}
