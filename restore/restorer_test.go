package restore_test

import (
	"context"
	"image"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/upscale"
	"github.com/averaged/imaging/weights"
)

// A Restorer does what the functions do, to the bit, in any order and from several goroutines.
func TestRestorerIsTheFunctions(t *testing.T) {
	x := picture(3, 24, 20)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	mask := image.NewGray(image.Rect(0, 0, 20, 24))
	for i := range mask.Pix[:100] {
		mask.Pix[i] = 0xff * uint8(i%2)
	}
	defaults := []restore.Option{restore.Method(weights.Small), restore.Sigma(0.05)}
	few := restore.Iterations(3)
	r, err := restore.New(append(defaults, few)...)
	require.NoError(t, err)
	var calls sync.WaitGroup
	same := func(function, method func(o ...restore.Option) (image.Image, *restore.Report, error)) {
		want, _, err := function(append(defaults, few)...)
		require.NoError(t, err)
		for range 2 {
			calls.Go(func() {
				got, _, err := method()
				if !assert.NoError(t, err) {
					return
				}
				assert.Equal(t, pixels(want), pixels(got))
			})
		}
	}
	same(func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return restore.Denoise(t.Context(), x, o...)
	},
		func(o ...restore.Option) (image.Image, *restore.Report, error) {
			return r.Denoise(t.Context(), x, o...)
		})
	same(func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return restore.Deblur(t.Context(), x, k, o...)
	}, func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return r.Deblur(t.Context(), x, k, o...)
	})
	same(func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return restore.Inpaint(t.Context(), x, mask, o...)
	}, func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return r.Inpaint(t.Context(), x, mask, o...)
	})
	same(func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return restore.Upscale(t.Context(), x, 2, o...)
	}, func(o ...restore.Option) (image.Image, *restore.Report, error) {
		return r.Upscale(t.Context(), x, 2, o...)
	})
	calls.Wait()

	// What a call says takes the place of what New was told.
	out, report, err := r.Denoise(t.Context(), x, restore.Method("tv"), restore.Sigma(0.1))
	require.NoError(t, err)
	require.Equal(t, "tv", report.Method)
	want, _, err := restore.Denoise(t.Context(), x, restore.Method("tv"), restore.Sigma(0.1), few)
	require.NoError(t, err)
	require.Equal(t, pixels(want), pixels(out))
	_, report, err = r.Denoise(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, weights.Small, report.Method)

	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, _, err = r.Denoise(t.Context(), x)
	require.ErrorIs(t, err, restore.ErrClosed)
	var zero restore.Restorer
	_, _, err = zero.Denoise(t.Context(), x)
	require.ErrorIs(t, err, restore.ErrClosed)
	require.NoError(t, zero.Close())
}

// filtering counts the filters that a device makes, which a network has some of.
type filtering struct {
	backend.Device
	made atomic.Int64
}

func (d *filtering) NewFilter(w backend.Buffer) (backend.Filter, error) {
	d.made.Add(1)
	return d.Device.NewFilter(w)
}

// A network is loaded in the first call that needs it, and no other.
func TestRestorerKeepsNetworks(t *testing.T) {
	dev := &filtering{Device: newCPU(t)}
	y := picture(3, 16, 16)
	for name, options := range map[string][]restore.Option{
		"embedded": {restore.Method(weights.Euler)}, "file": {restore.Weights(open(t, weights.Euler))},
	} {
		r, err := restore.New(append(options, restore.Device(dev), restore.Sigma(0.15))...)
		require.NoError(t, err)
		before := dev.made.Load()
		// A call that is ended before its network is there leaves the next one to load it.
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = r.Denoise(over, y)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, before, dev.made.Load())
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				_, _, err := r.Denoise(t.Context(), y)
				assert.NoError(t, err)
			})
		}
		calls.Wait()
		once := dev.made.Load() - before
		require.Positive(t, once, name)
		before = dev.made.Load()
		_, _, err = r.Denoise(t.Context(), y)
		require.NoError(t, err)
		require.Equal(t, before, dev.made.Load(), name)
		// That of a single call is not kept.
		for range 2 {
			_, _, err = r.Denoise(t.Context(), y, restore.Weights(open(t, weights.Euler)))
			require.NoError(t, err)
		}
		require.Equal(t, before+2*once, dev.made.Load(), name)
		require.NoError(t, r.Close())
	}
	_, _, err := restore.Denoise(t.Context(), y, restore.Device(dev), restore.Method("tv"), restore.Sigma(0.1))
	require.NoError(t, err, "the device stays the caller's")
}

// An option is refused by the tasks that it does not belong to, with an error that says which
// ones it does, and taken by New for those.
func TestOptionsBelongToTasks(t *testing.T) {
	x := picture(1, 8, 8)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	mask := image.NewGray(image.Rect(0, 0, 8, 8))
	mask.Pix[9] = 0xff
	r, err := restore.New(restore.Method("tv"), restore.Iterations(2), restore.Kernel(k), restore.StepSize(0.5))
	require.NoError(t, err)
	defer r.Close()
	tasks := map[string]func(o ...restore.Option) error{
		"Denoise": func(o ...restore.Option) error { _, _, err := r.Denoise(t.Context(), x, o...); return err },
		"Deblur":  func(o ...restore.Option) error { _, _, err := r.Deblur(t.Context(), x, k, o...); return err },
		"Inpaint": func(o ...restore.Option) error { _, _, err := r.Inpaint(t.Context(), x, mask, o...); return err },
		"Upscale": func(o ...restore.Option) error { _, _, err := r.Upscale(t.Context(), x, 2, o...); return err },
		"Check":   func(o ...restore.Option) error { _, err := r.Check(t.Context(), x, k, o...); return err },
	}
	for name, call := range tasks {
		require.NoError(t, call(), name)
	}
	all := []string{"Denoise", "Deblur", "Inpaint", "Upscale", "Check"}
	for _, c := range []struct {
		option restore.Option
		name   string
		of     []string
	}{
		{restore.Sigma(0.1), "Sigma", all},
		{restore.SigmaAuto(), "SigmaAuto", all},
		{restore.Tile(8), "Tile", all},
		{restore.Adaptation(false), "Adaptation", all[:2]},
		{restore.StepSize(0.5), "StepSize", all[1:]},
		{restore.Contraction(0.5), "Contraction", all[1:4]},
		{restore.Boundary(deblur.Zero), "Boundary", all[1:]},
		{restore.Kernel(k), "Kernel", []string{"Inpaint", "Upscale"}},
		{restore.Antialias(upscale.Area), "Antialias", []string{"Upscale"}},
		{restore.Threads(1), "Threads", nil},
		{restore.MemoryLimit(1 << 30), "MemoryLimit", nil},
		{restore.Device(newCPU(t)), "Device", nil},
	} {
		for name, call := range tasks {
			err := call(c.option)
			belongs := false
			for _, of := range c.of {
				belongs = belongs || of == name
			}
			if belongs {
				require.NoError(t, err, "%s of %s", c.name, name)
				continue
			}
			var wrong *restore.OptionError
			require.ErrorAs(t, err, &wrong, "%s of %s", c.name, name)
			require.Equal(t, c.name, wrong.Option)
			require.Equal(t, name, wrong.Task)
			require.ErrorContains(t, err, "restore: "+c.name+" is no option of "+name+", but of ")
		}
	}
	// The functions take the options of New and of their own task, and no others.
	_, _, err = restore.Denoise(t.Context(), x, restore.Threads(1), restore.Kernel(k))
	require.EqualError(t, err, "restore: Kernel is no option of Denoise, but of Inpaint, Upscale")
	_, err = restore.New(restore.Boundary(99))
	require.EqualError(t, err, "restore: Boundary Boundary(99): want deblur.Unknown, Circular, Zero or Reflect")
}
