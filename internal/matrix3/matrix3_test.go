package matrix3

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A times its inverse, on either side, is the identity, and the determinant is that of the definition.
func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Matrix
		for i := range a {
			a[i] = rapid.Float64Range(-1, 1).Draw(t, "number")
		}
		d := a.Determinant()
		byRows := a[0]*a[4]*a[8] + a[1]*a[5]*a[6] + a[2]*a[3]*a[7] - a[2]*a[4]*a[6] - a[1]*a[3]*a[8] - a[0]*a[5]*a[7]
		require.InDelta(t, byRows, d, 1e-14)
		if math.Abs(d) < 1e-3 {
			return
		}
		identity := Matrix{1, 0, 0, 0, 1, 0, 0, 0, 1}
		left, right := a.Inverse().Times(a), a.Times(a.Inverse())
		require.InDeltaSlice(t, identity[:], left[:], 1e-9)
		require.InDeltaSlice(t, identity[:], right[:], 1e-9)
		v := [3]float64{1, -2, 3}
		back := a.Inverse().Of(a.Of(v))
		require.InDeltaSlice(t, v[:], back[:], 1e-9)
	})
}
