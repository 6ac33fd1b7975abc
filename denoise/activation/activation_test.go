package activation

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every activation increases, with slope at most L; ReLU is ReLU to any rounding.
func TestActivations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]Function{LeakyReLU(0.01), LeakyReLU(1), ReLU(), HardTanh(), Linear()}).Draw(t, "activation")
		require.NoError(t, a.Check())
		require.Contains(t, Names(), a.Name)
		x, y := rapid.Float64Range(-5, 5).Draw(t, "x"), rapid.Float64Range(-5, 5).Draw(t, "y")
		if x > y {
			x, y = y, x
		}
		rise := a.Of(y) - a.Of(x)
		require.GreaterOrEqual(t, rise, 0.0)
		require.LessOrEqual(t, rise, a.Lipschitz()*(y-x)*(1+1e-14)+1e-15)
		require.InDelta(t, math.Max(x, 0), ReLU().Of(x), 1e-29)
	})
	for _, bad := range []Function{{}, {Name: "gelu"}, LeakyReLU(0), LeakyReLU(-1), LeakyReLU(1.5), LeakyReLU(math.NaN()), {Name: "relu", Slope: 0.1}, {Name: "leakyrelu", Slope: 0.01}} {
		require.Error(t, bad.Check(), "%+v", bad)
	}
}
