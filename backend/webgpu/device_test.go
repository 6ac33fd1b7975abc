//go:build js && wasm

package webgpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicetest"
)

// restored is what a program does with a device: it opens one, and denoises an image with a network.
func restored(after func(d *Device), options ...Option) (result []float32, err error) {
	d, err := Open(append(options, Software())...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // what it says was said before
	if after != nil {
		after(d)
	}
	return devicetest.Denoised(d)
}

// A picture that has no room is an error of memory, after which the device goes on.
func TestMemoryLimit(t *testing.T) {
	keep(t)
	_, err := restored(nil, MemoryLimit(16<<10))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	_, err = restored(nil)
	require.NoError(t, err)
	_, err = Open(MemoryLimit(-1), Software())
	require.ErrorIs(t, err, backend.ErrArgument)
}

// Forty pictures take no more memory than two.
func TestMemoryDoesNotGrow(t *testing.T) {
	var pools []*pool
	picture := func() {
		_, err := restored(func(d *Device) { pools = append(pools, d.gpu.pool) })
		require.NoError(t, err)
	}
	d := keep(t)
	kernels := -1
	for i := range 40 {
		picture()
		require.Empty(t, pools[i].all, "a closed device has given all back")
		if i == 1 {
			kernels = len(d.gpu.kernels)
		}
	}
	require.Len(t, d.gpu.kernels, kernels)
}

// Without being asked for, software is refused.
func TestSoftwareIsRefused(t *testing.T) {
	_, err := Open()
	require.ErrorIs(t, err, ErrNoAdapter)
	d := keep(t)
	require.True(t, d.Adapter().Software)
	require.NotEmpty(t, d.Adapter().Name())
	require.Equal(t, d.Adapter().Name(), d.Description().Model)
}

// Operands that share a buffer become one binding, which is written where one of them is.
func TestMerge(t *testing.T) {
	code, err := source("combine")
	require.NoError(t, err)
	merged, err := merge(code, []int{0, 0, 2, 2, 2})
	require.NoError(t, err)
	require.Contains(t, merged, "binding(1) var<storage, read_write> dst: array<f32>")
	require.Contains(t, merged, "binding(3) var<storage, read> x1: array<f32>")
	require.NotContains(t, merged, "binding(2)")
	require.Contains(t, merged, "push.a0 * dst[push.at0 + i]")
	require.Contains(t, merged, "push.a3 * x1[push.at3 + i]")
	code, err = source("convolve3")
	require.NoError(t, err)
	_, err = merge(code, []int{0, 1, 1, 3, 4, 5})
	require.ErrorContains(t, err, "different types")
	_, err = merge(code, []int{0, 1})
	require.ErrorContains(t, err, "2 operands")
}
