package estimate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/parallel"
)

// The energy is the sum over all pairs of weights, with the moments as they are now.
func TestEnergy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.IntRange(1, 7).Draw(t, "reach")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		l, m, s := moving(t, r, random)
		for range 2 {
			n, lags, want := s.side(), 4*r+1, 0.0
			for i, v := range s.k {
				for j, w := range s.k {
					want += v * w * m.a[(i/n-j/n+2*r)*lags+i%n-j%n+2*r]
				}
			}
			require.InDelta(t, want, m.energy(s), 1e-6*m.a[len(m.a)/2])
			require.NoError(t, m.measure(l, s)) // which adds to them
		}
	})
}

// moving is a level with a random sharp image, its moments, and a random kernel.
func moving(t require.TestingT, r int, random *rand.Rand) (*level, moments, support) {
	pool := parallel.New(1)
	side := 4*r + 5
	l, err := newLevel(pool, newPlane(side, side), make([]bool, side*side), nil, r)
	require.NoError(t, err)
	for i := range l.u {
		l.u[i] = random.Float32()
	}
	l.difference(0)
	s := newSupport(r)
	for i := range s.k {
		s.k[i] = random.Float64()
	}
	s.normalise()
	m := newMoments(r)
	require.NoError(t, m.measure(l, s))
	return l, m, s
}

// To compare a shape takes less time than to find a wide kernel. With the sum over all pairs of weights it took
// hundreds of times as long, and minutes for a photograph whose estimate fills its support.
func TestWideShapesAreComparedQuickly(t *testing.T) {
	_, m, s := moving(t, 100, rand.New(rand.NewPCG(1, 2)))
	shape := drawn(Shape{Kind: Gaussian, Std: 50}, s.r, 0, 0)
	pool := parallel.New(1)
	defer pool.Close()
	start := time.Now()
	_, err := m.fit(pool, s, kernelPrior{})
	require.NoError(t, err)
	fit := time.Since(start)
	m.energy(s)
	start = time.Now()
	m.excess(shape, s)
	require.Less(t, time.Since(start), fit)
}
