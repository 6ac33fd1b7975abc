package tv

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
)

// The gap that a device evaluates is off by no more than summation says, against 200 bits.
func TestGapIsOffByNoMoreThanSaid(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer func() { require.NoError(t, dev.Close()) }()
	const h, w = 23, 31
	r := rand.New(rand.NewPCG(2, 2))
	put := func(s backend.Shape, value func(i int) float32) (backend.Buffer, []float32) {
		x := make([]float32, s.Len())
		for i := range x {
			x[i] = value(i)
		}
		b, err := dev.Alloc(s)
		require.NoError(t, err)
		require.NoError(t, dev.Upload(b, x))
		return b, x
	}
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(float64(v)) }
	number := func() *big.Float { return new(big.Float).SetPrec(200) }
	for _, alpha := range []float32{0.01, 0.3} {
		prox, err := New(dev, backend.Image(1, h, w), Options{Alpha: float64(alpha), Coupling: PerChannel()})
		require.NoError(t, err)
		y, yv := put(backend.Image(1, h, w), func(int) float32 { return r.Float32() })
		u, uv := put(backend.Image(1, h, w), func(i int) float32 { return yv[i] + 0.1*r.Float32() })
		// Inside the balls, so that nothing is scaled, and 0 where the gradient is.
		p, pv := put(backend.Image(2, h, w), func(i int) float32 {
			c, row, column := i/(h*w), i/w%h, i%w
			if c == 0 && row == h-1 || c == 1 && column == w-1 {
				return 0
			}
			return alpha * 0.7 * (2*r.Float32() - 1)
		})
		got, err := dev.TVEvaluate(u, p, y, backend.TVProblem{Alpha: alpha})
		require.NoError(t, err)
		residual, variation, product := number(), number(), number()
		at := func(x []float32, row, column int) *big.Float { return exact(x[row*w+column]) }
		for row := range h {
			for column := range w {
				d := number().Sub(at(uv, row, column), at(yv, row, column))
				// − ∇ᵀp is p(here) − p(before) in either direction; r = y − ∇ᵀp.
				d.Sub(d, exact(pv[row*w+column])).Sub(d, exact(pv[h*w+row*w+column]))
				if row > 0 {
					d.Add(d, exact(pv[(row-1)*w+column]))
				}
				if column > 0 {
					d.Add(d, exact(pv[h*w+row*w+column-1]))
				}
				residual.Add(residual, number().Mul(d, d))
				g, k := number(), number()
				if row+1 < h {
					g.Sub(at(uv, row+1, column), at(uv, row, column))
				}
				if column+1 < w {
					k.Sub(at(uv, row, column+1), at(uv, row, column))
				}
				variation.Add(variation, number().Sqrt(number().Add(number().Mul(g, g), number().Mul(k, k))))
				product.Add(product, number().Mul(g, exact(pv[row*w+column])))
				product.Add(product, number().Mul(k, exact(pv[h*w+row*w+column])))
			}
		}
		gap := number().Mul(residual, exact(0.5))
		gap.Add(gap, number().Mul(variation, exact(alpha))).Sub(gap, product)
		off, _ := gap.Sub(gap, number().SetFloat64(got.Gap())).Float64()
		require.LessOrEqual(t, math.Abs(off), prox.summation(got.Primal()+got.Gap()))
		require.Less(t, prox.summation(got.Primal()), 1e-12*got.Primal(), "it is little")
	}
}
