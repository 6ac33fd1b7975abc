package vulkan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/vulkan"
	"github.com/averaged/imaging/backend/vulkan/vulkantest"
)

func need(t testing.TB) {
	t.Helper()
	if _, err := vulkan.Devices(); err != nil && os.Getenv("IMAGING_WANT_VULKAN") == "" {
		t.Skipf("no Vulkan here (bash .ci/vulkan installs one in software): %v", err)
	} else {
		require.NoError(t, err)
	}
}

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
	need(t)
	want, err := restored()
	require.NoError(t, err)
	for _, name := range vulkantest.Functions() {
		t.Run(name, func(t *testing.T) {
			count, end := vulkantest.Fail(name, 1<<40, 0)
			_, err := restored()
			end()
			require.NoError(t, err)
			require.Positive(t, count.Load(), "the function is not called")
			for _, after := range []int64{0, count.Load() / 2, count.Load() - 1} {
				for _, code := range []vulkantest.Code{vulkantest.OutOfMemory, vulkantest.Lost, vulkantest.Timeout} {
					_, end := vulkantest.Fail(name, after, code)
					got, err := restored()
					end()
					what := fmt.Sprintf("%s after %d calls with %d: %v", name, after, code, err)
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
			}
			again, err := restored()
			require.NoError(t, err)
			require.Equal(t, want, again)
		})
	}
}

// A device whose results are wrong is not opened; where they turn wrong later, the picture is refused.
func TestWrongResults(t *testing.T) {
	need(t)
	count, end := vulkantest.Fail("vkCmdDispatch", 1<<40, 0)
	_, err := restored()
	end()
	require.NoError(t, err)
	for _, after := range []int64{0, 7, count.Load() - 3} {
		_, end := vulkantest.Fail("vkCmdDispatch", after, 0)
		_, err := restored()
		end()
		require.ErrorIs(t, err, vulkan.ErrWrong, "after %d dispatches", after)
		var f *vulkan.Fault
		require.ErrorAs(t, err, &f)
	}
}
