//go:build cuda

package cuda

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/stretchr/testify/require"
)

// The tests with the tag cuda need a GPU, or the fake driver of internal/hostcuda, and fail
// without.
func open(t testing.TB, options ...Option) *Device {
	d, err := Open(0, options...)
	require.NoError(t, err, "these tests need a GPU or the fake driver: see internal/hostcuda")
	return d
}

// keepContext keeps a device open until the test ends: to make a context takes 0.15 seconds on a GPU, and each of
// hundreds of operations opens a device of its own.
func keepContext(t *testing.T) {
	d := open(t)
	t.Cleanup(func() { shut(t, d) })
}

// The default is as accurate as float32 and passes the whole suite. The fake driver runs it
// for GPUs with tensor cores, and for GPUs without (FAKE_CUDA_CAPABILITY=70).
func TestCompliance(t *testing.T) {
	keepContext(t)
	backendtest.Run(t, func(t testing.TB) backend.Device { return open(t) }, operations()...)
}

// Where a grid has fewer blocks than there are images or planes, blocks take several, or there
// are several grids. That changes no bit, but in sums over planes. A GPU's limit is 65535, for which a
// test would take too long.
func TestBeyondTheGrid(t *testing.T) {
	keepContext(t)
	small := func(t testing.TB) backend.Device {
		d := open(t)
		d.gpu.planesInGrid = 2
		return d
	}
	backendtest.SameBits(t, func(t testing.TB) backend.Device { return open(t) }, small, "TVEvaluate")
	backendtest.RunOnly(t, small, "TVEvaluate")
}

// operations are all but what this device leaves out.
func operations() []string {
	var names []string
	for _, name := range backendtest.Operations() {
		if name != "Wrap" { // of host memory, which the GPU has no business in
			names = append(names, name)
		}
	}
	return names
}

// The fake driver takes small pictures, which it needs no hours for.
func BenchmarkOperations(b *testing.B) {
	p := backendtest.Photograph{Height: 321, Width: 481}
	d := open(b)
	if isFake(d) {
		p = backendtest.Photograph{Height: 30, Width: 34}
	}
	shut(b, d)
	backendtest.Benchmark(b, p, func(t testing.TB) backend.Device { return open(t) })
}
