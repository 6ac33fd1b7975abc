package blurdomain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
)

// BenchmarkWeigh weighs 200 squares of 64×64 samples, and 36 of 128×128.
func BenchmarkWeigh(b *testing.B) {
	for _, size := range []int{13, 21} {
		k, err := deblur.Shake(size, 1)
		require.NoError(b, err)
		const h, w = 384, 640
		p := photograph(patches(h+k.H-1, w+k.W-1, 3), h, w, func(y, x int) deblur.Kernel { return k }, true, 0, 7)
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				e, err := Weigh(b.Context(), p, 1, deblur.OneKernel(k))
				require.NoError(b, err)
				b.ReportMetric(float64(e[0].Squares), "squares")
			}
		})
	}
}
