package denoise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/weights"
)

// coarse returns an image as the blocks of a network see it, in float64.
func coarse(x []float32, s backend.Shape, q int) []float32 {
	of := s.Unshuffled(q)
	y := make([]float32, of.Len())
	for i := range y {
		c, at := i/of.Plane(), i%of.Plane()
		row, column := at/of.W*q+c%(q*q)/q, at%of.W*q+c%q
		if row < s.H && column < s.W {
			y[i] = x[(c/(q*q)*s.H+row)*s.W+column]
		}
	}
	return y
}

// exact returns Φ(x) in float64, as the blocks see it.
func exact(t testing.TB, m Model, steps []int, s backend.Shape, x []float32) []float64 {
	q := m.factor()
	of := s.Unshuffled(q)
	m.Channels, m.Shuffle = m.lifted(), 0
	return newReference(t, m, steps, of.H, of.W).apply(coarse(x, s, q))
}

// testImages are a smooth one, noise, black and white, and a chessboard.
func testImages(s backend.Shape) [][]float32 {
	list := [][]float32{randomImage(1, s), randomImage(2, s), randomImage(3, s), randomImage(4, s)}
	for i := range s.Len() {
		y, x := i/s.W%s.H, i%s.W
		list[0][i] = float32(0.5 + 0.4*math.Sin(float64(y)/9)*math.Cos(float64(x)/7))
		list[2][i] = float32(math.Round(float64(list[2][i])))
		list[3][i] = float32((x + y) % 2)
	}
	return list
}

// What float32 does to the networks of the library is within the bound. How far below is
// logged, and in RATIONALE.md.
func TestRoundingOfTheLibrarysNetworks(t *testing.T) {
	for _, name := range weights.Embedded() {
		if name == weights.DnCNN {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f, err := weights.Open(name)
			require.NoError(t, err)
			m, err := FromFile(f)
			require.NoError(t, err)
			dev := newCPU(t)
			n, err := Load(t.Context(), dev, f)
			require.NoError(t, err)
			defer n.Free()
			steps := stepsOf(n.Certificate())
			if n.Levels() != nil {
				if m, err = m.At(0.1); err != nil {
					require.NoError(t, err)
				}
				if n, err = n.For(t.Context(), 0.1); err != nil {
					require.NoError(t, err)
				}
				defer n.Free()
			}
			shape := backend.Image(3, 27, 26)
			least := math.Inf(1)
			bound := 0.0
			for _, x := range testImages(shape) {
				want := exact(t, m, steps, shape, x)
				got := coarse(denoised(t, n, shape, x), shape, m.factor())
				clipped := coarse(ones(shape), shape, m.factor()) // what is beyond the image is not of the result
				for i, v := range clipped {
					want[i] *= float64(v)
				}
				bound, err = n.Rounding(t.Context(), norm2(x), shape)
				require.NoError(t, err)
				off := between(got, want)
				require.LessOrEqual(t, off, bound)
				least = min(least, bound/off)
			}
			t.Logf("at most %.3g root mean square, %.3g times what is seen", bound/math.Sqrt(float64(shape.Len())), least)
		})
	}
}

func ones(s backend.Shape) []float32 {
	x := make([]float32, s.Len())
	for i := range x {
		x[i] = 1
	}
	return x
}

var _ = cpu.New
