//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/mempool"
	"github.com/stretchr/testify/require"
)

func shut(t testing.TB, d *Device) { require.NoError(t, d.Close()) }

// isFake says whether the driver is that of internal/hostcuda.
func isFake(d *Device) bool { return strings.HasPrefix(d.gpu.properties.Name, "Fake") }

// flowSteps are two steps of Heun's method with 3×3 filters.
func flowSteps(t testing.TB, d backend.Device) []backend.FlowStep {
	var steps []backend.FlowStep
	for k := range 2 {
		w, err := d.Alloc(backend.Shape{N: 16, C: 8, H: 3, W: 3})
		require.NoError(t, err)
		defer w.Free()
		require.NoError(t, d.Gaussian(w, uint64(k), 0, 0.1))
		f, err := d.NewFilter(w)
		require.NoError(t, err)
		steps = append(steps, backend.FlowStep{
			Filter: f, Size: 0.4, Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1},
			Tableau: backend.Tableau{A: [][]float64{{0, 0}, {1, 0}}, B: []float64{0.5, 0.5}},
		})
	}
	return steps
}

// GPUs for which there are no kernels are refused before anything is put on them.
func TestOldGPUsAreRefused(t *testing.T) {
	for capability, refused := range map[[2]int]bool{{3, 5}: true, {6, 1}: true, {6, 9}: true, {7, 0}: false, {7, 5}: false, {12, 0}: false} {
		d := &gpu{properties: driver.Properties{Name: "GeForce", Major: capability[0], Minor: capability[1]}}
		if refused {
			require.ErrorIs(t, d.supported(), backend.ErrUnsupported)
			require.ErrorContains(t, d.supported(), fmt.Sprintf("compute capability 7.0 or newer is needed, GeForce has %d.%d", capability[0], capability[1]))
		} else {
			require.NoError(t, d.supported())
		}
	}
}

// Where the driver does not translate PTX, Open says why, and not the first operation.
func TestDriversThatDoNotTranslate(t *testing.T) {
	d := open(t)
	fake := isFake(d)
	shut(t, d)
	for state, why := range map[string]string{"missing": "libnvidia-ptxjitcompiler.so.1", "disabled": "CUDA_DISABLE_PTX_JIT must not be set"} {
		t.Setenv("FAKE_CUDA_JIT", state) // which means nothing to a real driver
		d, err := Open(0)
		if !fake {
			require.NoError(t, err)
			shut(t, d)
			continue
		}
		require.ErrorContains(t, err, "cuda:0: kernels regions: cuModuleLoadDataEx: the kernels are PTX")
		require.ErrorContains(t, err, why)
	}
}

// A network is recorded when it comes again, and then repeated: the same bits each time, of
// whatever pixels and weights are in the arrays then.
func TestGraphs(t *testing.T) {
	d := open(t)
	defer shut(t, d)
	s := backend.Image(3, 11, 13)
	steps := flowSteps(t, d)
	src, dst, fresh := alloc(t, d, s), alloc(t, d, s), alloc(t, d, s)
	flow := func(to backend.Buffer) []float32 {
		require.NoError(t, d.GradientFlow(context.Background(), to, src, s.Whole(), steps))
		out := make([]float32, s.Len())
		require.NoError(t, d.Download(out, to))
		return out
	}
	for seed := range uint64(6) {
		if seed == 3 { // other weights in the same place
			w := alloc(t, d, steps[0].Filter.Shape())
			require.NoError(t, d.Gaussian(w, 99, 0, 0.1))
			require.NoError(t, d.UpdateFilter(steps[0].Filter, w))
			w.Free()
		}
		require.NoError(t, d.Gaussian(src, seed, 0, 1))
		got := flow(dst)
		seen := maps.Clone(d.gpu.graphs.seen)
		clear(d.gpu.graphs.seen)
		require.Equal(t, flow(fresh), got)
		if seed == 0 {
			require.Empty(t, d.gpu.graphs.kept)
			maps.Copy(d.gpu.graphs.seen, seen)
		} else {
			require.Len(t, d.gpu.graphs.kept, 1)
		}
	}
	// What the graphs keep is given up for buffers.
	held := d.gpu.pool.Used()
	require.True(t, d.gpu.graphs.reclaim())
	require.Less(t, d.gpu.pool.Used(), held)
	require.Empty(t, d.gpu.graphs.kept)
}

// While a stream is recorded no memory goes back to the driver, which would wait for work. Where a
// graph finds no room for that reason, there is none, and the same result.
func TestRecordingGivesNothingBack(t *testing.T) {
	d := open(t, MemoryLimit(64<<20))
	defer shut(t, d)
	pool, wrong := d.gpu.pool, 0
	free := pool.Free
	pool.Free = func(p driver.Pointer) error {
		if pool.Fixed {
			wrong++
		}
		return free(p)
	}
	s := backend.Image(1, 160, 160)
	src, dst, weights := alloc(t, d, s), alloc(t, d, s), alloc(t, d, backend.Shape{N: 64, C: 1, H: 1, W: 1})
	require.NoError(t, d.Gaussian(src, 1, 0, 1))
	require.NoError(t, d.Gaussian(weights, 2, 0, 0.1))
	f, err := d.NewFilter(weights)
	require.NoError(t, err)
	flow := func() []float32 {
		require.NoError(t, d.GradientFlow(context.Background(), dst, src, s.Whole(), []backend.FlowStep{{Filter: f, Size: 0.5}}))
		out := make([]float32, s.Len())
		require.NoError(t, d.Download(out, dst))
		return out
	}
	want := flow() // with a hidden layer of 6.25 MiB
	taken := []backend.Buffer{alloc(t, d, backend.Image(64, 160, 160))}
	for d.gpu.pool.Held()+5<<20 < d.gpu.pool.Limit { // a cache full of pieces that are too small
		taken = append(taken, alloc(t, d, backend.Image(5, 512, 512)))
	}
	for _, b := range taken[1:] {
		b.Free()
	}
	held := d.gpu.pool.Held()
	require.Equal(t, want, flow())
	require.Zero(t, wrong)
	require.Empty(t, d.gpu.graphs.kept)
	require.Less(t, d.gpu.pool.Held(), held, "what came instead of the graph made room")
	for range 2 {
		require.Equal(t, want, flow())
	}
	require.Len(t, d.gpu.graphs.kept, 1, "now there is room")
}

// Whatever is freed comes back to the allocator: after all kinds of operations nothing is in
// use but what graphs keep.
func TestNothingLeaks(t *testing.T) {
	d := open(t)
	defer shut(t, d)
	for range 3 {
		s := backend.Image(4, 9, 10)
		a, b, p := alloc(t, d, s), alloc(t, d, s), alloc(t, d, backend.Image(8, 9, 10))
		require.NoError(t, d.Gaussian(a, 1, 0, 1))
		require.NoError(t, d.MixChannels(b, a, make([]float32, 16)))
		require.NoError(t, d.Reduce(make([]float64, 1), backend.Reduction{Kind: backend.SumSquares, X: a}))
		require.NoError(t, d.TVIterate(a, p, b, backend.TVProblem{Alpha: 1}, backend.TVStep{Primal: 0.5, Dual: 0.5}))
		_, err := d.TVEvaluate(a, p, b, backend.TVProblem{Alpha: 1})
		require.NoError(t, err)
		for _, m := range []backend.BlurMethod{backend.DirectBlur, backend.FourierBlur} {
			k, err := d.NewBlur(backend.BlurSpec{Kernel: []float32{1, 2, 3}, KH: 1, KW: 3, H: 9, W: 10, Boundary: backend.Reflect, Method: m})
			require.NoError(t, err)
			require.NoError(t, d.ApplyBlur(b, a, k))
			require.NoError(t, d.ApplyBlurAdjoint(b, a, k))
			k.Free()
		}
		w, db := alloc(t, d, backend.Shape{N: 4, C: 4, H: 3, W: 3}), alloc(t, d, backend.Vector(4))
		require.NoError(t, d.FilterGradient(w, a, b, 0, 1))
		require.NoError(t, d.BiasGradient(db, a, 0))
		require.NoError(t, d.ProjectBallsGradient(b, db, a, b, alloc(t, d, backend.Vector(4)), 0))
		src, dst := alloc(t, d, backend.Image(3, 9, 10)), alloc(t, d, backend.Image(3, 9, 10))
		steps := flowSteps(t, d)
		for range 3 {
			require.NoError(t, d.GradientFlow(context.Background(), dst, src, src.Shape().Whole(), steps))
		}
		for _, s := range steps {
			s.Filter.Free()
		}
		for _, b := range []backend.Buffer{a, b, p, w, db, src, dst} {
			b.Free()
		}
	}
	d.gpu.graphs.reclaim()
	require.EqualValues(t, 3*mempool.Granule, d.gpu.pool.Used(), "three radii were not freed")
}

// A device that has a limit keeps it, and works on after it said so; half of what did not
// fit does.
func TestMemoryLimit(t *testing.T) {
	d := open(t, MemoryLimit(8<<20))
	defer shut(t, d)
	require.EqualValues(t, 8<<20, d.Description().Memory)
	s := backend.Image(3, 128, 128)
	src, dst := alloc(t, d, s), alloc(t, d, s)
	w := alloc(t, d, backend.Shape{N: 64, C: 64, H: 3, W: 3})
	f, err := d.NewFilter(w)
	require.NoError(t, err)
	steps := []backend.FlowStep{{Filter: f, Size: 0.1}, {Filter: f, Size: 0.1}}
	flow := func(r backend.Region) error { return d.GradientFlow(context.Background(), dst, src, r, steps) }
	require.ErrorIs(t, flow(s.Whole()), backend.ErrOutOfMemory)
	require.NoError(t, flow(backend.Region{Y1: 8, X1: 128}))
	require.NoError(t, d.Sync())
	_, err = d.Alloc(backend.Image(1, 65536, 65536))
	require.ErrorIs(t, err, backend.ErrOutOfMemory, "more pixels than an index reaches")
}

// Several goroutines with arrays of their own get what one alone gets, graphs and staging
// included; and so do several devices of one GPU.
func TestGoroutines(t *testing.T) {
	s := backend.Image(3, 11, 13)
	work := func(d backend.Device, seed uint64) []float32 {
		src, err := d.Alloc(s)
		require.NoError(t, err)
		defer src.Free()
		dst, err := d.Alloc(s)
		require.NoError(t, err)
		defer dst.Free()
		steps := flowSteps(t, d)
		require.NoError(t, d.Gaussian(src, seed, 0, 1))
		for range 3 {
			require.NoError(t, d.GradientFlow(context.Background(), dst, src, s.Whole(), steps))
			require.NoError(t, d.LinearCombination(src, backend.Term{A: 1, X: dst}))
		}
		for _, f := range steps {
			f.Filter.Free()
		}
		out := make([]float32, s.Len())
		require.NoError(t, d.Download(out, dst))
		return out
	}
	a, b := open(t), open(t)
	defer shut(t, a)
	defer shut(t, b)
	host := cputest.Open(t)
	defer func() { require.NoError(t, host.Close()) }()
	var wg sync.WaitGroup
	results := make([][]float32, 8)
	for k := range results {
		d := a
		if k%2 == 1 {
			d = b
		}
		wg.Go(func() { results[k] = work(d, uint64(k/2)) })
	}
	wg.Wait()
	for k := 0; k < len(results); k += 2 {
		require.Equal(t, results[k], results[k+1], "two devices, one seed")
		require.Greater(t, psnr(results[k], work(host, uint64(k/2))), 100.0)
	}
}

// Larger than a staging buffer, there and back.
func TestStaging(t *testing.T) {
	d := open(t)
	defer shut(t, d)
	s := backend.Image(3, 1000, 1111)
	b := alloc(t, d, s)
	v := make([]float32, s.Len())
	for i := range v {
		v[i] = float32(i)
	}
	require.NoError(t, d.Upload(b, v))
	got := make([]float32, len(v))
	require.NoError(t, d.Download(got, b))
	require.Equal(t, v, got)
}

// plainFloat32 makes the convolutions of Float32 by float32 products and sums, as on a GPU without tensor cores.
func plainFloat32(s *settings) { s.plain = true }

// TF32 and half precision are as coarse as they are said to be, and no coarser: the error
// relative to the norm of a convolution of random numbers and of its filter's gradient.
func TestPrecisions(t *testing.T) {
	s := backend.Image(64, 9, 17)
	convolved := func(d backend.Device) (result, gradient []float32) {
		w, err := d.Alloc(backend.Shape{N: 64, C: 64, H: 3, W: 3})
		require.NoError(t, err)
		require.NoError(t, d.Gaussian(w, 1, 0, 0.05))
		f, err := d.NewFilter(w)
		require.NoError(t, err)
		src, err := d.Alloc(s)
		require.NoError(t, err)
		require.NoError(t, d.Gaussian(src, 2, 0, 1))
		dst, err := d.Alloc(s)
		require.NoError(t, err)
		require.NoError(t, d.Convolve(dst, src, f, backend.ConvEnd{}))
		result = make([]float32, s.Len())
		require.NoError(t, d.Download(result, dst))
		require.NoError(t, d.FilterGradient(w, src, dst, 0, 1))
		gradient = make([]float32, w.Shape().Len())
		require.NoError(t, d.Download(gradient, w))
		return result, gradient
	}
	relative := func(got, want []float32) float64 {
		off, norm := 0.0, 0.0
		for i := range want {
			e := float64(got[i]) - float64(want[i])
			off += e * e
			norm += float64(want[i]) * float64(want[i])
		}
		return math.Sqrt(off / norm)
	}
	plain := open(t, plainFloat32)
	want, wantGradient := convolved(plain)
	cores := plain.gpu.hasTensorCores()
	shut(t, plain)
	for _, c := range []struct {
		options                  []Option
		least, most              float64
		minGradient, maxGradient float64
	}{
		{nil, 0, 1e-6, 0, 1e-6},
		{[]Option{UsePrecision(TF32)}, 5e-5, 5e-4, 5e-5, 5e-4},
		{[]Option{UsePrecision(Half)}, 5e-5, 5e-4, 1e-3, 4e-3},
	} {
		if c.least > 0 && !cores {
			_, err := Open(0, c.options...)
			require.ErrorIs(t, err, backend.ErrUnsupported)
			continue
		}
		d := open(t, c.options...)
		got, gradient := convolved(d)
		shut(t, d)
		off := relative(got, want)
		t.Logf("%v: relative error %.1e", d.gpu.precision, off)
		require.GreaterOrEqual(t, off, c.least)
		require.LessOrEqual(t, off, c.most)
		off = relative(gradient, wantGradient)
		t.Logf("%v: relative error of the gradient %.1e", d.gpu.precision, off)
		require.GreaterOrEqual(t, off, c.minGradient)
		require.LessOrEqual(t, off, c.maxGradient)
	}
}

// Blocks for multiprocessors with little shared memory make the same bits as those for large ones.
func TestBlocksForLittleSharedMemory(t *testing.T) {
	results := func(d *Device, shared int) (all [][]float32) {
		defer shut(t, d)
		d.gpu.properties.SharedPerMultiprocessor = shared
		const outputs = 72
		s, w := backend.Image(33, 17, 18), alloc(t, d, backend.Shape{N: outputs, C: 33, H: 3, W: 3})
		require.NoError(t, d.Gaussian(w, 1, 0, 0.05))
		f, err := d.NewFilter(w)
		require.NoError(t, err)
		x, y := alloc(t, d, s), alloc(t, d, backend.Image(outputs, 17, 18))
		bias := alloc(t, d, backend.Vector(outputs))
		require.NoError(t, d.Gaussian(x, 2, 0, 1))
		require.NoError(t, d.Gaussian(bias, 3, 0, 1))
		require.NoError(t, d.Convolve(y, x, f, backend.ConvEnd{Bias: bias}))
		require.NoError(t, d.FilterGradient(w, x, y, 0, 1))
		require.NoError(t, d.ConvolveAdjoint(x, y, f, 1, 0.5))
		for _, b := range []backend.Buffer{x, y, w} {
			v := make([]float32, b.Shape().Len())
			require.NoError(t, d.Download(v, b))
			all = append(all, v)
		}
		f.Free()
		return all
	}
	for _, p := range []Precision{Float32, TF32, Half} {
		d, err := Open(0, UsePrecision(p))
		if errors.Is(err, backend.ErrUnsupported) {
			continue // TestPrecisions
		}
		require.NoError(t, err)
		require.Equal(t, results(open(t, UsePrecision(p)), 1<<20), results(d, 100<<10), "%v", p)
	}
}

// Two blocks of each of the kernels that take most of the time run on a multiprocessor at once,
// whatever GPU this is, so that one computes while the other waits.
func TestTwoBlocksFitOnAMultiprocessor(t *testing.T) {
	d := open(t)
	defer shut(t, d)
	if !d.gpu.hasTensorCores() {
		return // none of these kernels is there
	}
	fits := func(file, name string, shared int) {
		f, err := d.gpu.kernels.function(file, name)
		require.NoError(t, err)
		require.NoError(t, d.gpu.kernels.allow(f, file+"."+name, shared))
		blocks, err := d.gpu.gpu.BlocksPerMultiprocessor(f, blockThreads, shared)
		require.NoError(t, err)
		require.GreaterOrEqual(t, blocks, 2, "%s on %s with %d bytes", name, d.gpu.properties.Name, d.gpu.properties.SharedPerMultiprocessor)
	}
	for _, outputs := range []int{3, 8, 9, 32, 33, 64, 200} {
		wide := d.gpu.tensorWidth(outputs)
		for _, f := range []form{exact, tf32, half} {
			fits("tensorcores", fmt.Sprintf("convolve_%v_%d", f, wide), tensorMemory(wide, 2))
		}
	}
	plan := d.gpu.planGradient(backend.Shape{N: 64, C: 64, H: 3, W: 3}, backend.Image(64, 300, 400))
	fits(plan.file, plan.kernel, plan.shared)
	large := d.gpu.properties.SharedPerMultiprocessor >= 160<<10
	require.Equal(t, large, d.gpu.tensorWidth(64) == wideBlock)
	require.Equal(t, large, plan.shared > 4*gradientStage)
}

// The longest range of pixels that a gradient sums in float32 leaves an error of float32's own
// size, whatever the signs: each triple of products starts from zero, so that what tensor cores
// cut off does not grow with the sum.
func TestLongestRangeOfAGradient(t *testing.T) {
	d := open(t)
	defer shut(t, d)
	if !d.gpu.hasTensorCores() {
		return // sums by ordinary additions, which Compliance/FilterGradient measures
	}
	const channels, side, taps = 16, 64, 9
	s := backend.Image(channels, side, side)
	require.Equal(t, longestRange, s.Plane())
	for _, c := range []struct {
		name            string
		mean, deviation float32
	}{{"of mean zero", 0, 1}, {"of one sign", 1, 0.1}} {
		x, dy, partial := alloc(t, d, s), alloc(t, d, s), alloc(t, d, backend.Image(taps, channels, channels))
		require.NoError(t, d.Gaussian(x, 1, c.mean, c.deviation))
		require.NoError(t, d.Gaussian(dy, 2, c.mean, c.deviation))
		const across = side / gradientTile
		at := func(b backend.Buffer) driver.Arg {
			a, err := devicekit.Operand(d.Device, b)
			require.NoError(t, err)
			return driver.Ptr(a.Data.pointer)
		}
		require.NoError(t, d.gpu.launch("tensorgradients", "filter_gradient_exact", driver.Dim{X: 1}, 8*gradientStage,
			at(partial), at(x), at(dy), number(channels), number(channels),
			number(side), number(side), number(across), number(across), long(across*across), number(across*across), number(1)))
		xs, dys, got := make([]float32, s.Len()), make([]float32, s.Len()), make([]float32, taps*channels*channels)
		require.NoError(t, d.Download(xs, x))
		require.NoError(t, d.Download(dys, dy))
		require.NoError(t, d.Download(got, partial))
		off, norm := 0.0, 0.0
		for i, v := range got {
			tap, o, c := i/(channels*channels), i/channels%channels, i%channels
			want := 0.0
			for y := max(0, 1-tap/3); y < min(side, side+1-tap/3); y++ {
				for z := max(0, 1-tap%3); z < min(side, side+1-tap%3); z++ {
					want += float64(dys[(o*side+y)*side+z]) * float64(xs[(c*side+y+tap/3-1)*side+z+tap%3-1])
				}
			}
			off += (float64(v) - want) * (float64(v) - want)
			norm += want * want
		}
		relative := math.Sqrt(off / norm)
		t.Logf("%s: relative error %.1e", c.name, relative)
		require.Less(t, relative, 1e-6, c.name)
	}
}

// Networks of all kinds of layers, with projections that the kernels make on the way and with
// others, in every precision against the CPU; half precision has pairs of channels, of which
// the last may be alone.
func TestFlowsInEveryPrecision(t *testing.T) {
	type layer struct {
		hidden, side, group int
		heun                bool
	}
	host := cputest.Open(t)
	defer func() { require.NoError(t, host.Close()) }()
	plain := open(t, plainFloat32)
	cores := plain.gpu.hasTensorCores()
	shut(t, plain)
	for _, c := range []struct {
		in, width, out int
		layers         []layer
	}{
		{3, 9, 3, []layer{{9, 3, 3, false}, {16, 3, 16, false}, {5, 5, 0, false}, {12, 3, 4, true}}},
		{1, 16, 7, []layer{{64, 3, 32, false}, {64, 3, 64, false}, {48, 3, 8, false}}},
		{3, 8, 1, []layer{{8, 3, 8, true}, {8, 1, 0, false}, {8, 3, 2, false}}},
		{5, 11, 11, []layer{{3, 3, 0, true}, {33, 3, 1, false}}},
		{3, 7, 3, []layer{{40, 3, 8, false}}},
	} {
		src, dst := backend.Shape{N: 2, C: c.in, H: 18, W: 20}, backend.Shape{N: 2, C: c.out, H: 18, W: 20}
		flow := func(d backend.Device) []float32 {
			fresh := func(s backend.Shape, seed uint64, mean, deviation float32) backend.Buffer {
				b, err := d.Alloc(s)
				require.NoError(t, err)
				require.NoError(t, d.Gaussian(b, seed, mean, deviation))
				return b
			}
			var steps []backend.FlowStep
			for k, l := range c.layers {
				seed := uint64(10 * k)
				w := fresh(backend.Shape{N: l.hidden, C: c.width, H: l.side, W: l.side}, seed, 0, float32(0.7/math.Sqrt(float64(c.width*l.side*l.side))))
				f, err := d.NewFilter(w)
				require.NoError(t, err)
				s := backend.FlowStep{Filter: f, Size: 0.5, Bias: fresh(backend.Vector(l.hidden), seed+1, 0, 0.1)}
				if l.group > 0 {
					s.Radius = fresh(backend.Vector(l.hidden/l.group), seed+2, 0.5*float32(math.Sqrt(float64(l.group))), 0.01)
				} else {
					s.Activation = backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}
				}
				if l.heun {
					s.Tableau = backend.Tableau{A: [][]float64{{0, 0}, {1, 0}}, B: []float64{0.5, 0.5}}
				}
				steps = append(steps, s)
			}
			to := fresh(dst, 1, 0, 1)
			require.NoError(t, d.GradientFlow(context.Background(), to, fresh(src, 2, 0.5, 0.3), backend.Region{Y0: 1, Y1: 18, X0: 2, X1: 19}, steps))
			out := make([]float32, dst.Len())
			require.NoError(t, d.Download(out, to))
			return out
		}
		want := flow(host)
		for precision, least := range map[Precision]float64{Float32: 115, TF32: 65, Half: 65} {
			if precision != Float32 && !cores {
				continue // refused: TestPrecisions
			}
			d := open(t, UsePrecision(precision))
			require.Greater(t, psnr(flow(d), want), least, "%v, %v", c, precision)
			shut(t, d)
		}
	}
}
