package refdevice_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
)

func TestCompliance(t *testing.T) {
	if testing.Short() { // plain loops on one goroutine, except for the calls that are made at once: go test ./... has all
		backendtest.RunOnly(t, func(testing.TB) backend.Device { return refdevice.New(refdevice.Options{Memory: 16 << 20}) }, "Concurrency", "Sync", "Close")
		return
	}
	all := slices.DeleteFunc(backendtest.Operations(), func(name string) bool { return name == "Wrap" })
	// The suite goes up to the limit of the memory.
	backendtest.Run(t, func(testing.TB) backend.Device { return refdevice.New(refdevice.Options{Memory: 16 << 20}) }, all...)
}

// What devicekit does for kernels that have nothing but what they must passes the suite as well.
func TestPlainCompliance(t *testing.T) {
	if testing.Short() {
		t.Skip("package cpu runs the suite on the same fallbacks: go test ./... has both")
	}
	backendtest.Run(t, func(testing.TB) backend.Device {
		return refdevice.New(refdevice.Options{Memory: 16 << 20, Plain: true})
	}, plainOperations()...)
}

// plainOperations are all that devicekit makes of the methods of its Kernels.
func plainOperations() []string {
	gradients := []string{"Wrap", "FilterGradient", "BiasGradient", "ActivationGradient", "ProjectBallsGradient"}
	return slices.DeleteFunc(backendtest.Operations(), func(name string) bool { return slices.Contains(gradients, name) })
}

// A little memory is enough for what is small; the suite then tries the limit
// itself.
func TestMemoryLimit(t *testing.T) {
	d := refdevice.New(refdevice.Options{Memory: 4 * 100})
	defer func() { require.NoError(t, d.Close()) }()
	require.EqualValues(t, 400, d.Description().Memory)
	a, err := d.Alloc(backend.Vector(60))
	require.NoError(t, err)
	_, err = d.Alloc(backend.Vector(41))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	b, err := d.Alloc(backend.Vector(40))
	require.NoError(t, err)
	a.Free()
	b.Free()
	_, err = d.Alloc(backend.Vector(100))
	require.NoError(t, err)
}

// Calls return before the work is done, and what goes wrong then is told once, by
// whoever waits next.
func TestLateErrors(t *testing.T) {
	broke := errors.New("the GPU fell out")
	release := make(chan struct{})
	d := refdevice.New(refdevice.Options{Fault: func(operation string) error {
		if operation == "Fill" {
			<-release
			return broke
		}
		return nil
	}})
	b, err := d.Alloc(backend.Vector(3))
	require.NoError(t, err)
	require.NoError(t, d.Fill(b, 1))
	require.NoError(t, d.Clip(b, b, 0, 1))
	close(release)
	require.ErrorIs(t, d.Sync(), broke)
	require.NoError(t, d.Sync())

	require.NoError(t, d.Fill(b, 1))
	require.ErrorIs(t, d.Download(make([]float32, 3), b), broke)
	require.NoError(t, d.Fill(b, 1))
	require.ErrorIs(t, d.Reduce(make([]float64, 1), backend.Reduction{Kind: backend.SumSquares, X: b}), broke)

	require.NoError(t, d.Fill(b, 1))
	require.ErrorIs(t, d.Close(), broke)
	require.NoError(t, d.Close())
}

func TestUnsupported(t *testing.T) {
	d := refdevice.New(refdevice.Options{Unsupported: []string{"Fill", "NewBlur"}})
	defer func() { require.NoError(t, d.Close()) }()
	b, err := d.Alloc(backend.Vector(3))
	require.NoError(t, err)
	require.ErrorIs(t, d.Fill(b, 1), backend.ErrUnsupported)
	require.NoError(t, d.Clip(b, b, 0, 1))
	_, err = d.NewBlur(backend.BlurSpec{Kernel: []float32{1}, KH: 1, KW: 1, H: 2, W: 2})
	require.ErrorIs(t, err, backend.ErrUnsupported)
}

// Numbers keep float64's precision until they leave the device.
func TestKeepsFloat64(t *testing.T) {
	d := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, d.Close()) }()
	b, err := d.Alloc(backend.Vector(1))
	require.NoError(t, err)
	require.NoError(t, d.Fill(b, 1))
	tiny, err := d.Alloc(backend.Vector(1))
	require.NoError(t, err)
	require.NoError(t, d.Fill(tiny, 0x1p-40))
	require.NoError(t, d.LinearCombination(b, backend.Term{A: 1, X: b}, backend.Term{A: 1, X: tiny}))
	var sum [1]float64
	require.NoError(t, d.Reduce(sum[:], backend.Reduction{Kind: backend.DiffSquares, X: b, Y: tiny}))
	require.Equal(t, 1.0, sum[0])
	require.NoError(t, d.LinearCombination(b, backend.Term{A: 1, X: b}, backend.Term{A: -1, X: tiny}))
	require.NoError(t, d.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: b}))
	require.Equal(t, 1.0, sum[0])
}
