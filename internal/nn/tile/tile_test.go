package tile

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/stretchr/testify/require"
)

func TestAutomaticTile(t *testing.T) {
	photograph, large := backend.Image(3, 321, 481), backend.Image(3, 4000, 6000)
	for _, c := range []struct {
		name                       string
		convolutions, floats, grid int
		limit                      int // MB
	}{
		{"dncnn", 20, 134, 1, 300}, {"dncnn", 20, 134, 6, 300},
		{"heun by layers", 40, 256, 1, 300}, {"heun by layers", 40, 256, 6, 600},
		{"rk4 by layers", 80, 256, 1, 300}, {"rk4 by layers", 80, 256, 6, 2200},
	} {
		r := Reach{}
		for range c.convolutions {
			r = append(r, 1)
		}
		require.GreaterOrEqual(t, r.Side(c.floats, photograph, c.grid), 481, "a photograph is one tile")
		side := r.Side(c.floats, large, c.grid)
		require.Zero(t, side%c.grid)
		at := ceil(1000, side)
		window := r.Window(backend.Region{Y0: at, Y1: at + side, X0: at, X1: at + side}, c.grid, large)
		h, w := window.Size()
		require.LessOrEqual(t, int64(h*w)*int64(c.floats)*4, int64(c.limit)<<20, "%s, grid %d: side %d, window %d", c.name, c.grid, side, h)
		require.LessOrEqual(t, h*w, 10*side*side, "%s, grid %d: what is computed again", c.name, c.grid)
	}
}

// What no host can hold is an error, not the end of the process.
func TestHugeWindowsAreRefused(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	s := backend.Image(1, 60, 60)
	src, err := dev.Alloc(s)
	require.NoError(t, err)
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	err = Window(dev, dst, src, s.Whole(), nil, 1, 2<<20, nil)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	require.ErrorContains(t, err, "30 GB")
}
