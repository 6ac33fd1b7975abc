package estimate

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// Two halves of a photograph without noise agree on its kernel, and less on one that is not its own; halves under
// kernels of their own do not agree.
func TestHalves(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(13, 2)
	require.NoError(t, err)
	other, err := deblur.Shake(13, 4)
	require.NoError(t, err)
	pool := parallel.New(2)
	defer pool.Close()
	e := &estimation{ctx: context.Background(), pool: pool, edges: edgesFor(0), tell: func(float64) error { return nil }}
	agree := func(v plane, k deblur.Kernel) float64 {
		like, err := e.halves([]part{{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}}, supportOf(k, 8))
		require.NoError(t, err)
		return like
	}
	right, wrong := photograph(t, still(), k, 0), photograph(t, still(), other, 0)
	own := agree(right, k)
	require.Greater(t, own, 0.9)
	require.Greater(t, own, agree(right, other))
	h, w := min(right.h, wrong.h), min(right.w, wrong.w)
	both := right.crop(0, 0, h, w)
	for y := range h {
		copy(both.row(y)[w/2:], wrong.row(y)[w/2:w])
	}
	require.Less(t, agree(both, k), 0.8)
	require.Zero(t, agree(right.crop(0, 0, 30, 60), k), "too small")
}

// Without noise parts and halves have to agree, with noise they need not.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		sigma, halves, parts float64
		want                 bool
	}{{0.01, 0, 0, true}, {0, 1, 1, true}, {0, 0.89, 1, false}, {0, 1, 0.89, false}, {0, 0.9, 0.9, true}} {
		e := Estimate{Sigma: c.sigma, Halves: c.halves, Likeness: []float64{c.parts, c.parts}}
		require.Equal(t, c.want, e.Settled(), "%+v", c)
	}
}
