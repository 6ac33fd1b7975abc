package vulkan_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/vulkan"
	"github.com/averaged/imaging/backend/vulkan/vulkantest"
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
	s := backend.Image(3, 24, 30)
	var owned []backend.Buffer
	alloc := func(s backend.Shape) backend.Buffer {
		b, failed := d.Alloc(s)
		if err == nil {
			err = failed
		}
		owned = append(owned, b)
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

// A fault in any call, be it the first or a later one, is an error that says what has failed, or one of
// memory. What is opened after it works, and computes the same bits.
func TestFaultsInEveryCall(t *testing.T) {
	vulkan.Need(t)
	var want []float32
	var err error
	calls := vulkantest.Calls(func() { want, err = restored() })
	require.NoError(t, err)
	for _, name := range vulkantest.Functions() {
		n := calls[name]
		require.Positive(t, n, "%s is not called", name)
		for _, fault := range []struct {
			after int64
			code  vulkantest.Code
		}{{0, vulkantest.OutOfMemory}, {n / 2, vulkantest.Lost}, {n / 2, vulkantest.OutOfMemory}, {n - 1, vulkantest.Timeout}} {
			var got []float32
			vulkantest.Failing(name, fault.after, fault.code, func() { got, err = restored() })
			what := fmt.Sprintf("%s after %d calls with %d: %v", name, fault.after, fault.code, err)
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
