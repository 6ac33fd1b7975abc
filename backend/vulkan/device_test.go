package vulkan

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/fallback"
	"github.com/averaged/imaging/internal/selftest"
)

// Two hundred pictures take no more memory than two.
func TestMemoryDoesNotGrow(t *testing.T) {
	need(t)
	d := open(t)
	defer shut(t, d)
	picture := func() {
		_, err := selftest.Probes[1].Result(d)
		require.NoError(t, err)
	}
	picture()
	picture()
	held, used, kernels := d.gpu.pool.Held(), d.gpu.pool.Used(), len(d.gpu.kernels)
	for range 200 {
		picture()
	}
	require.Equal(t, held, d.gpu.pool.Held())
	require.Equal(t, used, d.gpu.pool.Used())
	require.Len(t, d.gpu.kernels, kernels)
}

// A submission ends in bands of rows and never takes long; the bits are the same.
func TestBands(t *testing.T) {
	need(t)
	d := open(t)
	defer shut(t, d)
	for _, q := range selftest.Probes {
		want, err := q.Result(d)
		require.NoError(t, err)
		most := d.gpu.stream.most
		d.gpu.stream.most = 1
		got, err := q.Result(d)
		d.gpu.stream.most = most
		require.NoError(t, err)
		require.Equal(t, want, got, q.Name)
	}
}

// What a device without float64 does.
func TestReduceOnTheHost(t *testing.T) {
	need(t)
	d := open(t)
	defer shut(t, d)
	n := 100_003
	x, y := make([]float32, n), make([]float32, n)
	a, err := d.Alloc(backend.Vector(n))
	require.NoError(t, err)
	b, err := d.Alloc(backend.Vector(n))
	require.NoError(t, err)
	require.NoError(t, d.Gaussian(a, 1, 0.1, 1))
	require.NoError(t, d.Gaussian(b, 2, 0.1, 1))
	require.NoError(t, d.Download(x, a))
	require.NoError(t, d.Download(y, b))
	dot, squares, differences := 0.0, 0.0, 0.0
	for i := range x {
		u, v := float64(x[i]), float64(y[i])
		dot, squares, differences = dot+u*v, squares+u*u, differences+(u-v)*(u-v)
	}
	for _, has := range []bool{d.gpu.Float64, false} {
		before := d.gpu.adapter.Float64
		d.gpu.adapter.Float64 = has
		var out [3]float64
		err := d.Reduce(out[:], backend.Reduction{Kind: backend.Dot, X: a, Y: b}, backend.Reduction{Kind: backend.SumSquares, X: a}, backend.Reduction{Kind: backend.DiffSquares, X: a, Y: b})
		d.gpu.adapter.Float64 = before
		require.NoError(t, err)
		require.InEpsilon(t, dot, out[0], 1e-11)
		require.InEpsilon(t, squares, out[1], 1e-12)
		require.InEpsilon(t, differences, out[2], 1e-12)
	}
}

// GPUs that lack what the kernels need are refused by name.
func TestDevicesThatAreTooSmall(t *testing.T) {
	good := GPU{Name: "GPU", Invocations: 1024, SharedMemory: 32 << 10, Bindings: 8, PushBytes: 128, OffsetAlignment: 256}
	require.NoError(t, supported(good))
	for _, spoil := range []func(g *GPU){
		func(g *GPU) { g.Invocations = 128 },
		func(g *GPU) { g.SharedMemory = 16 << 10 },
		func(g *GPU) { g.Bindings = 4 },
		func(g *GPU) { g.PushBytes = 64 },
		func(g *GPU) { g.OffsetAlignment = 512 },
	} {
		g := good
		spoil(&g)
		require.ErrorIs(t, supported(g), backend.ErrUnsupported)
		require.ErrorContains(t, supported(g), "GPU has")
	}
}

func TestDiffers(t *testing.T) {
	require.NoError(t, selftest.Differs("x", []float32{1, 2}, []float32{1, 2}))
	require.NoError(t, selftest.Differs("x", []float32{1, 2.00001}, []float32{1, 2}))
	require.ErrorIs(t, selftest.Differs("x", []float32{1, 2.001}, []float32{1, 2}), ErrWrong)
	require.ErrorIs(t, selftest.Differs("x", []float32{1, float32(math.NaN())}, []float32{1, 2}), ErrWrong)
	require.ErrorIs(t, selftest.Differs("x", []float32{0, 0}, []float32{1, 2}), ErrWrong)
	require.NoError(t, selftest.Differs("x", []float32{1, 2}, []float32{float32(math.Inf(1)), 2}))
}

// FuzzShapes compares the fused gradient flow and a convolution with the processor's, at shapes,
// regions and filters of all kinds.
func FuzzShapes(f *testing.F) {
	f.Add(uint64(0), uint64(0))
	f.Add(uint64(0x123456789abcdef), uint64(0xfedcba987654321))
	f.Add(uint64(math.MaxUint64), uint64(math.MaxUint64))
	f.Add(uint64(0x0f1e2d3c4b5a6978), uint64(0x0123456789abcdef))
	need(f)
	d := open(f)
	f.Cleanup(func() { shut(f, d) })
	host, err := cpu.Open()
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, host.Close()) })
	f.Fuzz(func(t *testing.T, a, b uint64) {
		// take takes a number below n out of a.
		take := func(n uint64) int {
			v := a % n
			a /= n
			a ^= b << 17
			b = b*6364136223846793005 + 1442695040888963407
			return int(v)
		}
		s := backend.Shape{N: 1 + take(2), C: 1 + take(6), H: 1 + take(40), W: 1 + take(70)}
		size := 1 + 2*take(3)
		group := []int{1, 2, 3, 4, 8, 16}[take(6)]
		w := backend.Shape{N: group * (1 + take(5)), C: s.C + take(20), H: size, W: 1 + 2*take(3)}
		r := backend.Region{Y0: take(uint64(s.H)), X0: take(uint64(s.W))}
		r.Y1, r.X1 = r.Y0+1+take(uint64(s.H-r.Y0)), r.X0+1+take(uint64(s.W-r.X0))
		wanted, steps, kind := s, 1+take(3), take(4)
		wanted.C = 1 + take(uint64(w.C))
		what := fmt.Sprintf("%v to %v in %v, filter %v, %d steps, groups of %d, kind %d", s, wanted, r, w, steps, group, kind)

		run := func(dev backend.Device) []float32 {
			p := &selftest.Arrays{Device: dev}
			defer p.Free()
			src, dst, weights := p.Numbers(s), p.Alloc(wanted), p.Numbers(w)
			require.NoError(t, p.Err, what)
			f, err := dev.NewFilter(weights)
			require.NoError(t, err, what)
			p.Own(f)
			step := backend.FlowStep{Filter: f, Size: 0.1}
			switch kind {
			case 0:
				step.Bias = p.Numbers(backend.Vector(w.N))
				step.Activation = backend.Activation{Kind: backend.LeakyReLU, Slope: 0.2}
			case 1:
				step.Radius = p.Clipped(p.Numbers(backend.Vector(w.N / group)))
			case 2:
				step.Radius = p.Clipped(p.Numbers(backend.Shape{N: s.N, C: w.N / group, H: s.H, W: s.W}))
			}
			list := make([]backend.FlowStep, steps)
			for k := range list {
				list[k] = step
			}
			require.NoError(t, dev.GradientFlow(t.Context(), dst, src, r, list), what)
			out := make([]float32, wanted.Len())
			require.NoError(t, dev.Download(out, dst), what)
			return out
		}
		require.NoError(t, selftest.Differs(what, run(d), run(host)), what)
	})
}

// The fused flow has the bits that one layer after the other has, for images cut into tiles as well.
func TestFlowHasTheBitsOfLayers(t *testing.T) {
	need(t)
	for _, precision := range []Precision{Float32, Half} {
		for _, group := range []int{4, 3} {
			t.Run(fmt.Sprintf("%v, balls of %d", precision, group), func(t *testing.T) { flowHasTheBitsOfLayers(t, precision, group) })
		}
	}
}

func flowHasTheBitsOfLayers(t *testing.T, precision Precision, group int) {
	d := open(t, UsePrecision(precision))
	defer shut(t, d)
	p := &selftest.Arrays{Device: d}
	s := backend.Image(3, 41, 53)
	src, fused, layers := p.Numbers(s), p.Alloc(s), p.Alloc(s)
	w := p.Numbers(backend.Shape{N: 9 * group, C: 8, H: 3, W: 3}) // an odd number of channels, too
	radius := p.Clipped(p.Numbers(backend.Image(9, s.H, s.W)))
	require.NoError(t, p.Err)
	f, err := d.NewFilter(w)
	require.NoError(t, err)
	step := backend.FlowStep{Filter: f, Radius: radius, Size: 0.3}
	steps := []backend.FlowStep{step, step, step}
	for y := 0; y < s.H; y += 16 {
		for x := 0; x < s.W; x += 20 {
			r := backend.Region{Y0: y, Y1: min(s.H, y+16), X0: x, X1: min(s.W, x+20)}
			require.NoError(t, d.GradientFlow(context.Background(), fused, src, r, steps))
		}
	}
	require.NoError(t, fallback.GradientFlow(context.Background(), d, layers, src, s.Whole(), steps))
	a, b := make([]float32, s.Len()), make([]float32, s.Len())
	require.NoError(t, d.Download(a, fused))
	require.NoError(t, d.Download(b, layers))
	require.Equal(t, b, a)
}
