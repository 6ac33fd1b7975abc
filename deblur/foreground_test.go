package deblur

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A kernel on grey or on white, in 8 bits, is the kernel on black, up to what the rounding to 8 bits adds.
func TestForeground(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shake, err := Shake(2*rapid.IntRange(2, 15).Draw(t, "radius")+1, rapid.Uint64Range(1, 1000).Draw(t, "seed"))
		require.NoError(t, err)
		above, below := rapid.IntRange(2, 9).Draw(t, "above"), rapid.IntRange(2, 9).Draw(t, "below")
		left, right := rapid.IntRange(2, 9).Draw(t, "left"), rapid.IntRange(2, 9).Draw(t, "right")
		background := rapid.IntRange(4, 120).Draw(t, "background")
		white := rapid.Bool().Draw(t, "white")
		h, w := above+shake.H+below, left+shake.W+right
		plain, shown := make([]float32, h*w), make([]float32, h*w)
		top := slices.Max(shake.Weights)
		for i := range shown {
			shown[i] = float32(background)
			if white {
				shown[i] = 255
			}
		}
		span := 255 - float64(background)
		for i, v := range shake.Weights {
			at := (above+i/shake.W)*w + left + i%shake.W
			grey := float32(math.Round(span * float64(v/top)))
			plain[at] = grey
			if shown[at] += grey; white {
				shown[at] = 255 - grey
			}
		}
		want, err := NewKernel(plain, h, w)
		require.NoError(t, err)
		picture, err := NewKernel(shown, h, w)
		require.NoError(t, err)
		got, ok := picture.Foreground()
		require.True(t, ok)
		requireNormalised(t, got)
		// Weights within the tolerance of the background count as background.
		lost := 0.0
		for _, v := range want.Weights {
			if v <= slices.Max(want.Weights)/25 {
				lost += float64(v)
			}
		}
		wide := func(k Kernel) []float64 {
			out := make([]float64, h*w)
			for i, v := range k.Weights {
				out[(h/2-k.CY+i/k.W)*w+w/2-k.CX+i%k.W] = float64(v)
			}
			return out
		}
		a, b, apart := wide(want), wide(got), 0.0
		for i := range a {
			apart += math.Abs(a[i] - b[i])
		}
		require.LessOrEqual(t, apart, 2*lost/(1-min(lost, 0.5))+1e-3)
		_, again := got.Foreground()
		require.False(t, again)
	})
}

// Kernels that end above black have no background.
func TestKernelsWithoutBackground(t *testing.T) {
	must := made(t)
	kernels := map[string]Kernel{"point": {H: 1, W: 1, Weights: []float32{1}}, "none": {}}
	for i := range 60 {
		size := 1 + float64(i)*0.27
		kernels[fmt.Sprintf("box of %d", i+1)] = must(Box(i + 1))
		kernels[fmt.Sprintf("disk of %g", size)] = must(Disk(size))
		kernels[fmt.Sprintf("motion of %g", size)] = must(Motion(size, 0))
		kernels[fmt.Sprintf("slanted motion of %g", size)] = must(Motion(size, 31))
		kernels[fmt.Sprintf("shake of %d", i)] = must(Shake(2*(i%15)+3, uint64(i)))
		// As other programs cut it: fspecial('gaussian', n, std).
		n, std := 3+i%20, 0.5+float64(i)*0.2
		weights := make([]float32, n*n)
		for j := range weights {
			y, x := float64(j/n)-float64(n-1)/2, float64(j%n)-float64(n-1)/2
			weights[j] = float32(math.Exp(-(y*y + x*x) / (2 * std * std)))
		}
		kernels[fmt.Sprintf("gaussian of %g in %d", std, n)] = must(NewKernel(weights, n, n))
	}
	for name, k := range kernels {
		_, ok := k.Foreground()
		require.False(t, ok, name)
	}
}
