package jpegblock

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// No plane has more noise than steps that are all rounded by a half, and what is too small for a block has none.
func TestRoundingNoiseHasBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w, beyond := rapid.IntRange(0, 33).Draw(t, "h"), rapid.IntRange(0, 33).Draw(t, "w"), rapid.IntRange(0, 5).Draw(t, "beyond")
		pix := rapid.SliceOfN(rapid.Byte(), h*(w+beyond), h*(w+beyond)).Draw(t, "pix")
		var steps [64]uint16
		for i, s := range Steps(rapid.IntRange(1, 100).Draw(t, "quality"))[0] {
			steps[i] = uint16(s)
		}
		noise := RoundingNoise(pix, w+beyond, w, h, &steps)
		most := 0.0
		for _, s := range steps {
			most += float64(s) * float64(s) / 4
		}
		require.GreaterOrEqual(t, noise, 0.0)
		require.LessOrEqual(t, noise, math.Sqrt(most/64)/255)
		if h < 8 || w < 8 {
			require.Zero(t, noise)
		}
	})
}
