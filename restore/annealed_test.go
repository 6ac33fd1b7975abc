package restore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// TestAnnealedStepsCount: they are iterations like others, and few of them leave out the first.
func TestAnnealedStepsCount(t *testing.T) {
	y, kernel := noisy(edges(24, 30), 0.03, 2), shake(t)
	for limit, want := range map[int][2]int{1: {1, 1}, 2: {2, 2}, 3: {3, 3}, 6: {6, 6}, 9: {9, 6}} {
		_, report, err := restore.Deblur(t.Context(), y, kernel, restore.Weights(guidedFile(t, 0.02, 0.3)), restore.Sigma(0.03),
			restore.Iterations(limit), restore.Tolerance(1e-9))
		require.NoError(t, err)
		require.Equal(t, want, [2]int{report.Iteration.Count, report.Network.Guide.Looks}, "of %d", limit)
		require.False(t, report.Iteration.Converged)
	}
}

func shake(t testing.TB) deblur.Kernel {
	kernel, err := deblur.Shake(9, 4)
	require.NoError(t, err)
	return kernel
}

// TestAnnealedAgain: where the noise level that was given is wrong by a factor of two, what was made for it is
// not begun with again, and the result is nearly that for the right one.
func TestAnnealedAgain(t *testing.T) {
	leaveGains(t)
	n := restore.Network(loaded(t, newCPU(t), open(t, weights.Fast)))
	kernel := shake(t)
	x := picture(3, 96, 104)
	y := noisy(blurred(t, x, kernel, deblur.Circular), 0.03, 5)
	restored := func(sigma float64) (float64, *restore.Report) {
		out, report, err := restore.Deblur(t.Context(), y, kernel, n, restore.Boundary(deblur.Circular), restore.Sigma(sigma))
		require.NoError(t, err)
		return psnr(t, x, out.(*restore.Planar)), report
	}
	right, _ := restored(0.03)
	for _, sigma := range []float64{0.015, 0.06} {
		told, report := restored(sigma)
		require.Len(t, report.Iteration.Left, 2, "%v", sigma)
		require.InDelta(t, 0.03, report.Noise.Sigma, 0.003)
		require.InDelta(t, right, told, 0.1, "%v", sigma)
	}
}

// TestAnnealedStepsStop: by an error of the progress function and by the end of the context.
func TestAnnealedStepsStop(t *testing.T) {
	y, kernel, f := noisy(edges(24, 30), 0.03, 2), shake(t), guidedFile(t, 0.02, 0.3)
	stop := errors.New("enough")
	for at := 1; at <= 7; at++ {
		seen, last := 0, 0.0
		const memory = 32 << 20
		dev := newCPU(t, cpu.MemoryLimit(memory))
		_, _, err := restore.Deblur(t.Context(), y, kernel, restore.Weights(f), restore.Device(dev), restore.Sigma(0.03), restore.Progress(func(p backend.Progress) error {
			require.GreaterOrEqual(t, p.Fraction, last)
			require.Equal(t, seen+1, p.Iteration)
			last = p.Fraction
			if seen++; seen == at {
				return stop
			}
			return nil
		}))
		require.ErrorIs(t, err, stop)
		require.Equal(t, at, seen)
		all, err := dev.Alloc(backend.Image(1, 1, memory/4-1024))
		require.NoError(t, err, "memory that is not given back")
		all.Free()
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := restore.Deblur(ctx, y, kernel, restore.Weights(f), restore.Sigma(0.03), restore.Progress(func(backend.Progress) error {
		cancel()
		return nil
	}))
	require.ErrorIs(t, err, context.Canceled)
}
