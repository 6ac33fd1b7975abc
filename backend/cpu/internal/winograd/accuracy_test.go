package winograd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// transforms are Aᵀ, G and Bᵀ of F(m, 3).
type transforms struct{ a, g, b [][]float64 }

// toomCook makes the transforms of F(m, 3) from the points, the last of which is
// infinity: the algorithm of Toom and Cook for products of polynomials, transposed
// (Winograd 1980; Blahut, "Fast Algorithms for Signal Processing", chapter 5).
func toomCook(points []*big.Rat) transforms {
	n := len(points) + 1
	m := n - 2
	rat := func(r *big.Rat) float64 { f, _ := r.Float64(); return f }
	power := func(p *big.Rat, k int) *big.Rat {
		r := big.NewRat(1, 1)
		for range k {
			r.Mul(r, p)
		}
		return r
	}
	var t transforms
	for i := range m {
		row := make([]float64, n)
		for j, p := range points {
			row[j] = rat(power(p, i))
		}
		if i == m-1 {
			row[n-1] = 1
		}
		t.a = append(t.a, row)
	}
	// product returns the coefficients of ∏ (t − p) over all points but one.
	product := func(but int) []*big.Rat {
		c := []*big.Rat{big.NewRat(1, 1)}
		for j, p := range points {
			if j == but {
				continue
			}
			next := make([]*big.Rat, len(c)+1)
			for k := range next {
				next[k] = new(big.Rat)
				if k > 0 {
					next[k].Set(c[k-1])
				}
				if k < len(c) {
					next[k].Sub(next[k], new(big.Rat).Mul(p, c[k]))
				}
			}
			c = next
		}
		return c
	}
	for j := range n {
		row, filter := make([]float64, n), make([]float64, 3)
		if j == n-1 {
			filter[2] = 1
			for k, c := range product(-1) {
				row[k] = rat(c)
			}
		} else {
			scale := big.NewRat(1, 1)
			for k, p := range points {
				if k != j {
					scale.Mul(scale, new(big.Rat).Sub(points[j], p))
				}
			}
			for k := range filter {
				filter[k] = rat(new(big.Rat).Quo(power(points[j], k), scale))
			}
			for k, c := range product(j) {
				row[k] = rat(c)
			}
		}
		t.b, t.g = append(t.b, row), append(t.g, filter)
	}
	return t
}

// error32 returns the error, relative to the root mean square of the result, of tiles
// of outputs of 64 input channels by float32 arithmetic with the filter transformed in
// float64, as the kernels do it.
func (t transforms) error32(r *rand.Rand, tiles int) float64 {
	const channels = 64
	n, m := len(t.b), len(t.a)
	round := func(v float64) float64 { return float64(float32(v)) }
	// times returns a·x·aᵀ, rounded at every operation if asked to.
	times := func(a, x [][]float64, rounded bool) [][]float64 {
		f := func(v float64) float64 { return v }
		if rounded {
			f = round
		}
		half, full := make([][]float64, len(a)), make([][]float64, len(a))
		for i := range a {
			half[i], full[i] = make([]float64, len(x)), make([]float64, len(a))
			for j := range x {
				for k, v := range a[i] {
					half[i][j] = f(half[i][j] + f(f(v)*x[k][j]))
				}
			}
			for j := range a {
				for k, v := range a[j] {
					full[i][j] = f(full[i][j] + f(f(v)*half[i][k]))
				}
			}
		}
		return full
	}
	square := func(n int, scale float64) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, n)
			for j := range x[i] {
				x[i][j] = round(scale * r.NormFloat64())
			}
		}
		return x
	}
	var errors, energy float64
	for range tiles {
		sum := make([][]float64, n)
		for i := range sum {
			sum[i] = make([]float64, n)
		}
		want := make([]float64, m*m)
		for range channels {
			d, w := square(n, 1), square(3, 0.05)
			v, u := times(t.b, d, true), times(t.g, w, false)
			for i := range sum {
				for j := range sum[i] {
					sum[i][j] = round(sum[i][j] + round(u[i][j])*v[i][j])
				}
			}
			for y := range m {
				for x := range m {
					for a := range 3 {
						for b := range 3 {
							want[y*m+x] += w[a][b] * d[y+a][x+b]
						}
					}
				}
			}
		}
		got := times(t.a, sum, true)
		for y := range m {
			for x := range m {
				e := got[y][x] - want[y*m+x]
				errors += e * e
				energy += want[y*m+x] * want[y*m+x]
			}
		}
	}
	return math.Sqrt(errors / energy)
}

// The larger the tile the larger the error, and at 6×6 it is still a hundredth of
// TF32's; docs/notebook/convolutions.md has what each would cost.
func TestErrorOfTileSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	rats := func(v ...[2]int64) []*big.Rat {
		p := []*big.Rat{new(big.Rat)}
		for _, q := range v {
			p = append(p, big.NewRat(q[0], q[1]), big.NewRat(-q[0], q[1]))
		}
		return p
	}
	four := toomCook(rats([2]int64{1, 1}, [2]int64{2, 1})).error32(r, 40)
	six := toomCook(rats([2]int64{1, 1}, [2]int64{2, 1}, [2]int64{1, 2})).error32(r, 20)
	t.Logf("F(4×4,3×3): %.2e, F(6×6,3×3): %.2e of the root mean square", four, six)
	require.InDelta(t, 1.7e-6, four, 0.5e-6)
	require.InDelta(t, 3.4e-6, six, 1e-6)
}
