package estimate

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// The kernel of a photograph leaves less than the turned one, so from either of them the right one goes on.
func TestTurnedBetter(t *testing.T) {
	k, err := deblur.Shake(17, 1)
	require.NoError(t, err)
	pool := parallel.New(2)
	defer pool.Close()
	e := &estimation{ctx: context.Background(), pool: pool, edges: edgesFor(0), tell: func(float64) error { return nil }}
	v := photograph(t, still(), k, 0)
	parts := []part{{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}}
	s := supportOf(k, 10).scaled(.5, radius(10, halfSize))
	for _, from := range []support{s, s.turned()} {
		found, err := e.turnedBetter(parts, from)
		require.NoError(t, err)
		require.Greater(t, likeness(found, s, 2), likeness(found, s.turned(), 2)+0.1)
		left, err := e.left(parts, found, halfSize)
		require.NoError(t, err)
		other, err := e.left(parts, from, halfSize)
		require.NoError(t, err)
		require.LessOrEqual(t, left, other)
	}
	require.Equal(t, s.k, s.turned().turned().k)
}
