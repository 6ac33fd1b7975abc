// Package devicetest has what tests need of a device: numbers to try an operator or a network on, and the numbers that come out.
package devicetest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// Noise returns a buffer of channels of normal random numbers, and them.
func Noise(t testing.TB, dev backend.Device, channels, h, w int, seed uint64) (backend.Buffer, []float32) {
	b, err := dev.Alloc(backend.Image(channels, h, w))
	require.NoError(t, err)
	require.NoError(t, dev.Gaussian(b, seed, 0, 1))
	return b, Download(t, dev, b)
}

// Uniform returns random numbers from 0 to 1 for a buffer of shape s.
func Uniform(seed uint64, s backend.Shape) []float32 {
	rng := rand.New(rand.NewPCG(seed, 11))
	x := make([]float32, s.Len())
	for i := range x {
		x[i] = float32(rng.Float64())
	}
	return x
}

// Upload returns a buffer of these numbers.
func Upload(t require.TestingT, dev backend.Device, s backend.Shape, x []float32) backend.Buffer {
	b, err := dev.Alloc(s)
	require.NoError(t, err)
	require.NoError(t, dev.Upload(b, x))
	return b
}

// Download returns the numbers of a buffer.
func Download(t require.TestingT, dev backend.Device, b backend.Buffer) []float32 {
	x := make([]float32, b.Shape().Len())
	require.NoError(t, dev.Download(x, b))
	return x
}

// Dot is the inner product in float64.
func Dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Norm returns what power iteration of so many steps finds of the norm.
func Norm(t testing.TB, dev backend.Device, k operator.Linear, steps int) float64 {
	estimate, err := operator.EstimateNorm(t.Context(), dev, k, steps, 5)
	require.NoError(t, err)
	return estimate
}

// Denoised returns what a network of three steps makes of an image, which is what programs do with a device. Errors are the
// device's.
func Denoised(d backend.Device) (result []float32, err error) {
	s := backend.Image(3, 24, 30)
	alloc := func(s backend.Shape) backend.Buffer {
		b, failed := d.Alloc(s)
		if err == nil {
			err = failed
		}
		return b
	}
	src, dst, w := alloc(s), alloc(s), alloc(backend.Shape{N: 16, C: 8, H: 3, W: 3})
	if err != nil {
		return nil, err
	}
	if err := d.Gaussian(src, 1, 0.5, 0.1); err != nil {
		return nil, err
	}
	if err := d.Gaussian(w, 2, 0, 0.1); err != nil {
		return nil, err
	}
	f, err := d.NewFilter(w)
	if err != nil {
		return nil, err
	}
	step := backend.FlowStep{Filter: f, Size: 0.5, Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}}
	if err := d.GradientFlow(context.Background(), dst, src, s.Whole(), []backend.FlowStep{step, step, step}); err != nil {
		return nil, err
	}
	result = make([]float32, s.Len())
	return result, d.Download(result, dst)
}

// SkipSearch skips a search, for images that a network moves apart or for the largest norm, where a test run is told to be
// short: it takes hundreds of gradients or images, which are slow on an emulated processor and under the race detector, and
// other tests call the same code there.
func SkipSearch(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long search, which a run with -short leaves to the others")
	}
}
