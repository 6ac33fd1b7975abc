package classifier

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicequeue"
)

// reference is a device that computes in float64.
func reference(t testing.TB) backend.Device {
	dev := refdevice.New(refdevice.Options{})
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

func processor(t testing.TB) backend.Device {
	dev := cputest.Open(t)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

func tiny(k Kind) Form { return Form{Kind: k, Widths: []int{4, 5, 6}, Blocks: 1} }

func newTiny(t testing.TB, dev backend.Device, f Form) *Network {
	n, err := New(dev, f)
	require.NoError(t, err)
	t.Cleanup(n.Release)
	require.NoError(t, n.Initialise(1))
	return n
}

// pictures are n images of smooth stripes, a class each way, with noise.
func pictures(n int) (images []float32, labels []uint8) {
	g := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		y := uint8(i % Outputs)
		labels = append(labels, y)
		for c := range inputs {
			for p := range side * side {
				v := 0.5 + 0.3*math.Sin(float64(p/side)*float64(y)/6+float64(c)) + 0.1*g.NormFloat64()
				images = append(images, float32(min(1, max(0, v))))
			}
		}
	}
	return images, labels
}

func TestThePaperHasSoManyParameters(t *testing.T) {
	dev := processor(t)
	for k, want := range map[Kind]int{NonExpNet: 254_810, ResNet: 497_290} {
		n, err := New(dev, Paper(k))
		require.NoError(t, err)
		require.Equal(t, want, n.Count())
		n.Release()
	}
}

func TestForms(t *testing.T) {
	for _, f := range []Form{
		{}, {Kind: NonExpNet}, {Kind: ResNet, Widths: []int{4}, Blocks: 1}, {Kind: ResNet, Widths: []int{4, 0}, Blocks: 1},
		{Kind: ResNet, Widths: []int{4, 4}}, {Kind: "x", Widths: []int{4, 4}, Blocks: 1}, {Kind: ResNet, Widths: []int{4, 4}, Blocks: 1, Limit: math.Inf(1)},
		{Kind: NonExpNet, Widths: []int{4, 4}, Blocks: 1, StageLimit: -1}, {Kind: NonExpNet, Widths: []int{4, 4}, Blocks: 1, Gain: math.NaN()},
	} {
		_, err := New(processor(t), f)
		require.Error(t, err, "%+v", f)
	}
}

// TestGain: the layers begin with all singular values equal, and grey has no scores.
func TestGain(t *testing.T) {
	f := Form{Kind: NonExpNet, Widths: []int{4, 3, 6, 4}, Blocks: 1, Gain: 1.5}
	n := newTiny(t, processor(t), f)
	for _, l := range n.linear {
		p := l.Parameters()[0]
		w, rows := p.Values(), p.Shape()[0]
		columns := len(w) / rows
		product := func(i, j int) (sum float64) { // of rows or of columns, whichever are fewer
			for k := range max(rows, columns) {
				if rows > columns {
					sum += float64(w[k*columns+i]) * float64(w[k*columns+j])
				} else {
					sum += float64(w[i*columns+k]) * float64(w[j*columns+k])
				}
			}
			return sum
		}
		for i := range min(rows, columns) {
			for j := range i + 1 {
				want := 0.0
				if i == j {
					want = f.Gain * f.Gain
				}
				require.InDelta(t, want, product(i, j), 1e-5, "%d×%d", rows, columns)
			}
		}
	}
	first := n.linear[0].Parameters()
	for o, b := range first[1].Values() {
		w := first[0].Values()[o*inputs:][:inputs]
		require.InDelta(t, 0, b+(w[0]+w[1]+w[2])/2, 1e-6, "what becomes of middle grey")
	}
}

// TestStageLimit: blocks that an update has made too large keep to one step, and others stay.
func TestStageLimit(t *testing.T) {
	f := tiny(NonExpNet)
	f.StageLimit = 1.4
	n := newTiny(t, processor(t), f)
	was := slices.Clone(n.Parameters()[2].Values())
	require.NoError(t, n.Update())
	require.Equal(t, was, n.Parameters()[2].Values(), "norms of 1 are not scaled")
	for _, p := range n.Parameters() {
		for i := range p.Values() {
			p.Values()[i] *= 3
		}
	}
	for range 50 { // as many updates as the power iteration needs to know the norms
		require.NoError(t, n.Update())
	}
	require.Equal(t, []int{1, 1}, n.Steps())
	_, factors, err := n.Lipschitz(t.Context())
	require.NoError(t, err)
	require.Len(t, factors, len(n.links))
	for _, steps := range n.Steps() {
		require.LessOrEqual(t, steps, 2, "a power iteration may be a little below the norm that is proven")
	}
}

// TestGradients compares those with respect to the images and to all parameters together with
// central differences of a loss, in float64.
func TestGradients(t *testing.T) {
	dev := reference(t)
	kinds := []Kind{NonExpNet, ResNet}
	if testing.Short() {
		kinds = kinds[:1] // in float64 in plain Go each takes seconds
	}
	for _, kind := range kinds {
		n := newTiny(t, dev, Form{Kind: kind, Widths: []int{2, 3}, Blocks: 1})
		images, _ := pictures(1)
		q := &devicequeue.Queue{Dev: dev}
		memory := devicequeue.NewPool(dev)
		defer memory.Free()
		shape := backend.Image(inputs, side, side)
		x, dx, moved := memory.Take(q, shape), memory.Take(q, shape), memory.Take(q, shape)
		v, err := dev.Alloc(shape)
		require.NoError(t, err)
		require.NoError(t, dev.Gaussian(v, 3, 0, 1))
		s, r := memory.Take(q, backend.Vector(Outputs)), memory.Take(q, backend.Vector(Outputs))
		require.NoError(t, dev.Gaussian(r, 4, 0, 1))
		q.Upload(x, images)
		value := func(src backend.Buffer) float64 {
			require.NoError(t, n.Forward(t.Context(), s, src))
			var sum [1]float64
			q.Reduce(sum[:], backend.Reduction{Kind: backend.Dot, X: s, Y: r})
			require.NoError(t, q.Err)
			return sum[0]
		}
		const h = 0x1p-18
		along := func(by float32) float64 {
			q.Combine(moved, backend.Term{A: 1, X: x}, backend.Term{A: by, X: v})
			return value(moved)
		}
		want := (along(h) - along(-h)) / (2 * h)
		value(x)
		require.NoError(t, n.Clear())
		q.Combine(s, backend.Term{A: 1, X: r})
		require.NoError(t, n.Backward(t.Context(), dx, s, true))
		require.NoError(t, n.Gradients())
		var got [1]float64
		q.Reduce(got[:], backend.Reduction{Kind: backend.Dot, X: dx, Y: v})
		require.NoError(t, q.Err)
		require.InEpsilon(t, want, got[0], 1e-5, "%s, images", kind)

		for _, p := range n.Parameters() {
			before := append([]float32(nil), p.Values()...)
			want, got := 0.0, 0.0
			for i, g := range p.Gradient() {
				got += float64(g) * math.Cos(float64(3*i))
			}
			for _, sign := range []float64{1, -1} {
				for i, w := range before {
					p.Values()[i] = w + float32(sign*0x1p-11*math.Cos(float64(3*i)))
				}
				require.NoError(t, n.Update())
				require.NotContains(t, n.Steps(), 2, "the map must not change its form")
				want += sign * value(x) / (2 * 0x1p-11)
			}
			copy(p.Values(), before)
			require.NoError(t, n.Update())
			require.InDelta(t, want, got, 2e-3*math.Abs(want)+2e-6, "%s, %s", kind, p.Name())
		}
	}
}

// TestPoolingAndLinearLayersHaveAdjoints: ⟨Ax, y⟩ = ⟨x, Aᵀy⟩, and the pooling is the mean.
func TestPoolingAndLinearLayersHaveAdjoints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dev := refdevice.New(refdevice.Options{})
		defer dev.Close()
		channels, factor := rapid.IntRange(1, 5).Draw(rt, "channels"), rapid.SampledFrom([]int{1, 2, 3, 8}).Draw(rt, "factor")
		h, w, n := rapid.IntRange(1, 3).Draw(rt, "h"), rapid.IntRange(1, 3).Draw(rt, "w"), rapid.IntRange(1, 3).Draw(rt, "n")
		p, err := newPooling(dev, channels, factor)
		require.NoError(t, err)
		defer p.Release()
		from := backend.Shape{N: n, C: channels, H: h * factor, W: w * factor}
		to, err := p.out(from)
		require.NoError(t, err)
		q := &devicequeue.Queue{Dev: dev}
		memory := devicequeue.NewPool(dev)
		x, ax, y, aty := memory.Take(q, from), memory.Take(q, to), memory.Take(q, to), memory.Take(q, from)
		q.Do(func() error { return dev.Gaussian(x, 1, 0, 1) })
		q.Do(func() error { return dev.Gaussian(y, 2, 0, 1) })
		q.Do(func() error { return p.Forward(t.Context(), ax, x) })
		q.Do(func() error { return p.Backward(t.Context(), aty, y, true) })
		var sums [4]float64
		q.Reduce(sums[:], backend.Reduction{Kind: backend.Dot, X: ax, Y: y}, backend.Reduction{Kind: backend.Dot, X: x, Y: aty},
			backend.Reduction{Kind: backend.SumSquares, X: x}, backend.Reduction{Kind: backend.SumSquares, X: ax})
		require.NoError(t, q.Err)
		require.InDelta(t, sums[0], sums[1], 1e-9*(1+math.Abs(sums[0])))
		bound, err := p.lipschitz(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, math.Sqrt(sums[3]), bound*math.Sqrt(sums[2]))

		in, out := make([]float32, from.Len()), make([]float32, to.Len())
		q.Download(in, x)
		q.Download(out, ax)
		require.NoError(t, q.Err)
		for i, v := range out {
			mean := 0.0
			plane, row, column := i/to.Plane(), i%to.Plane()/to.W, i%to.W
			for dy := range factor {
				for dx := range factor {
					mean += float64(in[plane*from.Plane()+(row*factor+dy)*from.W+column*factor+dx]) / float64(factor*factor)
				}
			}
			require.InDelta(t, mean, v, 1e-6)
		}
	})
	p, err := newPooling(processor(t), 2, 2)
	require.NoError(t, err)
	defer p.Release()
	_, err = p.out(backend.Image(2, 3, 2))
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = p.out(backend.Image(3, 2, 2))
	require.ErrorIs(t, err, backend.ErrShape)
	// The bound is attained by a constant image.
	bound, err := p.lipschitz(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 0.5, bound, 1e-12)
}

// TestLosses compares the gradients with differences, and the values with the definitions.
func TestLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		scores, labels := make([]float32, n*Outputs), make([]uint8, n)
		for i := range scores {
			scores[i] = float32(rapid.IntRange(-400, 400).Draw(t, "s")) / 128
		}
		for i := range labels {
			labels[i] = uint8(rapid.IntRange(0, Outputs-1).Draw(t, "y"))
		}
		// Off the kinks of the hinge, whose places are multiples of 1/128 apart from μ.
		const mu = 0.1
		gradient, unused := make([]float32, len(scores)), make([]float32, len(scores))
		for name, loss := range map[string]func(g, s []float32) float64{
			"hinge":         func(g, s []float32) float64 { return Hinge(g, s, labels, mu) },
			"cross-entropy": func(g, s []float32) float64 { return CrossEntropy(g, s, labels) },
		} {
			loss(gradient, scores)
			for i := range scores {
				const h = 0x1p-10
				old := scores[i]
				scores[i] = old + h
				up := loss(unused, scores)
				scores[i] = old - h
				down := loss(unused, scores)
				scores[i] = old
				require.InDelta(t, (up-down)/(2*h), gradient[i], 1e-5, name)
			}
		}
		want := 0.0
		for i, y := range labels {
			for k := range Outputs {
				if k != int(y) {
					want += math.Max(0, mu-float64(scores[i*Outputs+int(y)])+float64(scores[i*Outputs+k])) / float64(n)
				}
			}
		}
		require.InDelta(t, want, Hinge(gradient, scores, labels, mu), 1e-9)
	})
	scores := []float32{0, 3, 1, 0, 0, 0, 0, 0, 0, 2.5}
	require.Equal(t, 0.5, Margin(scores, 1))
	require.Equal(t, -2.0, Margin(scores, 2))
	require.Zero(t, CertifiedRadius(-1, 1))
	require.Zero(t, CertifiedRadius(math.NaN(), 1))
	require.Zero(t, CertifiedRadius(1, math.Inf(1)))
	require.InDelta(t, 0.5/math.Sqrt2/2, CertifiedRadius(0.5, 2), 1e-12)
	// Large scores do not overflow.
	g := make([]float32, Outputs)
	require.Zero(t, CrossEntropy(g, []float32{3e38, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []uint8{0}))
	require.Equal(t, make([]float32, Outputs), g)
}

// scoresOf classifies images.
func scoresOf(t testing.TB, n *Network, images []float32) []float32 {
	count := len(images) / Samples
	scores, err := n.Scores(t.Context(), images)
	require.NoError(t, err)
	require.Len(t, scores, count*Outputs)
	return scores
}

// TestTheBoundHolds tries to move scores further apart than the proven constant allows: at random,
// and along the gradient of their distance, which finds the direction in which a network is steepest.
func TestTheBoundHolds(t *testing.T) {
	dev := processor(t)
	for _, f := range []Form{tiny(NonExpNet), {Kind: NonExpNet, Widths: []int{4, 4}, Blocks: 2, Limit: 1.2}, tiny(ResNet)} {
		n := newTiny(t, dev, f)
		for _, p := range n.Parameters() {
			for i := range p.Values() {
				p.Values()[i] *= 2 // so that steps are split
			}
		}
		require.NoError(t, n.Update())
		l, factors, err := n.Lipschitz(t.Context())
		require.NoError(t, err)
		product := 1.0
		for _, factor := range factors {
			product *= factor.Bound
		}
		require.InEpsilon(t, product, l, 1e-12)
		if f.Limit > 0 {
			require.LessOrEqual(t, factors[0].Bound, f.Limit*1.006)
		}
		images, labels := pictures(3)
		a := Attack{Iterations: 6, Step: 0.3, Seed: 1}
		for _, radius := range []float64{0.01, 30} {
			b := Batch{Images: images, Labels: labels, Numbers: []uint64{0, 1, 2}, Radii: []float64{radius, radius, radius}}
			attacked, _, err := a.Run(t.Context(), n, b, false)
			require.NoError(t, err)
			before, after := scoresOf(t, n, images), scoresOf(t, n, attacked)
			for i := range labels {
				moved := distance(images[i*Samples:][:Samples], attacked[i*Samples:][:Samples])
				require.LessOrEqual(t, moved, radius*(1+1e-5))
				require.LessOrEqual(t, distance(before[i*Outputs:][:Outputs], after[i*Outputs:][:Outputs]), l*moved+1e-5)
			}
		}
	}
}

func distance(x, y []float32) float64 {
	sum := 0.0
	for i := range x {
		d := float64(x[i]) - float64(y[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// TestAttacksFindWhatIsThere: an untrained network is fooled far away, and nowhere inside its certified radii.
func TestAttacksFindWhatIsThere(t *testing.T) {
	dev := processor(t)
	n := newTiny(t, dev, tiny(ResNet))
	images, _ := pictures(4)
	scores := scoresOf(t, n, images)
	b := Batch{Images: images}
	for i := range 4 {
		b.Labels = append(b.Labels, argmax(scores[i*Outputs:][:Outputs]))
		b.Numbers = append(b.Numbers, uint64(i))
		b.Radii = append(b.Radii, 50)
	}
	a := PaperAttack(10, 7)
	_, fooled, err := a.Run(t.Context(), n, b, true)
	require.NoError(t, err)
	found := 0
	for _, f := range fooled {
		if f {
			found++
		}
	}
	require.Greater(t, found, 1)
	// A batch of one meets the same attack.
	one := Batch{Images: images[3*Samples:][:Samples], Labels: b.Labels[3:4], Numbers: b.Numbers[3:4], Radii: b.Radii[3:4]}
	all, _, err := a.Run(t.Context(), n, b, false)
	require.NoError(t, err)
	alone, _, err := a.Run(t.Context(), n, one, false)
	require.NoError(t, err)
	require.Equal(t, all[3*Samples:][:Samples], alone)

	// Inside the certified radius none may succeed.
	l, _, err := n.Lipschitz(t.Context())
	require.NoError(t, err)
	for i := range b.Radii {
		b.Radii[i] = CertifiedRadius(Margin(scores[i*Outputs:][:Outputs], b.Labels[i]), l)
		require.Positive(t, b.Radii[i])
	}
	_, fooled, err = a.Run(t.Context(), n, b, true)
	require.NoError(t, err)
	require.NotContains(t, fooled, true)
}

func argmax(s []float32) uint8 {
	best := 0
	for k, v := range s {
		if v > s[best] {
			best = k
		}
	}
	return uint8(best)
}

func TestRandomPointsFillTheBall(t *testing.T) {
	inner := 0
	for i := range uint64(400) {
		d := make([]float64, 3)
		randomInBall(d, 2, i)
		length := normalise(d)
		require.LessOrEqual(t, length, 2.0)
		if length < 2*math.Pow(0.5, 1./3) {
			inner++
		}
	}
	require.InDelta(t, 200, inner, 50, "half of the volume")
}

func TestSpectralNorm(t *testing.T) {
	// diag(3, 1) turned: rows (3,4)/5·3 and (−4,3)/5.
	require.InDelta(t, 3, spectralNorm([]float32{1.8, 2.4, -0.8, 0.6}, 2), 1e-6)
	require.Zero(t, spectralNorm([]float32{0, 0}, 1))
}
