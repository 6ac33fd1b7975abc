package restore_test

import (
	"context"
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/restore"
)

// A panic of the caller's own code comes out of the call, on the goroutine of the call, so that a server that recovers
// from it lives on: nothing stays locked, and no memory of the device stays taken.
func TestPanicsOfTheCallersCode(t *testing.T) {
	const side, limit = 40, 1 << 30
	dev, err := cpu.Open(cpu.Threads(2), cpu.MemoryLimit(limit))
	require.NoError(t, err)
	r, err := restore.New(restore.Device(dev), restore.Method("fast"))
	require.NoError(t, err)
	p := noisy(restore.NewPlanar(3, side, side), 0.1, 3)
	mask := image.NewGray(p.Bounds())
	mask.Pix[side*side/2] = 255
	kernel, err := deblur.Disk(2)
	require.NoError(t, err)
	copied := func(dst, src []float32) error { copy(dst, src); return nil }

	// The n-th call panics.
	var left int
	count := func() {
		if left--; left == 0 {
			panic("of the caller")
		}
	}
	progress := restore.Progress(func(backend.Progress) error { count(); return nil })
	prior := restore.PriorFunc(func(_ context.Context, dst, src *restore.Planar) error {
		count()
		copy(dst.Pix, src.Pix)
		return nil
	})
	host := operator.Host{DomainH: side, DomainW: side, RangeH: side, RangeW: side, Norm: 1, Reason: "a copy", Adjoint: copied,
		Apply: func(dst, src []float32) error { count(); return copied(dst, src) }}
	iterations := restore.Iterations(4)
	calls := map[string]func() error{
		"denoise, progress": func() error { _, _, err := r.Denoise(t.Context(), p, progress); return err },
		"denoise, prior":    func() error { _, _, err := r.Denoise(t.Context(), p, prior); return err },
		"deblur, progress":  func() error { _, _, err := r.Deblur(t.Context(), p, kernel, progress, iterations); return err },
		"deblur, prior":     func() error { _, _, err := r.Deblur(t.Context(), p, kernel, prior, iterations); return err },
		"inpaint, prior":    func() error { _, _, err := r.Inpaint(t.Context(), p, mask, prior, iterations); return err },
		"upscale, progress": func() error { _, _, err := r.Upscale(t.Context(), p, 2, progress, iterations); return err },
		"solve, operator":   func() error { _, _, err := r.Solve(t.Context(), host.On, p, iterations); return err },
		"solve, prior":      func() error { _, _, err := r.Solve(t.Context(), host.On, p, prior, iterations); return err },
		"check, progress":   func() error { _, err := r.Check(t.Context(), p, kernel, progress, iterations); return err },
	}
	used := func() (bytes, of int64) { // of the device, as its error says
		_, err := dev.Alloc(backend.Vector(limit))
		require.ErrorIs(t, err, backend.ErrOutOfMemory)
		text := err.Error()
		_, err = fmt.Sscanf(text[strings.LastIndex(text, ", ")+2:], "%d of %d in use", &bytes, &of)
		require.NoError(t, err, text)
		return bytes, of
	}
	for name, call := range calls {
		left = -1
		require.NoError(t, call(), name)
		before, _ := used()
		panicked := 0
		for n := range 4 {
			left = 1 << n
			func() {
				defer func() {
					if v := recover(); v != nil {
						require.Equal(t, "of the caller", v, name)
						panicked++
					}
				}()
				require.NoError(t, call(), name)
			}()
		}
		require.Positive(t, panicked, name)
		after, _ := used()
		require.Equal(t, before, after, name)
		left = -1
		require.NoError(t, call(), name)
	}
	require.NoError(t, r.Close())
	require.NoError(t, dev.Close())
}
