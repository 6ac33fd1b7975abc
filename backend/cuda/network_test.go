//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/scene"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open"
	_ "github.com/averaged/imaging/weights/research"
	"github.com/stretchr/testify/require"
)

// picture is a part of the still life in planes, 0 to 1, with noise.
func picture(t testing.TB, s backend.Shape, sigma float32) []float32 {
	img := scene.Render(s.W, s.H)
	d := cputest.Open(t)
	defer func() { require.NoError(t, d.Close()) }()
	b, err := d.Alloc(s)
	require.NoError(t, err)
	require.NoError(t, d.Gaussian(b, 1, 0, sigma))
	v := make([]float32, s.Len())
	require.NoError(t, d.Download(v, b))
	for n := range s.N {
		for c := range s.C {
			for y := range s.H {
				for x := range s.W {
					v[((n*s.C+c)*s.H+y)*s.W+x] += float32(img.Pix[y*img.Stride+4*x+c%3]) / 255
				}
			}
		}
	}
	return v
}

// apply returns what a network makes of an image with noise of standard deviation sigma on a
// device; a guide looks at it first.
func apply(t testing.TB, d backend.Device, load func(d backend.Device) *denoise.Network, s backend.Shape, v []float32, sigma float64) []float32 {
	n := load(d)
	defer n.Free()
	src, err := d.Alloc(s)
	require.NoError(t, err)
	defer src.Free()
	dst, err := d.Alloc(s)
	require.NoError(t, err)
	defer dst.Free()
	require.NoError(t, d.Upload(src, v))
	if n.Guided() {
		at, err := n.For(t.Context(), sigma)
		require.NoError(t, err)
		defer at.Free()
		radii, err := at.Guide(t.Context(), src, sigma, 1)
		require.NoError(t, err)
		n, err = at.Freeze(radii)
		require.NoError(t, err)
		defer n.Free()
	}
	require.NoError(t, n.Apply(t.Context(), dst, src))
	out := make([]float32, s.Len())
	require.NoError(t, d.Download(out, dst))
	return out
}

// psnr of an image against another, with peak 1.
func psnr(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return -10 * math.Log10(sum/float64(len(a)))
}

// Networks give the same image on the GPU as on the CPU: to within rounding where
// convolutions are as accurate as float32, and to what half precision leaves. That is no
// hundredth of a decibel from the true image.
func TestNetworksMatchTheCPU(t *testing.T) {
	const sigma = 0.15
	embedded := func(name string) func(backend.Device) *denoise.Network {
		return func(d backend.Device) *denoise.Network {
			f, err := weights.Open(name)
			require.NoError(t, err)
			n, err := denoise.Load(t.Context(), d, f)
			require.NoError(t, err)
			return n
		}
	}
	random := func(a denoise.Architecture) func(backend.Device) *denoise.Network {
		return func(d backend.Device) *denoise.Network {
			m, err := denoise.RandomModel(1, a, 1)
			require.NoError(t, err)
			c, err := m.Certify(t.Context(), 0)
			require.NoError(t, err)
			n, err := denoise.New(t.Context(), d, m, c)
			require.NoError(t, err)
			return n
		}
	}
	s := backend.Image(3, 13, 22)
	v, clean := picture(t, s, sigma), picture(t, s, 0)
	host := cputest.Open(t)
	defer func() { require.NoError(t, host.Close()) }()
	probe := open(t)
	cores := probe.gpu.hasTensorCores()
	shut(t, probe)
	for _, network := range []struct {
		name string
		load func(backend.Device) *denoise.Network
	}{
		{"euler", embedded(weights.Euler)},
		{"general", embedded(weights.General)},
		{"guided", embedded(weights.Guided)},
		{"heun", random(denoise.Architecture{Integrator: rungekutta.Heun(), Blocks: 2, Width: 16})},
		{"rk4", random(denoise.Architecture{Integrator: rungekutta.RK4(), Blocks: 2, Width: 16})},
	} {
		want := apply(t, host, network.load, s, v, sigma)
		for _, c := range []struct {
			precision Precision
			least     float64 // dB
		}{{Float32, 110}, {TF32, 60}, {Half, 60}} {
			t.Run(fmt.Sprintf("%s in %v", network.name, c.precision), func(t *testing.T) {
				d, err := Open(0, UsePrecision(c.precision))
				if c.precision != Float32 && !cores {
					require.ErrorIs(t, err, backend.ErrUnsupported)
					return
				}
				require.NoError(t, err)
				defer func() { require.NoError(t, d.Close()) }()
				got := apply(t, d, network.load, s, v, sigma)
				require.Greater(t, psnr(got, want), c.least)
				lost := psnr(want, clean) - psnr(got, clean)
				require.Less(t, math.Abs(lost), 0.01)
				t.Logf("%.1f dB from the CPU's image; PSNR %.2f dB, %.1e less than the CPU's", psnr(got, want), psnr(got, clean), lost)
			})
		}
	}
}

// The certificate of a network is about exact arithmetic. The attack of package denoise finds
// no pair of images that float32 moves apart by more than its rounding explains (it allows for
// 1e-5 of the images' norms); TF32 and half precision round 2⁻¹¹ off every factor, for which
// ten times as much is enough.
func TestNonexpansiveInEveryPrecision(t *testing.T) {
	probe := open(t)
	cores := probe.gpu.hasTensorCores()
	shut(t, probe)
	f, err := weights.Open(weights.Small)
	require.NoError(t, err)
	for precision, rounding := range map[Precision]float64{Float32: 1, TF32: 10, Half: 10} {
		if precision != Float32 && !cores {
			continue // refused, as TestNetworksMatchTheCPU checks
		}
		d := open(t, UsePrecision(precision))
		n, err := denoise.Load(t.Context(), d, f)
		require.NoError(t, err)
		r, err := refute.Attack(t.Context(), n, backend.Image(3, 8, 8), refute.AttackOptions{Restarts: 1, Iterations: 3, Seed: 1})
		require.NoError(t, err)
		t.Logf("%v: largest ratio %.6f, of which rounding may be %.1e; images %.3f apart", precision, r.Ratio, rounding*r.Rounding, r.Separation)
		require.LessOrEqual(t, r.Ratio, 1+rounding*r.Rounding)
		n.Free()
		shut(t, d)
	}
}

// A few iterations of training have the same losses on the GPU as on the CPU.
func TestTrainingMatchesTheCPU(t *testing.T) {
	s := backend.Image(3, 40, 48)
	pictures, err := train.NewPictures(3, []train.Picture{{Channels: 3, Height: s.H, Width: s.W, Samples: picture(t, s, 0)}})
	require.NoError(t, err)
	c := train.DefaultConfig()
	c.Width, c.Group, c.Blocks, c.Crop, c.Batch, c.Iterations, c.PowerIterations = 16, 8, 2, 24, 2, 4, 20
	losses := func(d backend.Device) (values []float64) {
		run, err := train.Create(d, t.TempDir(), c, train.Data{Training: pictures})
		require.NoError(t, err)
		defer func() { require.NoError(t, run.Close()) }()
		require.NoError(t, run.Train(t.Context(), func(backend.Progress) error {
			values = append(values, run.Last().Loss)
			return nil
		}))
		return values
	}
	host := cputest.Open(t)
	defer func() { require.NoError(t, host.Close()) }()
	d := open(t)
	defer func() { require.NoError(t, d.Close()) }()
	want, got := losses(host), losses(d)
	require.NotEmpty(t, want)
	require.InDeltaSlice(t, want, got, 1e-5*want[0])
	require.NotEqual(t, want[0], want[len(want)-1], "something is learned")
}

// BenchmarkNetwork is the paper's Euler network, ten blocks of one step with 64 channels, on
// one and on five photographs of 481×321: forward alone, and forward and backward with the
// gradients of all weights. `go test -tags cuda -bench Network` on a machine with a GPU.
func BenchmarkNetwork(b *testing.B) {
	for _, precision := range []Precision{Float32, TF32, Half} {
		for _, photographs := range []int{1, 5} {
			name := fmt.Sprintf("%v/%d", precision, photographs)
			b.Run("forward/"+name, func(b *testing.B) { benchmarkForward(b, precision, photographs) })
			b.Run("backward/"+name, func(b *testing.B) { benchmarkBackward(b, precision, photographs) })
		}
	}
}

const benchmarkBlocks, benchmarkWidth = 10, 64

// benchmarkFilters returns a device and a filter of each block.
func benchmarkFilters(b *testing.B, precision Precision) (*Device, []backend.FlowStep) {
	d, err := Open(0, UsePrecision(precision))
	if errors.Is(err, backend.ErrUnsupported) {
		b.Skipf("the GPU has no tensor cores: %v", err)
	}
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, d.Close()) })
	steps := make([]backend.FlowStep, benchmarkBlocks)
	for k := range steps {
		w := alloc(b, d, backend.Shape{N: benchmarkWidth, C: benchmarkWidth, H: 3, W: 3})
		require.NoError(b, d.Gaussian(w, uint64(k), 0, 0.02))
		f, err := d.NewFilter(w)
		require.NoError(b, err)
		steps[k] = backend.FlowStep{
			Filter: f, Bias: alloc(b, d, backend.Vector(benchmarkWidth)), Size: 0.5,
			Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.01},
		}
	}
	return d, steps
}

func alloc(t testing.TB, d *Device, s backend.Shape) backend.Buffer {
	b, err := d.Alloc(s)
	require.NoError(t, err)
	return b
}

func benchmarkForward(b *testing.B, precision Precision, photographs int) {
	d, steps := benchmarkFilters(b, precision)
	s := backend.Shape{N: photographs, C: 3, H: 321, W: 481}
	src, dst := alloc(b, d, s), alloc(b, d, s)
	require.NoError(b, d.Gaussian(src, 1, 0.5, 0.2))
	measure(b, d, photographs*2*benchmarkBlocks, func() {
		require.NoError(b, d.GradientFlow(context.Background(), dst, src, s.Whole(), steps))
	})
}

// measure times a call that makes so many convolutions of one photograph.
func measure(b *testing.B, d *Device, convolutions int, call func()) {
	for range 3 { // kernels are translated, memory is allocated, graphs are made
		call()
	}
	require.NoError(b, d.Sync())
	b.ResetTimer()
	for range b.N {
		call()
	}
	require.NoError(b, d.Sync())
	b.StopTimer()
	flops := 2 * float64(convolutions) * 321 * 481 * benchmarkWidth * benchmarkWidth * 9
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e12, "TFLOP/s")
}

// benchmarkBackward makes what training does for z⁺ = z − h·Aᵀσ(Az + b): with the gradient g
// of z⁺, v = −h·σ'·Ag is that of Az + b, and g + Aᵀv that of z.
func benchmarkBackward(b *testing.B, precision Precision, photographs int) {
	d, steps := benchmarkFilters(b, precision)
	s := backend.Shape{N: photographs, C: benchmarkWidth, H: 321, W: 481}
	states, hidden := []backend.Buffer{alloc(b, d, s)}, []backend.Buffer{}
	var dw, db []backend.Buffer
	for range steps {
		states, hidden = append(states, alloc(b, d, s)), append(hidden, alloc(b, d, s))
		dw = append(dw, alloc(b, d, backend.Shape{N: benchmarkWidth, C: benchmarkWidth, H: 3, W: 3}))
		db = append(db, alloc(b, d, backend.Vector(benchmarkWidth)))
	}
	g, v := alloc(b, d, s), alloc(b, d, s)
	require.NoError(b, d.Gaussian(states[0], 1, 0.5, 0.2))
	measure(b, d, photographs*6*benchmarkBlocks, func() {
		for k, step := range steps {
			require.NoError(b, errors.Join(
				d.Convolve(hidden[k], states[k], step.Filter, backend.ConvEnd{Bias: step.Bias, Activation: step.Activation}),
				d.LinearCombination(states[k+1], backend.Term{A: 1, X: states[k]}),
				d.ConvolveAdjoint(states[k+1], hidden[k], step.Filter, 1, -step.Size)))
		}
		require.NoError(b, d.LinearCombination(g, backend.Term{A: 1, X: states[len(steps)]}))
		for k := len(steps) - 1; k >= 0; k-- {
			step := steps[k]
			require.NoError(b, errors.Join(
				d.FilterGradient(dw[k], g, hidden[k], 0, -step.Size),
				d.Convolve(v, g, step.Filter, backend.ConvEnd{}),
				d.LinearCombination(v, backend.Term{A: -step.Size, X: v}),
				d.ActivationGradient(v, hidden[k], v, step.Activation),
				d.FilterGradient(dw[k], states[k], v, 1, 1),
				d.BiasGradient(db[k], v, 0),
				d.ConvolveAdjoint(g, v, step.Filter, 1, 1)))
		}
	})
}
