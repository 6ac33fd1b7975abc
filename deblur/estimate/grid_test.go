package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// turning is a photograph whose left third and right third have motions of their own.
func turning(t *testing.T) (plane, [2]deblur.Kernel) {
	t.Helper()
	var of [2]plane
	var kernels [2]deblur.Kernel
	for i := range of {
		k, err := deblur.Motion(9, 20+90*float64(i))
		require.NoError(t, err)
		framed := deblur.Kernel{H: 9, W: 9, CY: 4, CX: 4, Weights: make([]float32, 81)}
		for j, w := range k.Weights {
			framed.Weights[(j/k.W-k.CY+4)*9+j%k.W-k.CX+4] = w
		}
		kernels[i], of[i] = framed, photograph(t, still(), framed, 0.01)
	}
	p := of[0]
	for y := range p.h {
		for x := p.w / 3; x < p.w; x++ {
			turn := float32(min(float64(x-p.w/3)/float64(p.w/3), 1))
			p.row(y)[x] += turn * (of[1].row(y)[x] - p.row(y)[x])
		}
	}
	return p, kernels
}

// Parts of a photograph find the kernels that they have, from the one that all have in common.
func TestGridFindsTheKernels(t *testing.T) {
	leaveWhole(t)
	p, truth := turning(t)
	mean := make([]float32, 81)
	for i := range mean {
		mean[i] = truth[0].Weights[i] + truth[1].Weights[i]
	}
	common, err := deblur.NewKernel(mean, 9, 9)
	require.NoError(t, err)
	g, err := Grid(context.Background(), p.pix, 1, p.h, p.w, common, 2, 4, Options{})
	require.NoError(t, err)
	require.NoError(t, g.Check())
	like := func(a, b deblur.Kernel) float64 {
		return likeness(supportOf(a, 24).softened(binomial), supportOf(b, 24).softened(binomial), 2)
	}
	for i, k := range g.Kernels {
		y, x := k.OffCentre()
		require.LessOrEqual(t, max(math.Abs(y), math.Abs(x)), 0.51)
		side := i % 4 / 3
		if column := i % 4; column == 0 || column == 3 {
			require.Greater(t, like(k, truth[side]), 0.85, "part %d", i)
			require.Greater(t, like(k, truth[side]), like(common, truth[side]), "part %d", i)
		}
	}
}

// A part without an edge has its neighbours' kernel.
func TestGridWithoutEdges(t *testing.T) {
	leaveWhole(t)
	p, truth := turning(t)
	for y := range p.h / 2 {
		for x := range p.w / 3 {
			p.row(y)[x] = 0.5
		}
	}
	g, err := Grid(context.Background(), p.pix, 1, p.h, p.w, truth[0], 2, 4, Options{Sigma: 0.01})
	require.NoError(t, err)
	like := likeness(supportOf(g.Kernels[0], 24).softened(binomial), supportOf(g.Kernels[4], 24).softened(binomial), 2)
	require.Greater(t, like, 0.8)
}

func TestGridThreadsChangeNoBit(t *testing.T) {
	k, err := deblur.Motion(5, 20)
	require.NoError(t, err)
	p := photograph(t, still().crop(60, 60, 80, 90), k, 0.01)
	var all [2]deblur.Grid
	for i, threads := range []int{1, 3} {
		all[i], err = Grid(context.Background(), p.pix, 1, p.h, p.w, k, 1, 2, Options{Threads: threads})
		require.NoError(t, err)
	}
	require.Equal(t, all[0], all[1])
}

func TestWrongGridIsRefused(t *testing.T) {
	ctx := context.Background()
	k, err := deblur.Motion(5, 20)
	require.NoError(t, err)
	p := still()
	for _, size := range [][2]int{{-1, 2}, {0, 2}, {33, 1}, {2, 33}} {
		_, err := Grid(ctx, p.pix, 1, p.h, p.w, k, size[0], size[1], Options{})
		require.ErrorContains(t, err, "want 1 to 32")
	}
	_, err = Grid(ctx, make([]float32, 400), 1, 20, 20, k, 2, 2, Options{})
	require.ErrorContains(t, err, "too small")
	_, err = Grid(ctx, make([]float32, 400), 1, 20, 21, k, 2, 2, Options{})
	require.Error(t, err)
	_, err = Grid(ctx, p.pix, 1, p.h, p.w, deblur.Kernel{}, 2, 2, Options{})
	require.Error(t, err)

	// A photograph without an edge keeps the common kernel.
	flat := make([]float32, 60*80)
	g, err := Grid(ctx, flat, 1, 60, 80, k, 0, 0, Options{})
	require.NoError(t, err)
	require.NoError(t, g.Check())

	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Grid(stopped, p.pix, 1, p.h, p.w, k, 2, 2, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// The kernel step with neighbours minimises the sum of both terms: nothing near what it finds is below it, and with a
// strong pull it finds the neighbours' kernel.
func TestKernelStepWithNeighbours(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		draw := func() support {
			s := newSupport(2)
			for i := range s.k {
				s.k[i] = random.Float64()
			}
			s.normalise()
			return s
		}
		v := newPlane(24, 20)
		for i := range v.pix {
			v.pix[i] = random.Float32()
		}
		l, err := newLevel(pool, v, make([]bool, len(v.pix)), nil, 2)
		require.NoError(t, err)
		for c := range l.x {
			for i := range l.x[c] {
				l.x[c][i] = random.Float32() - .5
			}
		}
		m := newMoments(2)
		s, towards := draw(), draw()
		require.NoError(t, m.measure(l, s))
		found, err := m.fit(pool, s, kernelPrior{ridge: 0.1, towards: towards.k, pull: 1e5})
		require.NoError(t, err)
		for i, want := range towards.k {
			require.InDelta(t, want, found.k[i], 1e-3)
		}
		free, err := m.fit(pool, s, kernelPrior{ridge: 0.1})
		require.NoError(t, err)
		some, err := m.fit(pool, s, kernelPrior{ridge: 0.1, towards: towards.k, pull: 1})
		require.NoError(t, err)
		off := func(s support) float64 {
			sum := 0.0
			for i, v := range s.k {
				sum += (v - towards.k[i]) * (v - towards.k[i])
			}
			return sum
		}
		require.LessOrEqual(t, off(some), off(free)+1e-9)
	})
}

// The parts of a grid cover the photograph, and reach to the middles of those beside them.
func TestCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.IntRange(1, 8).Draw(t, "all")
		n := rapid.IntRange(8*all, 500).Draw(t, "n")
		covered := 0
		for i := range all {
			from, to := cut(i, all, n, 2*n)
			require.True(t, 0 <= from && from < to && to <= n)
			require.LessOrEqual(t, from, covered)
			covered = max(covered, to)
		}
		require.Equal(t, n, covered)
	})
	from, to := cut(1, 3, 6000, 320)
	require.Equal(t, [2]int{2840, 3160}, [2]int{from, to})
	k, err := deblur.Disk(12)
	require.NoError(t, err)
	for size, want := range map[[2]int][2]int{{3000, 4000}: {5, 6}, {240, 320}: {3, 4}, {60, 60}: {2, 2}} {
		rows, columns := GridSize(size[0], size[1], k)
		require.Equal(t, want, [2]int{rows, columns})
	}
}
