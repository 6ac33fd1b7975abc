package response

import (
	"math"
	"math/big"
	"math/cmplx"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// at is |k̂| at a frequency, by its definition.
func at(weights []float32, width int, ty, tx float64) float64 {
	sum := complex(0, 0)
	for i, v := range weights {
		sum += complex(float64(v), 0) * cmplx.Exp(complex(0, -ty*float64(i/width)-tx*float64(i%width)))
	}
	return cmplx.Abs(sum)
}

// No frequency has more than Bound, and Largest is the largest of those on its grid.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		height, width := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "columns")
		weights := rapid.SliceOfN(rapid.Float32Range(-2, 2), height*width, height*width).Draw(t, "weights")
		sum := SumAbove(weights)
		exact := 0.0
		for _, v := range weights {
			exact += math.Abs(float64(v))
		}
		require.GreaterOrEqual(t, sum, exact*(1-1e-15))
		require.InDelta(t, exact, sum, 1e-12)
		bound, ok := Bound(weights, width, sum)
		require.True(t, ok)
		ny, nx := rapid.IntRange(1, 9).Draw(t, "ny"), rapid.IntRange(1, 9).Draw(t, "nx")
		top, ok := Largest(weights, width, ny, nx, sum)
		require.True(t, ok)
		onGrid := 0.0
		for y := range ny {
			for x := range nx {
				onGrid = max(onGrid, at(weights, width, 2*math.Pi*float64(y)/float64(ny), 2*math.Pi*float64(x)/float64(nx)))
			}
		}
		require.InDelta(t, onGrid, top, 1e-10)
		require.GreaterOrEqual(t, top, onGrid*(1-1e-14))
		angle := rapid.Float64Range(-math.Pi, math.Pi)
		require.LessOrEqual(t, at(weights, width, angle.Draw(t, "θy"), angle.Draw(t, "θx")), bound*(1+1e-14)+1e-300)
		require.LessOrEqual(t, bound, 1.1*sum+1e-300)
	})
	_, ok := Largest(make([]float32, 1000*1000), 1000, 1<<20, 1<<20, 1)
	require.False(t, ok, "what takes too long is not begun")
}

func TestRootsWrap(t *testing.T) {
	r := RootsOfUnity(8)
	require.Equal(t, r[3], r.At(11))
	require.Equal(t, r[5], r.At(-3))
	require.InDelta(t, 0, cmplx.Abs(r.At(1)-cmplx.Exp(complex(0, -math.Pi/4))), 1e-15)
}

// exactRoot returns cos and sin of 2πj/n to 200 bits: e^{2πij/n} by its series at a
// 2^20th of the angle, squared twenty times.
func exactRoot(j, n int) (cos, sin *big.Float) {
	const halvings = 20
	number := func() *big.Float { return new(big.Float).SetPrec(256) }
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899", 10, 256, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	x := number().Quo(number().Mul(pi, number().SetInt64(int64(2*j))), number().SetInt64(int64(n)))
	x.SetMantExp(x, -halvings)
	cos, sin = number().SetInt64(1), number().SetInt64(0)
	power := number().SetInt64(1)
	for k := int64(1); k < 24; k++ {
		power.Quo(power.Mul(power, x), number().SetInt64(k))
		switch k % 4 {
		case 0:
			cos.Add(cos, power)
		case 1:
			sin.Add(sin, power)
		case 2:
			cos.Sub(cos, power)
		case 3:
			sin.Sub(sin, power)
		}
	}
	for range halvings {
		c2, s2, cs := number().Mul(cos, cos), number().Mul(sin, sin), number().Mul(cos, sin)
		cos.Sub(c2, s2)
		sin.Add(cs, cs)
	}
	return cos, sin
}

func TestUnitRootsAreWithinTheirBound(t *testing.T) {
	largest := 0.0
	for _, n := range []int{1, 2, 3, 5, 7, 8, 16, 64, 97, 360, 1001, 4096, 3 * 4096, 7 * 4096, 9973} {
		for j := 0; j < n; j += max(1, n/500) {
			c, s := UnitRoot(j, n)
			ec, es := exactRoot(j, n)
			for _, p := range []struct {
				got  float64
				want *big.Float
			}{{c, ec}, {s, es}} {
				off, _ := new(big.Float).Sub(p.want, big.NewFloat(p.got)).Float64()
				largest = max(largest, math.Abs(off))
			}
		}
	}
	t.Logf("largest error: %.2f units", largest/Unit)
	require.LessOrEqual(t, largest, RootError)
	require.Less(t, largest, RootError/2, "the bound has room")
}
