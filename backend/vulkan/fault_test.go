package vulkan_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/vulkan"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/internal/vulkan/vulkantest"
)

// restored is what a program does with a device: it opens one, and denoises an image with a network.
func restored() (result []float32, err error) {
	d, err := vulkan.Open(0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := d.Close(); err == nil {
			err = closing
		}
	}()
	return devicetest.Denoised(d)
}

// A fault in any call, be it the first or a later one, is an error that says what has failed, or one of
// memory. What is opened after it works, and computes the same bits. Every object is destroyed, but those that a
// device may still use that did not answer.
func TestFaultsInEveryCall(t *testing.T) {
	vulkan.Need(t)
	var want []float32
	var err error
	var d *vulkan.Device
	left := vulkantest.Left(func() { d, err = vulkan.Open(0) })
	require.NoError(t, err)
	for _, kind := range []string{"Device", "Memory", "Buffer", "Pipeline", "Fence"} {
		require.Positive(t, left[kind], kind)
	}
	require.NoError(t, d.Close())
	vulkantest.DestroyInstance()
	calls := vulkantest.Calls(func() { want, err = restored() })
	require.NoError(t, err)
	for _, name := range vulkantest.Functions() {
		n := calls[name]
		require.Positive(t, n, "%s is not called", name)
		for i, fault := range []struct {
			after int64
			code  vulkantest.Code
		}{{0, vulkantest.OutOfMemory}, {n / 2, vulkantest.Lost}, {n / 2, vulkantest.OutOfMemory}, {n - 1, vulkantest.Timeout}} {
			if i == 2 && n == 1 {
				continue // the first again
			}
			var got []float32
			if name == "vkCreateInstance" || name == "vkEnumerateInstanceExtensionProperties" {
				vulkantest.DestroyInstance() // they are called once
			}
			left = vulkantest.Left(func() {
				vulkantest.Failing(name, fault.after, fault.code, func() { got, err = restored() })
			})
			what := fmt.Sprintf("%s after %d calls with %d: %v", name, fault.after, fault.code, err)
			if fault.code != vulkantest.Timeout {
				require.Empty(t, left, what)
			}
			if err == nil {
				// What was left out made no difference, such as the last wait.
				require.Equal(t, want, got, what)
				continue
			}
			var f *vulkan.Fault
			if errors.As(err, &f) {
				require.NotEmpty(t, f.Model, what)
				require.Contains(t, err.Error(), "with driver ", what)
			} else if !errors.Is(err, backend.ErrOutOfMemory) {
				require.ErrorContains(t, err, name, what)
			}
		}
		again, err := restored()
		require.NoError(t, err)
		require.Equal(t, want, again, name)
	}
}

// A device whose results are wrong is not opened; where they turn wrong later, the picture is refused.
func TestWrongResults(t *testing.T) {
	vulkan.Need(t)
	var err error
	calls := vulkantest.Calls(func() { _, err = restored() })
	require.NoError(t, err)
	for _, after := range []int64{0, 7, calls["vkCmdDispatch"] - 3} {
		vulkantest.Failing("vkCmdDispatch", after, 0, func() { _, err = restored() })
		require.ErrorIs(t, err, vulkan.ErrWrong, "after %d dispatches", after)
		var f *vulkan.Fault
		require.ErrorAs(t, err, &f)
	}
}

// A dispatch that computes nothing is found in the first operation of each kind after an upload.
func TestWrongPictures(t *testing.T) {
	vulkan.Need(t)
	d, err := vulkan.Open(0)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }() // so that its kernels need not be compiled again
	s := backend.Image(3, 40, 44)
	wide := s
	wide.C = 12
	numbers := func(d *vulkan.Device, s backend.Shape, seed uint64) backend.Buffer {
		b, err := d.Alloc(s)
		require.NoError(t, err)
		require.NoError(t, d.Gaussian(b, seed, 0.5, 0.2)) // it uploads
		return b
	}
	for name, run := range map[string]func(d *vulkan.Device) (operation func() error, result backend.Buffer){
		"total variation": func(d *vulkan.Device) (func() error, backend.Buffer) {
			u, p, y := numbers(d, s, 1), numbers(d, backend.Image(6, s.H, s.W), 2), numbers(d, s, 3)
			return func() error {
				return d.TVIterate(u, p, y, backend.TVProblem{Alpha: 0.1}, backend.TVStep{Primal: 0.4, Extrapolation: 0.3, Dual: 0.5})
			}, p
		},
		"a layer": func(d *vulkan.Device) (func() error, backend.Buffer) {
			f, err := d.NewFilter(numbers(d, backend.Shape{N: 12, C: 3, H: 3, W: 3}, 1))
			require.NoError(t, err)
			src, dst, bias := numbers(d, s, 2), numbers(d, wide, 3), numbers(d, backend.Vector(12), 4)
			return func() error { return d.Convolve(dst, src, f, backend.ConvEnd{Bias: bias}) }, dst
		},
		"the adjoint of a layer": func(d *vulkan.Device) (func() error, backend.Buffer) {
			f, err := d.NewFilter(numbers(d, backend.Shape{N: 12, C: 3, H: 3, W: 3}, 1))
			require.NoError(t, err)
			src, dst := numbers(d, wide, 2), numbers(d, s, 3)
			return func() error { return d.ConvolveAdjoint(dst, src, f, 1, -0.5) }, dst
		},
	} {
		var want []float32
		var calls int64
		for fails := int64(-1); fails < calls; fails++ {
			d, err := vulkan.Open(0)
			require.NoError(t, err)
			operation, result := run(d)
			require.NoError(t, d.Sync())
			if fails < 0 {
				calls = vulkantest.Calls(func() { err = operation() })["vkCmdDispatch"]
				require.NoError(t, err)
				require.Greater(t, calls, int64(2), "%s is not compared", name)
				want = make([]float32, result.Shape().Len())
				require.NoError(t, d.Download(want, result))
			} else {
				vulkantest.FailingOnce("vkCmdDispatch", fails, func() { err = operation() })
				if err == nil {
					got := make([]float32, len(want))
					require.NoError(t, d.Download(got, result))
					require.Equal(t, want, got, "%s without dispatch %d", name, fails)
				} else {
					require.ErrorIs(t, err, vulkan.ErrWrong, "%s without dispatch %d", name, fails)
				}
			}
			_ = d.Close() // a device that was refused says so again
		}
	}
}
