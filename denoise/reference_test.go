package denoise

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/stretchr/testify/require"
)

// Tableaux of the literature that package rungekutta does not ship.
var (
	implicitMidpoint = rungekutta.Tableau{Name: "implicit midpoint", A: [][]float64{{0.5}}, B: []float64{1}}
	midpoint         = rungekutta.Tableau{Name: "midpoint", A: [][]float64{{0, 0}, {0.5, 0}}, B: []float64{0, 1}}
	ralston          = rungekutta.Tableau{Name: "ralston", A: [][]float64{{0, 0}, {2. / 3, 0}}, B: []float64{0.25, 0.75}}
	rule38           = rungekutta.Tableau{
		Name: "3/8",
		A:    [][]float64{{0, 0, 0, 0}, {1. / 3, 0, 0, 0}, {-1. / 3, 1, 0, 0}, {1, -1, 1, 0}},
		B:    []float64{1. / 8, 3. / 8, 3. / 8, 1. / 8},
	}
)

// reference is a model in float64, by the definitions.
type reference struct {
	model Model
	steps []int
	h     []float64 // the sizes of a step
	h0, w int
}

func newReference(t require.TestingT, m Model, steps []int, h, w int) reference {
	r, err := m.radius()
	require.NoError(t, err)
	ref := reference{model: m, steps: steps, h0: h, w: w}
	for i, b := range m.Blocks {
		ref.h = append(ref.h, float64(rungekutta.StepSize(b.length(r), steps[i])))
	}
	return ref
}

// convolution returns the filter of block i.
func (r reference) convolution(i int) plain.Convolution {
	b := r.model.Blocks[i]
	c := plain.Convolution{Shape: r.model.filterShape(b), H: r.h0, W: r.w, Pool: onePool}
	for _, v := range b.Filter {
		c.Weights = append(c.Weights, float64(v))
	}
	return c
}

var onePool = parallel.New(1)

// field returns Aᵀσ(Az + b).
func (r reference) field(i int, z []float64) []float64 {
	c, b := r.convolution(i), r.model.Blocks[i]
	plane := r.h0 * r.w
	u := make([]float64, c.Shape.N*plane)
	c.Forward(u, z)
	for k := range u {
		if b.Bias != nil {
			u[k] += float64(b.Bias[k/plane])
		}
		if b.Radius == nil {
			u[k] = r.model.Activation.Of(u[k])
		}
	}
	if b.Radius != nil {
		plain.ProjectBalls(u, b.Radius, plane)
	}
	k := make([]float64, len(z))
	c.Adjoint(k, u)
	return k
}

// apply returns Φ(x).
func (r reference) apply(x []float32) []float64 {
	plane := r.h0 * r.w
	z := make([]float64, r.model.Width*plane)
	for i, v := range x {
		z[i] = float64(v)
	}
	for i := range r.model.Blocks {
		for range r.steps[i] {
			z = r.step(i, z)
		}
	}
	return z[:r.model.Channels*plane]
}

func (r reference) step(i int, z []float64) []float64 {
	if r.model.implicit() {
		return r.proximal(i, z)
	}
	t, h := r.model.Integrator, r.h[i]
	var k [][]float64
	for s := range t.Stages() {
		y := append([]float64{}, z...)
		for j := range s {
			for n := range y {
				y[n] -= h * t.A[s][j] * k[j][n]
			}
		}
		k = append(k, r.field(i, y))
	}
	next := append([]float64{}, z...)
	for s := range k {
		for n := range next {
			next[n] -= h * t.B[s] * k[s][n]
		}
	}
	return next
}

// proximal solves v = z − h·Aᵀσ(Av + b) by plain gradient descent.
func (r reference) proximal(i int, z []float64) []float64 {
	norm, err := normbound.Estimate(r.model.Blocks[i].Filter, r.convolution(i).Shape, 24, 24, 50)
	if err != nil {
		panic(err)
	}
	h := r.h[i]
	kappa := 1 + 1.2*h*norm*norm
	v := append([]float64{}, z...)
	for {
		k := r.field(i, v)
		size := 0.0
		for n := range v {
			g := v[n] - z[n] + h*k[n]
			size += g * g
			v[n] -= g / kappa
		}
		if math.Sqrt(size) < 1e-12 {
			return v
		}
	}
}

var randomImage, upload, download = devicetest.Uniform, devicetest.Upload, devicetest.Download

// denoised returns Φ(x).
func denoised(t testing.TB, d Denoiser, s backend.Shape, x []float32) []float32 {
	dev := d.Device()
	src := upload(t, dev, s, x)
	defer src.Free()
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	defer dst.Free()
	require.NoError(t, d.Apply(t.Context(), dst, src))
	return download(t, dev, dst)
}

// between returns ‖a − b‖.
func between[A, B float32 | float64](a []A, b []B) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

func norm2[A float32 | float64](a []A) float64 { return between(a, make([]A, len(a))) }

// newCPU returns a device of one thread, which is enough for small images.
func newCPU(t testing.TB, options ...cpu.Option) *cpu.Device {
	d := cputest.Open(t, append([]cpu.Option{cpu.Threads(1)}, options...)...)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// smallModel returns a random network of little work.
func smallModel(t testing.TB, seed uint64, a Architecture, norm float64) Model {
	for _, f := range []struct {
		of    *int
		value int
	}{{&a.Width, 7}, {&a.Blocks, 3}} {
		if *f.of == 0 {
			*f.of = f.value
		}
	}
	key := fmt.Sprintf("model %d %+v %v", seed, a, norm)
	if m, ok := kept.Load(key); ok {
		return m.(Model).clone()
	}
	m, err := RandomModel(seed, a, norm)
	require.NoError(t, err)
	kept.Store(key, m.clone())
	return m
}

// kept holds the random models of these tests and the certificates of models, by all that they
// are made of: a search for norms and a proof take longer than most of what is done with a network.
var kept sync.Map

// certificateOf is what Certify says of a model.
func certificateOf(t testing.TB, m Model) Certificate {
	bare := m
	bare.Guide = nil // of which a certificate says nothing (TestCertificateDoesNotSeeTheGuide)
	key := fmt.Sprintf("certificate %+v", bare)
	if c, ok := kept.Load(key); ok {
		return c.(Certificate)
	}
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	kept.Store(key, c)
	return c
}

// certified puts a model on a device with a certificate.
func certified(t testing.TB, dev backend.Device, m Model, opts ...Option) *Network {
	n, err := New(t.Context(), dev, m, certificateOf(t, m), opts...)
	require.NoError(t, err)
	t.Cleanup(n.Free)
	return n
}

func stepsOf(c Certificate) (steps []int) {
	for _, b := range c.Blocks {
		steps = append(steps, b.Steps)
	}
	return steps
}

// uncertified puts a model on a device with the given number of steps for each block.
func uncertified(t testing.TB, dev backend.Device, m Model, steps int) *Network {
	m.Blocks = append([]Block{}, m.Blocks...)
	for i := range m.Blocks {
		m.Blocks[i].Steps = steps
	}
	n, err := New(t.Context(), dev, m, Certificate{})
	require.NoError(t, err)
	t.Cleanup(n.Free)
	return n
}
