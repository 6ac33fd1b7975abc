package winograd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The three matrices are a convolution, exactly: Aᵀ[(Gg) ⊙ (Bᵀd)] for every tap and sample.
// Bᵀ and Aᵀ are exact in float64, G is rounded.
func TestAlgorithmIsAConvolution(t *testing.T) {
	input, filter, output := Algorithm()
	for tap := range Taps {
		for j := range Patch {
			for y := range Tile {
				sum := 0.0
				for k := range Patch {
					sum += output[y][k] * filter[k][tap] * input[k][j]
				}
				want := 0.0
				if j == y+tap {
					want = 1
				}
				require.InDelta(t, want, sum, 1e-14)
			}
		}
	}
}

// rounded is an operation count in place of a number: how many roundings each of the samples
// has passed through.
type rounded map[int]int

func sum(a, b rounded) rounded {
	c := rounded{}
	for _, x := range []rounded{a, b} {
		for j, n := range x {
			c[j] = max(c[j], n+1)
		}
	}
	return c
}

func times(k float64, a rounded) rounded {
	if math.Abs(k) == math.Ldexp(1, math.Ilogb(k)) {
		return a
	}
	c := rounded{}
	for j, n := range a {
		c[j] = n + 1
	}
	return c
}

// The formulas of interpolate and evaluate, with every operation counted.
func TestRoundingsOfTheTransforms(t *testing.T) {
	var x [Patch]rounded
	for j := range x {
		x[j] = rounded{j: 0}
	}
	even := func(a, b, c int, ka, kc float64) rounded {
		return sum(sum(x[a], times(ka, x[b])), times(kc, x[c]))
	}
	most := func(values ...rounded) (n int) {
		for _, v := range values {
			for _, k := range v {
				n = max(n, k)
			}
		}
		return n
	}
	require.Equal(t, InputRoundings, most(
		sum(sum(x[0], x[6]), times(5.25, sum(x[4], x[2]))),
		sum(even(2, 6, 4, 1, -4.25), even(1, 5, 3, 1, -4.25)),
		sum(even(6, 2, 4, 0.25, -1.25), times(2, even(5, 1, 3, 0.25, -1.25))),
		sum(even(6, 2, 4, 4, -5), times(0.5, even(5, 1, 3, 4, -5))),
	))
	s1, s2, s3 := sum(x[1], x[2]), sum(x[3], x[4]), sum(x[5], x[6])
	require.Equal(t, OutputRoundings, most(
		sum(sum(sum(x[0], s1), s2), s3),
		sum(sum(s1, times(4, s2)), times(0.25, s3)),
		sum(sum(sum(x[7], s1), times(32, s2)), times(0.03125, s3)),
	))
}
