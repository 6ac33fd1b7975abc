package synthetic

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// neighbours is the correlation of what differs between two pictures of planes of rows of w samples, in a sample and
// the one on its right.
func neighbours(a, b []float32, w int) float64 {
	product, square := 0.0, 0.0
	for i := range len(a) - 1 {
		if i%w == w-1 {
			continue
		}
		d, e := float64(a[i]-b[i]), float64(a[i+1]-b[i+1])
		product += d * e
		square += d * d
	}
	return product / square
}

func grey(n int, v float32) []float32 {
	p := make([]float32, n)
	for i := range p {
		p[i] = v
	}
	return p
}

func TestSpeckle(t *testing.T) {
	for _, v := range []float32{0, 0.2, 0.8} {
		clean := grey(20000, v)
		require.InDelta(t, 0.1*float64(v), deviation(clean, Speckle(clean, 0.1, 4)), 0.002)
	}
}

func TestUneven(t *testing.T) {
	const h, w = 128, 128
	clean := plane(3 * h * w)
	for seed := range uint64(8) {
		noisy := Uneven(clean, h, w, 0.01, 0.08, seed)
		low, high := math.Inf(1), 0.0
		for y := 0; y < h; y += 16 {
			for x := 0; x < w; x += 16 {
				sum := 0.0
				for i := range 256 {
					at := (y+i/16)*w + x + i%16
					d := float64(noisy[at] - clean[at])
					sum += d * d / 256
				}
				low, high = min(low, math.Sqrt(sum)), max(high, math.Sqrt(sum))
			}
		}
		require.Greater(t, low, 0.008, "seed %d", seed)
		require.Less(t, high, 0.1, "seed %d", seed)
		require.Greater(t, high/low, 1.4, "seed %d", seed) // chance alone: 1.3
	}
}

func TestResized(t *testing.T) {
	for _, cubic := range []bool{true, false} {
		for _, size := range [][4]int{{40, 50, 80, 75}, {90, 64, 45, 32}, {7, 9, 7, 9}} {
			flat := grey(3*size[0]*size[1], 0.3)
			out := Resized(flat, size[0], size[1], size[2], size[3], cubic)
			require.Len(t, out, 3*size[2]*size[3])
			require.InDeltaSlice(t, grey(len(out), 0.3), out, 3e-5)
		}
		// Enlarged, neighbours share noise.
		const n = 64
		clean := grey(n*n, 0.5)
		noisy := Resized(White(clean, 0.05, 1), n, n, 2*n, 2*n, cubic)
		require.Greater(t, neighbours(grey(4*n*n, 0.5), noisy, 2*n), 0.5)
		ramp := make([]float32, n*n)
		for i := range ramp {
			ramp[i] = float32(i%n) / n
		}
		out := Resized(ramp, n, n, 2*n, 2*n, cubic)
		for x := 4; x < 2*n-4; x++ {
			require.InDelta(t, (float64(x)+0.5)/2/n-0.5/n, out[n*2*n+x], 1e-3)
		}
	}
}
