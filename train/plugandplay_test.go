package train

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/strength"
	"github.com/stretchr/testify/require"
)

// The data step is the proximal map that it is said to be, by the blur of package deblur:
// v − x + τKᵀ(Kv − y) = 0.
func TestDataStepIsProximal(t *testing.T) {
	dev := processor(t)
	shape := backend.Shape{N: 2, C: 3, H: 20, W: 24}
	const tau = 7
	p, err := newPlugAndPlay(dev, shape)
	require.NoError(t, err)
	defer p.close()
	kernel, err := deblur.Shake(9, 3)
	require.NoError(t, err)
	e := exposure{kernel: kernel, sigma: 0.02, step: tau, level: 0.1}
	clean := downloaded(t, dev, gaussianBuffer(t, dev, shape, 1))
	noise := downloaded(t, dev, gaussianBuffer(t, dev, shape, 2))
	in, out := gaussianBuffer(t, dev, shape, 3), gaussianBuffer(t, dev, shape, 4)
	// A Φ that gives the same image whatever it is applied to: then x is that image, clipped.
	q := &devicequeue.Queue{Dev: dev}
	fixed := downloaded(t, dev, out)
	require.NoError(t, p.solve(t.Context(), q, e, clean, noise, [2]int{1, 1}, in, out, func() error { return nil }))
	clip(fixed)

	k, err := deblur.New(dev, kernel, deblur.Circular, shape.H, shape.W)
	require.NoError(t, err)
	defer k.Free()
	x, v, y := alloc(t, dev, shape), in, alloc(t, dev, shape)
	require.NoError(t, dev.Upload(x, fixed))
	require.NoError(t, dev.Upload(y, clean))
	kx, kv, back := alloc(t, dev, shape), alloc(t, dev, shape), alloc(t, dev, shape)
	require.NoError(t, k.Apply(kx, y))
	require.NoError(t, dev.Upload(y, noise)) // as it was given
	// The second run's photograph is 2y − Kx.
	require.NoError(t, dev.LinearCombination(y, backend.Term{A: 2, X: kx}, backend.Term{A: 2, X: y}))
	require.NoError(t, k.Apply(kx, x))
	require.NoError(t, dev.LinearCombination(y, backend.Term{A: 1, X: y}, backend.Term{A: -1, X: kx}))
	require.NoError(t, k.Apply(kv, v))
	require.NoError(t, dev.LinearCombination(kv, backend.Term{A: 1, X: kv}, backend.Term{A: -1, X: y}))
	require.NoError(t, k.Adjoint(back, kv))
	require.NoError(t, dev.LinearCombination(back, backend.Term{A: tau, X: back}, backend.Term{A: 1, X: v}, backend.Term{A: -1, X: x}))
	for _, r := range downloaded(t, dev, back) {
		require.InDelta(t, 0, float64(r), 2e-4)
	}
}

func alloc(t testing.TB, dev backend.Device, s backend.Shape) backend.Buffer {
	b, err := dev.Alloc(s)
	require.NoError(t, err)
	t.Cleanup(b.Free)
	return b
}

// Without a blur, and with Φ(v) = v/(1+c), both runs end where arithmetic says: at
// x₁ = τy/b and x₂ = τ(2y − x₁)/b with b = (1+τ)(1+c) − 1.
func TestRunsReachTheirFixedPoints(t *testing.T) {
	dev := processor(t)
	shape := backend.Shape{N: 1, C: 3, H: 9, W: 8}
	const tau, c = 4, 0.3
	p, err := newPlugAndPlay(dev, shape)
	require.NoError(t, err)
	defer p.close()
	none, err := deblur.NewKernel([]float32{1}, 1, 1)
	require.NoError(t, err)
	clean := make([]float32, shape.Len())
	for i := range clean {
		clean[i] = 0.2 + 0.5*float32(i)/float32(len(clean))
	}
	in, out := alloc(t, dev, shape), alloc(t, dev, shape)
	e := exposure{kernel: none, sigma: 0.05, step: tau, level: 0.1}
	require.NoError(t, p.solve(t.Context(), &devicequeue.Queue{Dev: dev}, e, clean, make([]float32, len(clean)), [2]int{40, 40}, in, out,
		func() error { return dev.LinearCombination(out, backend.Term{A: 1 / (1 + c), X: in}) }))
	for i, v := range downloaded(t, dev, in) {
		y, b := float64(clean[i]), (1+tau)*(1+c)-1
		second := 2*y - tau*y/b
		x := tau * second / b
		require.InDelta(t, (x+tau*second)/(1+tau), float64(v), 1e-4)
	}
}

// What is drawn for an iteration is within its bounds, and of every kind.
func TestExposures(t *testing.T) {
	d, g := DeblurringConfig().Deblur, newGenerator(1)
	sizes := map[int]int{}
	low, high := math.Inf(1), 0.0
	for range 400 {
		e, err := d.draw(g)
		require.NoError(t, err)
		require.NoError(t, e.kernel.Check())
		require.LessOrEqual(t, max(e.kernel.H, e.kernel.W), widestBlur)
		require.InDelta(t, deblur.PriorLevel(e.sigma, e.kernel, 10), e.level, 1e-12)
		low, high = min(low, e.sigma), max(high, e.sigma)
		sizes[e.kernel.H]++
		n := d.iterations(g)
		require.True(t, n >= d.Iterations && n < 2*d.Iterations)
	}
	require.True(t, low >= d.NoiseMin && low < 1.1*d.NoiseMin, "%v", low)
	require.True(t, high <= d.NoiseMax && high > 0.9*d.NoiseMax, "%v", high)
	for size := 9; size <= widestBlur; size += 2 {
		require.Positive(t, sizes[size], "shakes of %d", size)
	}
}

// What lies in the margin has no part in the gradients, and everything else has.
func TestMarginHasNoPart(t *testing.T) {
	dev := processor(t, cpu.Threads(1))
	c := levelsConfig()
	c.Deblur = &Deblurring{NoiseMin: 0.01, NoiseMax: 0.05, Step: 10, Iterations: 1, Margin: 2}
	tr, err := newTrainer(dev, c, testPictures(t, 3))
	require.NoError(t, err)
	defer tr.release()
	require.NoError(t, tr.initialise(nil))
	require.NoError(t, tr.network.tune(0.1))
	n, plane := c.Crop, c.Crop*c.Crop
	gradient := func(at int) float64 {
		noisy := downloaded(t, dev, gaussianBuffer(t, dev, c.batchShape(), 1))
		clean := downloaded(t, dev, gaussianBuffer(t, dev, c.batchShape(), 2))
		if at >= 0 {
			clean[at] += 1
		}
		require.NoError(t, dev.Upload(tr.batch.noisy, noisy))
		require.NoError(t, dev.Upload(tr.batch.clean, clean))
		require.NoError(t, tr.network.zeroGradients())
		_, err := tr.pass(t.Context(), 1)
		require.NoError(t, err)
		require.NoError(t, tr.network.gradients())
		return gradientNorm(tr.network.parameters())
	}
	base := gradient(-1)
	for _, at := range [][2]int{{0, 0}, {1, 4}, {4, n - 2}, {n - 1, n - 1}} {
		require.Equal(t, base, gradient(plane+at[0]*n+at[1]))
	}
	for _, at := range [][2]int{{2, 2}, {4, 4}, {n - 3, n - 3}} {
		require.NotEqual(t, base, gradient(plane+at[0]*n+at[1]))
	}
}

// The recipe of a guide has the step and the level of restore.Deblur: all of the step where noise is weak,
// half of it where it is strong.
func TestExposuresAsInUse(t *testing.T) {
	d := GuidedDeblurringConfig().Deblur
	kernel, err := deblur.Shake(15, 1)
	require.NoError(t, err)
	for sigma, want := range map[float64]float64{0.01: 10, 0.09: 5} {
		e := exposure{kernel: kernel, sigma: sigma}
		d.settle(&e)
		require.InDelta(t, want, e.step, 1e-12)
		require.InDelta(t, strength.GuidedDeblurLevel(sigma, kernel.Energy(), want), e.level, 1e-12)
		d.Level = 2
		twice := e
		d.settle(&twice)
		require.InDelta(t, 2*e.level, twice.level, 1e-12)
		d.Level = 0
	}
}
