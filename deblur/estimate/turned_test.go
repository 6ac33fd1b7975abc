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

// A kernel that is cut off is explained worse than the whole one, and better than a wide one in noise, where each leaves the noise.
func TestExplainedBetter(t *testing.T) {
	k, err := deblur.Motion(31, 20)
	require.NoError(t, err)
	const sigma = 0.03
	v := photograph(t, still(), k, sigma)
	pool := parallel.New(0)
	defer pool.Close()
	e := &estimation{ctx: t.Context(), pool: pool, edges: edgesFor(sigma)}
	parts := []part{{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}}
	whole := supportOf(k, 16).scaled(.5, 12)
	cut := newSupport(4)
	for i := range cut.k {
		cut.k[i] = whole.k[(i/9-4+12)*25+i%9-4+12]
	}
	cut.normalise()
	better, err := e.explainedBetter(parts, whole, cut, halfSize, 0)
	require.NoError(t, err)
	require.True(t, better)
	better, err = e.explainedBetter(parts, drawn(Shape{Kind: Gaussian, Std: 9}, 25, 0, 0), cut, halfSize, 0)
	require.NoError(t, err)
	require.False(t, better)

	// What a cut kernel lacks is worth its weights. What softening costs would not be worth a thousand.
	better, err = e.explainedBetter(parts, whole, cut, halfSize, whole.count()-cut.count())
	require.NoError(t, err)
	require.True(t, better)
	for additional, want := range map[int]bool{0: true, 1000: false} {
		better, err = e.explainedBetter(parts, whole, whole.softened(0.1), halfSize, additional)
		require.NoError(t, err)
		require.Equal(t, want, better, additional)
	}
}
