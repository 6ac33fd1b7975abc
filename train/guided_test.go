package train

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/guide"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// guidedConfig has a guide of two scales, and images that do not divide by them.
func guidedConfig() Config {
	c := levelsConfig()
	c.Group, c.Crop = 7, 6
	c.Guide = &Guide{Widths: []int{5, 6}, Slope: 0.1, Rate: 0.5, LastRate: 0.1}
	return c
}

// TestGuidedGradients compares the gradients of all parameters, along random directions, with
// central differences.
func TestGuidedGradients(t *testing.T) {
	leaveFloat64(t)
	for _, levels := range []bool{false, true} {
		dev := reference(t)
		c := guidedConfig()
		if !levels {
			c.Levels, c.LossExponent, c.Guide.Slope = nil, 0, 0 // and ReLU
		}
		n := newTestAveraged(t, dev, c)
		random := newGenerator(5)
		// A guide that says something.
		for _, p := range n.guided.parameters() {
			for i := range p.values {
				p.values[i] += float32(0.1 * (2*random.uniform() - 1))
			}
		}
		shape := c.batchShape()
		x, r := gaussianBuffer(t, dev, shape, 1), gaussianBuffer(t, dev, shape, 2)
		q := &devicequeue.Queue{Dev: dev}
		q.Combine(x, backend.Term{A: 0.3, X: x})
		out, err := dev.Alloc(shape)
		require.NoError(t, err)
		value := func() float64 {
			for _, b := range n.flow.blocks { // without another power iteration
				b.prepare(q)
				b.scale(q)
			}
			n.guided.prepare(q)
			require.NoError(t, n.tune(0.1))
			require.NoError(t, n.forward(t.Context(), out, x))
			var sum [1]float64
			q.Reduce(sum[:], backend.Reduction{Kind: backend.Dot, X: out, Y: r})
			require.NoError(t, q.Err)
			return sum[0]
		}
		value()
		require.NoError(t, n.zeroGradients())
		require.NoError(t, n.forward(t.Context(), out, x))
		require.NoError(t, n.backward(t.Context(), r))
		require.NoError(t, n.gradients())
		moved := 0
		for _, p := range n.parameters() {
			if p.scaleFree || p.name == "blocks.0.theta" { // through the norm: TestThroughNorm
				continue
			}
			const step = 5e-5 // so small that hardly a vector comes to its sphere
			direction := make([]float64, len(p.values))
			want, size := 0.0, 0.0
			for i := range direction {
				direction[i] = 2*random.uniform() - 1
				want += direction[i] * float64(p.gradient[i])
				size += float64(p.gradient[i]) * float64(p.gradient[i])
			}
			got := slopeAlong(p, direction, step, value)
			if size > 1e-8 {
				moved++
				require.InDelta(t, want, got, 2e-3*max(1, want, -want), fmt.Sprint(p.name, " levels ", levels))
			}
		}
		require.Greater(t, moved, 20)
	}
}

// slopeAlong returns the central difference of a value as a parameter moves by step along a direction.
func slopeAlong(p *Parameter, direction []float64, step float64, value func() float64) float64 {
	before := slices.Clone(p.values)
	at := func(by float64) float64 {
		for i := range p.values {
			p.values[i] = before[i] + float32(by*direction[i])
		}
		return value()
	}
	defer copy(p.values, before)
	return (at(step) - at(-step)) / (2 * step)
}

// TestReducedCrops: every pixel of a crop is the mean over its part of the picture.
func TestReducedCrops(t *testing.T) {
	for _, c := range []struct{ src, dst []float32 }{
		{[]float32{1, 2, 3, 4}, []float32{1.5, 3.5}},
		{[]float32{1, 2, 3}, []float32{4. / 3, 8. / 3}},
		{[]float32{6, 3, 9, 1, 5}, []float32{4.8}},
		{[]float32{3, 0, 0, 0, 4}, []float32{9. / 5, 0, 12. / 5}},
	} {
		got := make([]float32, len(c.dst))
		average(got, c.src)
		for i, v := range c.dst {
			require.InDelta(t, v, got[i], 1e-6)
		}
	}
	// The mean of a ramp over a part is the ramp at its middle: of a crop of 8 from 12 pixels.
	ramp := Picture{Channels: 3, Height: 12, Width: 12, Samples: make([]float32, 3*144)}
	for i := range ramp.Samples {
		ramp.Samples[i] = float32(i%12)/12 + 2*float32(i/12%12)
	}
	set, err := NewPictures(3, []Picture{ramp})
	require.NoError(t, err)
	dev := processor(t)
	c := guidedConfig()
	c.Crop, c.Reduce = 8, 2
	q := &devicequeue.Queue{Dev: dev}
	b := newBatch(q, devicequeue.NewPool(dev), c)
	small := b.cut[:64]
	reduced(small, 8, &set.list[0], 1, 0, 0, 12)
	for i, v := range small {
		x, y := (float64(i%8)+0.5)*1.5-0.5, (float64(i/8)+0.5)*1.5-0.5
		// A part of 1½ pixels has its middle off the ramp's by a sixth.
		require.InDelta(t, x/12+2*y, v, 0.2)
	}
	sums := [2]float64{}
	for _, v := range small {
		sums[0] += float64(v) / 64
	}
	for _, v := range ramp.Samples[:144] {
		sums[1] += float64(v) / 144
	}
	require.InDelta(t, sums[1], sums[0], 1e-5)
	// About every other crop is reduced.
	random, plain := newGenerator(3), 0
	for range 40 {
		b.makeCrop(0, c.drawCrop(set, random))
		lowest, highest := b.samples[0], b.samples[0]
		for _, v := range b.samples[:64] {
			lowest, highest = min(lowest, v), max(highest, v)
		}
		if highest-lowest < 2*7+8.0/12 {
			plain++
		}
	}
	require.Greater(t, plain, 10)
	require.Less(t, plain, 30)
}

// TestGuidedRunsBegin: a run may begin with the weights of a guided one, and with those of one
// without a guide, but not with another guide.
func TestGuidedRunsBegin(t *testing.T) {
	dev := processor(t)
	c := guidedConfig()
	n := newTestAveraged(t, dev, c)
	for _, p := range n.guided.parameters() {
		for i := range p.values {
			p.values[i] += 0.1
		}
	}
	require.NoError(t, n.update())
	file := func(n *averaged) *weights.File {
		f, _, err := n.file(t.Context(), n.effective(), weights.Card{
			Name: "before", Sigma: 0.1, Licence: "Apache-2.0", Provenance: weights.Provenance{Software: "a test", Data: "none"},
		})
		require.NoError(t, err)
		return f
	}
	rounded := c // as another processor computes them
	rounded.Levels = slices.Clone(c.Levels)
	for i := range rounded.Levels {
		rounded.Levels[i] *= 1 + 1e-15
	}
	again := newTestAveraged(t, dev, rounded)
	require.NoError(t, again.beginWith(file(n)))
	for i, p := range again.guided.parameters() {
		require.Equal(t, n.guided.parameters()[i].values, p.values, p.name)
	}
	// A wider guide says what the narrower one says, to rounding, and its new channels learn.
	other := c
	other.Guide = &Guide{Widths: []int{5, 9}, Slope: 0.1, Rate: 1, LastRate: 1}
	wider := newTestAveraged(t, dev, other)
	require.NoError(t, wider.beginWith(file(n)))
	x := gaussianBuffer(t, dev, c.batchShape(), 1)
	denoised := func(n *averaged) []float32 {
		require.NoError(t, n.tune(0.1))
		out, err := dev.Alloc(c.batchShape())
		require.NoError(t, err)
		require.NoError(t, n.forward(t.Context(), out, x))
		return downloaded(t, dev, out)
	}
	require.InDeltaSlice(t, denoised(again), denoised(wider), 1e-5)
	_, m := wider.guided.modelOf(wider.effective())
	for i := 6; i < 9; i++ {
		require.NotZero(t, m.Layers[guide.DownAt(0)].Weight[i*4*5], "into channel %d", i)
		require.Zero(t, m.Layers[guide.UpAt(0)].Weight[i], "out of channel %d", i)
	}
	other.Guide = &Guide{Widths: []int{5, 4}, Rate: 1, LastRate: 1}
	require.ErrorContains(t, newTestAveraged(t, dev, other).beginWith(file(n)), "have a guide of")
	other.Guide = &Guide{Widths: []int{5, 6}, Rate: 1, LastRate: 1}
	require.ErrorContains(t, newTestAveraged(t, dev, other).beginWith(file(n)), "have a guide with the slope 0.1, and the run 0")
	other.Guide = nil
	plain := newTestAveraged(t, dev, other)
	require.ErrorContains(t, plain.beginWith(file(n)), "have a guide of")
	require.NoError(t, again.beginWith(file(plain)))
}

// TestGuidedDeblurring: each annealed step has the radii for what its network sees, to the bit, and the run
// after them those for what it sees first; the guide learns from that, and the blocks from what is seen at the end.
func TestGuidedDeblurring(t *testing.T) {
	dev := reference(t)
	c := guidedConfig()
	c.Crop = 8
	c.Deblur = &Deblurring{NoiseMin: 0.02, NoiseMax: 0.05, Level: 0.5, Step: 10, Iterations: 3, Margin: 2}
	require.NoError(t, c.Check())
	tr, err := newTrainer(dev, c, testPictures(t, c.Channels))
	require.NoError(t, err)
	defer tr.release()
	require.NoError(t, tr.initialise(nil))
	a := tr.network.(*averaged)
	for _, p := range a.guided.parameters() {
		for i := range p.values {
			p.values[i] += 0.05 * float32(math.Sin(float64(i)))
		}
	}
	require.NoError(t, tr.network.update())
	taken, err := c.Deblur.draw(tr.generator)
	require.NoError(t, err)
	require.InDelta(t, 0.5*deblur.PriorLevel(taken.sigma, taken.kernel, 10), taken.level, 1e-12)
	require.NoError(t, a.tune(taken.level))

	clean := make([]float32, c.batchShape().Len())
	noise := make([]float32, len(clean))
	for i := range clean {
		clean[i], noise[i] = 0.5+0.3*float32(math.Sin(float64(i)/5)), 0.02*float32(math.Cos(float64(7*i)))
	}
	radii := func() []float32 { return downloaded(t, dev, a.blocks[0].maps.radius) }
	var looks, steps [][]float32 // what the guide saw, and the radii of each application
	var levels []float64
	phi := guidedPrior{
		tune: func(level float64) error {
			levels = append(levels, level)
			return a.tune(level)
		},
		look: func() error {
			looks = append(looks, downloaded(t, dev, tr.batch.noisy))
			return a.freeze(tr.batch.noisy)
		},
		apply: func() error {
			if err := a.forward(t.Context(), tr.result, tr.batch.noisy); err != nil {
				return err
			}
			steps = append(steps, radii())
			return nil
		},
	}
	approach := func(to sight) []float32 {
		looks, steps, levels = nil, nil, nil
		q := &devicequeue.Queue{Dev: dev}
		require.NoError(t, tr.runs.approach(t.Context(), q, taken, clean, noise, to, tr.batch.noisy, tr.result, phi))
		return downloaded(t, dev, tr.batch.noisy)
	}
	// In an annealed step the guide learns from what the blocks see.
	seen := approach(sight{step: 2})
	require.Len(t, steps, 2)
	require.Len(t, looks, 3)
	require.Equal(t, seen, looks[2])
	for i, level := range levels {
		require.Equal(t, taken.level*strength.Annealed(taken.level, i), level)
	}
	const all = strength.AnnealedSteps
	last := approach(sight{all, 3})
	require.Len(t, looks, all+1)
	require.Len(t, steps, all+3)
	require.Equal(t, taken.level, levels[all])
	for i, r := range steps[1:] {
		if i+1 <= all {
			require.NotEqual(t, steps[i], r, "application %d", i+1)
		} else {
			require.Equal(t, steps[all], r, "application %d", i+1)
		}
	}
	require.NotEqual(t, looks[all], last)

	// The gradient is that of the radii for looks[all] in the network of last, by differences.
	require.NoError(t, dev.Upload(tr.batch.clean, clean))
	require.NoError(t, a.zeroGradients())
	_, err = tr.pass(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, a.gradients())
	loss := func() float64 {
		require.NoError(t, a.update())
		require.NoError(t, a.tune(taken.level))
		require.NoError(t, dev.Upload(tr.batch.noisy, looks[all]))
		require.NoError(t, a.freeze(tr.batch.noisy))
		require.NoError(t, dev.Upload(tr.batch.noisy, last))
		mse, err := tr.pass(t.Context(), 1)
		require.NoError(t, err)
		return logarithmicLoss(mse)
	}
	p := a.guided.out.parameters()[0]
	want, along := 0.0, make([]float64, len(p.values))
	for i, g := range p.gradient {
		along[i] = float64(g)
		want += along[i] * along[i]
	}
	require.Positive(t, want)
	before := slices.Clone(p.values)
	const step = 0.02
	at := func(by float64) float64 {
		for i := range p.values {
			p.values[i] = before[i] + float32(by*along[i]/math.Sqrt(want))
		}
		return loss()
	}
	require.InEpsilon(t, math.Sqrt(want), (at(step)-at(-step))/(2*step), 0.05)
	copy(p.values, before)

	// Training moves the guide, and validation freezes as it does.
	_, err = tr.iterate(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, before, p.values)
	m, err := tr.validateDeblurring(t.Context(), tr.set, 0.03)
	require.NoError(t, err)
	require.Greater(t, m.PSNR, 5.0)
}
