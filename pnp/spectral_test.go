package pnp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Without room for points an iteration is about as fast as with one, and comes to the same image.
func TestSpectralStep(t *testing.T) {
	const h, w = 12, 14
	dev := newDevice(t)
	k := masked(t, dev, h, w)
	y, start := planes(t, dev, h, w-1, random(1, 3*h*(w-1))), planes(t, dev, h, w, random(2, 3*h*w))
	result := func(a Acceleration, alone bool) ([]float32, Report) {
		opt := Options{Acceleration: a, Memory: 1, Step: 0.1, Start: start, Tolerance: 1e-6}
		it, err := newIteration(dev, y, k, shrink(dev, 0.999), opt)
		require.NoError(t, err)
		defer it.free()
		if alone {
			it.guard.spectral = new(spectral)
		}
		x, report, err := it.run(t.Context(), opt)
		require.NoError(t, err)
		defer x.Free()
		require.True(t, report.Converged)
		out := make([]float32, 3*h*w)
		require.NoError(t, dev.Download(out, x))
		return out, report
	}
	want, plain := result(Plain, false)
	_, one := result(Anderson, false)
	got, none := result(Anderson, true)
	t.Logf("%d plain iterations, %d with one point, %d with none", plain.Iterations, one.Iterations, none.Iterations)
	require.Less(t, none.Iterations, plain.Iterations*2/3)
	require.LessOrEqual(t, float64(none.Iterations), 1.3*float64(one.Iterations))
	require.InDeltaSlice(t, want, got, 1e-3)
	require.Positive(t, none.Errors[len(none.Errors)-1], "its moves are errors in computing T")
}
