package train

import (
	"math"
	"slices"
	"testing"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/strength"
	"github.com/stretchr/testify/require"
)

// TestImplicitGradients compares the gradients of a run's result, with a long series, with central differences
// of runs that are made to their end, and the identity alone is far from them.
func TestImplicitGradients(t *testing.T) {
	leaveFloat64(t)
	dev := processor(t)
	c := guidedConfig()
	c.Crop = 8
	c.Deblur = &Deblurring{NoiseMin: 0.01, NoiseMax: 0.05, Step: 10, Iterations: 1, Margin: 1, Level: 0.5, Terms: 60}
	tr, err := newTrainer(dev, c, testPictures(t, 3))
	require.NoError(t, err)
	defer tr.release()
	require.NoError(t, tr.initialise(nil))
	n := tr.network.(*averaged)
	random := newGenerator(5)
	for _, p := range n.guided.parameters() { // a guide that says something
		for i := range p.values {
			p.values[i] += float32(0.1 * (2*random.uniform() - 1))
		}
	}
	kernel, err := deblur.Shake(5, 3)
	require.NoError(t, err)
	e := exposure{kernel: kernel, sigma: 0.02, step: 10, level: 0.1}
	clean, noise := make([]float32, c.batchShape().Len()), make([]float32, c.batchShape().Len())
	for i := range clean {
		clean[i] = float32(0.5 + 0.2*math.Sin(float64(i%c.Crop)/2)*math.Cos(float64(i/c.Crop)/3) + 0.05*(random.uniform()-0.5))
		noise[i] = float32(e.sigma * (2*random.uniform() - 1))
	}
	q := &devicequeue.Queue{Dev: dev}
	q.Upload(tr.batch.clean, clean)
	in, out, p := tr.batch.noisy, tr.result, tr.runs
	apply := func() error { return n.forward(t.Context(), out, in) }
	phi := guidedPrior{n.tune, func() error { return n.freeze(in) }, apply}
	require.NoError(t, p.approach(t.Context(), q, e, clean, noise, sight{step: strength.AnnealedSteps}, in, out, phi))
	require.NotNil(t, p.own)
	seen, start := downloaded(t, dev, in), slices.Clone(p.x)
	f, err := p.filters(e, e.step)
	require.NoError(t, err)
	// run sets in to D(x) for the fixed point x, with the radii for seen.
	run := func() {
		for _, b := range n.flow.blocks { // without another power iteration
			b.prepare(q)
			b.scale(q)
		}
		n.guided.prepare(q)
		q.Do(func() error { return n.tune(e.level) })
		q.Upload(in, seen)
		q.Do(func() error { return n.freeze(in) })
		copy(p.x, start)
		require.NoError(t, p.apply(f.data, p.fixed, p.y))
		for range 150 {
			require.NoError(t, p.dataStep(f, q, in))
			q.Do(apply)
			q.Download(p.x, out)
			clip(p.x)
		}
		require.NoError(t, p.dataStep(f, q, in))
		require.NoError(t, q.Err)
	}
	gradients := func(terms int) (of [][]float32) {
		run()
		tr.config.Deblur.Terms = terms
		require.NoError(t, n.zeroGradients())
		_, err := tr.pass(t.Context(), 1)
		require.NoError(t, err)
		require.NoError(t, n.gradients())
		for _, p := range n.parameters() {
			of = append(of, slices.Clone(p.gradient))
		}
		return of
	}
	outside := 0
	loss := func() float64 {
		run()
		require.NoError(t, apply())
		sum, inner := 0.0, 0
		x := downloaded(t, dev, out)
		outside = 0
		for _, v := range x {
			if v < 0 || v > 1 {
				outside++
			}
		}
		clip(x)
		for i, v := range x {
			if y, x := i/c.Crop%c.Crop, i%c.Crop; min(y, x) >= 1 && max(y, x) < c.Crop-1 {
				sum += float64(v-clean[i]) * float64(v-clean[i])
				inner++
			}
		}
		return logarithmicLoss(sum / float64(inner))
	}
	identity, series := gradients(0), gradients(60)
	compared, missed := 0, 0.0
	for k, p := range n.parameters() {
		if p.scaleFree || p.name == "blocks.0.theta" { // through the norm: TestThroughNorm
			continue
		}
		direction, square := make([]float64, len(p.values)), 0.0
		for i, v := range identity[k] {
			direction[i] = float64(v)
			square += direction[i] * direction[i]
		}
		if square < 1e-12 {
			continue
		}
		short, long := math.Sqrt(square), 0.0 // slopes along the identity's gradient
		for i := range direction {
			direction[i] /= short
			long += direction[i] * float64(series[k][i])
		}
		got := slopeAlong(p, direction, 2e-3, loss)
		require.InDelta(t, got, long, 0.03*math.Abs(got)+1e-5, p.name)
		require.Positive(t, outside) // of the box, where nothing counts
		compared++
		missed = max(missed, math.Abs(short-got)/math.Abs(got))
	}
	require.Greater(t, compared, 10)
	require.Greater(t, missed, 0.3)
}
