package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// Moments that are weighted are the quadratic form of the weighted frequencies.
func TestWeightedMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const h, w, r = 13, 17, 2
		pool := parallel.New(1)
		defer pool.Close()
		l, v, s, other := drawnLevel(t, pool, h, w, r)
		m := newMoments(r)
		m.texture = texture{rapid.Float64Range(1e-4, 1e-2).Draw(t, "variance"), rapid.Float64Range(0, 1e-3).Draw(t, "noise")}
		require.NoError(t, m.measure(l, s))

		_, power, err := l.blurring(s)
		require.NoError(t, err)
		// form is Σ W|F(y − x∗k)|² over all frequencies, where what is not known is as s gives it.
		form := func(k support) float64 {
			sum := 0.0
			for c, x := range l.x {
				own, of := make([]float32, len(x)), make([]float32, len(x))
				for _, b := range []struct {
					s   support
					dst []float32
				}{{s, own}, {k, of}} {
					f, _, err := l.blurring(b.s)
					require.NoError(t, err)
					require.NoError(t, l.apply(f, b.dst, x, false))
				}
				for y := range h - c {
					for x := range w - 1 + c {
						own[y*l.pw+x] = v.pix[(y+c)*w+x+1-c] - v.pix[y*w+x]
					}
				}
				for i := range own {
					own[i] -= of[i]
				}
				spectrum, err := l.plan.Forward(pool, own)
				require.NoError(t, err)
				n := float64(l.ph * l.pw)
				half := l.pw / 2
				spectrum.Each(func(fy, fx int, z complex64) complex64 {
					a := 2 * m.texture.weight(power[fy*(half+1)+fx], l.rough[0][fy]+l.rough[1][fx]) / n
					if fx == 0 || 2*fx == l.pw {
						a /= 2 // its own conjugate
					}
					sum += a * float64(real(z)*real(z)+imag(z)*imag(z))
					return z
				})
			}
			return sum
		}
		want := form(other) - form(s)
		require.InDelta(t, want, m.excess(other, s), 2e-3*(1+math.Abs(want)+form(s)))
	})
}

// Without noise a frequency weighs by the inverse of its power, and with noise alone all by the
// inverse of theirs.
func TestWeightsOfFrequencies(t *testing.T) {
	quiet := texture{variance: 1e-3}
	require.InEpsilon(t, 4, quiet.weight(0.25-minPower, 1), 1e-9)
	require.InEpsilon(t, quiet.weight(0.3, 1), quiet.weight(0.3, 8), 1e-9)
	noisy := texture{variance: 1e-6, noise: 1}
	require.InEpsilon(t, 2, noisy.weight(0.5, 2)/noisy.weight(0.5, 4), 1e-3)
}

// The kernel step stays where it is told to.
func TestKernelStepWithin(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	s := point(3)
	around := s.around()
	require.Equal(t, 9, len(slices.DeleteFunc(slices.Clone(around), func(in bool) bool { return !in })))
	k, err := deblur.Motion(7, 0)
	require.NoError(t, err)
	y := photograph(t, still().crop(0, 0, 60, 60), k, 0)
	l, err := newLevel(pool, y, make([]bool, len(y.pix)), nil, 3)
	require.NoError(t, err)
	require.NoError(t, l.sharpen(s, tuned.edges))
	m := newMoments(3)
	require.NoError(t, m.measure(l, s))
	free, err := m.fit(pool, start(3), kernelPrior{})
	require.NoError(t, err)
	bound, err := m.fit(pool, start(3), kernelPrior{within: around})
	require.NoError(t, err)
	outside := 0.0
	for i, in := range around {
		if !in {
			require.Zero(t, bound.k[i])
			outside += free.k[i]
		}
	}
	require.Greater(t, outside, 0.01)
}

// The blur of a lens, which the scene shows without the shake too, does not become part of the kernel.
func TestLensIsNoPartOfTheKernel(t *testing.T) {
	leaveWhole(t)
	pool := parallel.New(1)
	defer pool.Close()
	k, err := deblur.Shake(13, 4)
	require.NoError(t, err)
	const r = 9
	want := supportOf(k, r)
	for _, lens := range []float64{0, 0.4} {
		scene := still().crop(0, 0, 160, 160)
		l, err := newLevel(pool, scene, make([]bool, len(scene.pix)), nil, 1)
		require.NoError(t, err)
		copy(l.u, l.v)
		l.soften(lens)
		for y := range scene.h {
			copy(scene.row(y), l.u[y*l.pw:])
		}
		y := photograph(t, scene, k, 0)
		e := &estimation{ctx: t.Context(), pool: pool, sigma: 0.001, tell: func(float64) error { return nil }}
		p := part{y, newPlane(y.h, y.w), newPlane(y.h, y.w)}
		levels, err := e.levels([]part{p}, 0, r)
		require.NoError(t, err)
		found, err := e.finish(levels, want.softened(binomial), finishing.soft)
		require.NoError(t, err)
		require.Greater(t, likeness(found, want, 1), 0.97, "a lens of variance %v", lens)
	}
}

// Softening an image is a convolution with a softened point.
func TestSoften(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		v := newPlane(rapid.IntRange(2, 20).Draw(t, "h"), rapid.IntRange(2, 20).Draw(t, "w"))
		for i := range v.pix {
			v.pix[i] = rapid.Float32Range(0, 1).Draw(t, "sample")
		}
		l, err := newLevel(pool, v, make([]bool, len(v.pix)), nil, 1)
		require.NoError(t, err)
		copy(l.u, l.v)
		variance := rapid.Float64Range(0, binomial).Draw(t, "variance")
		f, _, err := l.blurring(point(1).softened(variance))
		require.NoError(t, err)
		want := make([]float32, len(l.u))
		require.NoError(t, l.apply(f, want, l.u, false))
		l.soften(variance)
		require.InDeltaSlice(t, want, l.u, 1e-5)
	})
}

// The more noise, the more ridge; and it is never more than that of the steps before.
func TestLastRidge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 0.3).Draw(t, "a"), rapid.Float64Range(0, 0.3).Draw(t, "b")
		require.LessOrEqual(t, lastRidgeFor(min(a, b)), lastRidgeFor(max(a, b)))
		require.LessOrEqual(t, lastRidgeFor(b), tuned.kernel.ridge)
		require.Positive(t, lastRidgeFor(a))
	})
}

// The more noise, the fewer edges, and there are steps of the splitting for any noise.
func TestLastEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 10).Draw(t, "a"), rapid.Float64Range(0, 10).Draw(t, "b")
		require.LessOrEqual(t, lastEdgesFor(min(a, b)).lambda, lastEdgesFor(max(a, b)).lambda)
		require.NotEmpty(t, lastEdgesFor(b).couplings())
	})
}

// What momentum makes is a kernel, and it is the same one where nothing moved.
func TestBeyond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		s, from := newSupport(2), newSupport(2)
		for i := range s.k {
			s.k[i], from.k[i] = max(random.Float64()-.3, 0), random.Float64()
		}
		s.k[0] = 1
		s.normalise()
		from.normalise()
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		sum := 0.0
		for i, v := range s.beyond(from, share).k {
			require.GreaterOrEqual(t, v, 0.0)
			if s.k[i] == 0 {
				require.Zero(t, v)
			}
			sum += v
		}
		require.InDelta(t, 1, sum, 1e-12)
		require.InDeltaSlice(t, s.k, s.beyond(s, share).k, 1e-15)
	})
}

// A disk is taken for the kernel of a photograph under one, with its radius refined, and not for that of a shake.
func TestShapeHasToFit(t *testing.T) {
	leaveWhole(t)
	disk, err := deblur.Disk(3)
	require.NoError(t, err)
	shake, err := deblur.Shake(11, 3)
	require.NoError(t, err)
	pool := parallel.New(0)
	defer pool.Close()
	for _, c := range []struct {
		kernel deblur.Kernel
		want   Kind
	}{{disk, Disk}, {shake, Free}} {
		v := photograph(t, still(), c.kernel, 0.005)
		e := &estimation{ctx: t.Context(), pool: pool, sigma: 0.005, edges: edgesFor(0.005), tell: meter(nil, v.h, v.w)}
		of := part{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}
		levels, err := e.levels([]part{of}, 0, 8)
		require.NoError(t, err)
		shape, fits, err := e.fitting(levels, Shape{Kind: Disk, Radius: 2.8}, supportOf(c.kernel, 8))
		require.NoError(t, err)
		require.Equal(t, c.want == Disk, fits)
		if fits {
			require.InDelta(t, 3, shape.Radius, 0.1)
		}
	}
}

// Where the sharp image repeats, a part of the kernel may as well be a period away: the kernel without that island explains the
// photograph as well. An island of the true kernel stays.
func TestIslandsHaveToExplainMore(t *testing.T) {
	leaveWhole(t)
	const period, r, share = 16, 20, 0.3
	pool := parallel.New(1)
	defer pool.Close()
	scene := still().crop(0, 0, 130, 130)
	repeated := newPlane(scene.h, scene.w)
	for y := range repeated.h {
		for x := range repeated.w {
			repeated.row(y)[x] = scene.row(y)[x%period]
		}
	}
	k, err := deblur.Motion(7, 50)
	require.NoError(t, err)
	one := supportOf(k, r)
	two := one.moved(0, period)
	for i, v := range one.k {
		two.k[i] = share*two.k[i] + (1-share)*v
	}
	both, err := two.kernel()
	require.NoError(t, err)
	for _, c := range []struct {
		v     plane
		k     deblur.Kernel
		sigma float64
		stays bool
	}{{repeated, k, 0.002, false}, {scene, both, 0.002, true}, {scene, both, 0.03, true}} {
		e := &estimation{ctx: context.Background(), pool: pool, sigma: c.sigma, edges: edgesFor(c.sigma), tell: func(float64) error { return nil }}
		y := photograph(t, c.v, c.k, c.sigma)
		levels, err := e.levels([]part{{y, newPlane(y.h, y.w), newPlane(y.h, y.w)}}, 0, r)
		require.NoError(t, err)
		found, err := e.finish(levels, two, 0)
		require.NoError(t, err)
		_, islands := found.islands()
		t.Logf("%d islands of %.3f, extent %d of %d", len(islands), islands, found.extent(), two.extent())
		if c.stays {
			require.Greater(t, found.extent(), period)
			require.InDelta(t, share, 1-slices.Max(islands), 0.5*share)
		} else {
			require.LessOrEqual(t, found.extent(), one.extent()+4)
		}
	}
}

func TestExtent(t *testing.T) {
	require.Equal(t, 1, point(3).extent())
	rapid.Check(t, func(t *rapid.T) {
		s := newSupport(4)
		h, w := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "columns")
		y, x := rapid.IntRange(0, 9-h).Draw(t, "row"), rapid.IntRange(0, 9-w).Draw(t, "column")
		s.k[y*9+x], s.k[(y+h-1)*9+x+w-1] = 1, 1
		require.Equal(t, max(h, w), s.extent())
	})
}

// A shape becomes as narrow as the photograph asks for, but no narrower than kernels can be made.
func TestShapeThatBecomesNarrow(t *testing.T) {
	leaveWhole(t)
	pool := parallel.New(0)
	defer pool.Close()
	v := still()
	e := &estimation{ctx: t.Context(), pool: pool, sigma: 0.01, edges: edgesFor(0.01), tell: meter(nil, v.h, v.w)}
	levels, err := e.levels([]part{{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}}, 0, 4)
	require.NoError(t, err)
	for _, wide := range []Shape{{Kind: Motion, Length: 4}, {Kind: Disk, Radius: 2}, {Kind: Gaussian, Std: 1}} {
		shape, _, err := e.fitting(levels, wide, point(4))
		require.NoError(t, err)
		require.True(t, shape.narrow(), "%v", shape)
		_, err = shape.Kernel()
		require.NoError(t, err)
	}
}
