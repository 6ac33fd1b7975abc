package denoise

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// radii are choices of what the balls of a network look like, of one group.
var radii = map[string]func(rng *rand.Rand) float32{
	"zero":  func(*rand.Rand) float32 { return 0 },
	"tiny":  func(rng *rand.Rand) float32 { return 1e-6 * rng.Float32() },
	"usual": func(rng *rand.Rand) float32 { return rng.Float32() },
	"huge":  func(rng *rand.Rand) float32 { return 1e15 * rng.Float32() },
	"mixed": func(rng *rand.Rand) float32 { return [...]float32{0, 1e-4, 0.3, 1e6}[rng.IntN(4)] },
}

// projecting returns a random network of 8 channels with Balls of such radii.
func projecting(t testing.TB, seed uint64, a Architecture, norm float64, kind string) Model {
	a.Activation = activation.Balls()
	if a.Width == 0 {
		a.Width = 8
	}
	m := smallModel(t, seed, a, norm)
	rng := rand.New(rand.NewPCG(seed, 77))
	for _, b := range m.Blocks {
		for i := range b.Radius {
			b.Radius[i] = radii[kind](rng)
		}
	}
	return m
}

// drawRadii draws one of radii.
func drawRadii(t *rapid.T) string {
	return rapid.SampledFrom([]string{"zero", "tiny", "usual", "huge", "mixed"}).Draw(t, "radii")
}

// The network is the formula in float64, in one call and layer by layer, for any groups and
// radii.
func TestBallsAreTheirFormula(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(2, 6, 7)
	rapid.Check(t, func(rt *rapid.T) {
		m := projecting(t, rapid.Uint64().Draw(rt, "seed"), Architecture{
			Channels: 2, Blocks: rapid.IntRange(1, 2).Draw(rt, "blocks"),
			Group:      rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "group"),
			Kernel:     rapid.SampledFrom([]int{1, 3, 5}).Draw(rt, "kernel"),
			Integrator: rapid.SampledFrom([]rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.Kutta3()}).Draw(rt, "integrator"),
		}, rapid.Float64Range(0.3, 2.5).Draw(rt, "norm"), drawRadii(rt))
		if rapid.Bool().Draw(rt, "without biases") {
			m.Blocks[0].Bias = nil
		}
		cert, err := m.Certify(t.Context(), 0.1)
		require.NoError(rt, err)
		n, err := New(t.Context(), dev, m, cert)
		require.NoError(rt, err)
		defer n.Free()
		x := randomImage(rapid.Uint64().Draw(rt, "x"), s)
		want := newReference(rt, m, stepsOf(cert), s.H, s.W).apply(x)
		require.LessOrEqual(rt, between(denoised(t, n, s, x), want), 3e-6*norm2(want)+1e-6)
		layers, err := New(t.Context(), &watched{Device: dev}, m, cert)
		require.NoError(rt, err)
		defer layers.Free()
		require.LessOrEqual(rt, between(denoised(t, layers, s, x), want), 3e-6*norm2(want)+1e-6)
	})
}

// Balls of one channel with radius 1 are HardTanh, balls that nothing reaches the identity,
// and those of radius 0 make a block that does nothing.
func TestBallsOfKnownRadii(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 9, 8)
	x := randomImage(4, s)
	for i := range x {
		x[i] = 40*x[i] - 20
	}
	for _, c := range []struct {
		radius float32
		group  int
		same   activation.Function
	}{{1, 1, activation.HardTanh()}, {1e9, 4, activation.Linear()}} {
		m := projecting(t, 2, Architecture{Group: c.group}, 1.4, "zero")
		for _, b := range m.Blocks {
			for i := range b.Radius {
				b.Radius[i] = c.radius
			}
		}
		same := m.clone()
		same.Activation = c.same
		for i := range same.Blocks {
			same.Blocks[i].Radius = nil
		}
		want := denoised(t, certified(t, dev, same), s, x)
		require.LessOrEqual(t, between(denoised(t, certified(t, dev, m), s, x), want), 3e-6*norm2(want), c.same.Name)
	}
	require.Equal(t, x, denoised(t, certified(t, dev, projecting(t, 2, Architecture{}, 1.4, "zero")), s, x))
}

// A file of a network with HardTanh is loaded, with its certificate, and rescaled by the radii
// that it has on the device.
func TestFileOfHardTanh(t *testing.T) {
	dev := newCPU(t)
	m := smallModel(t, 3, Architecture{Activation: activation.HardTanh()}, 1.3)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := m.File(testCard(), cert)
	require.NoError(t, err)
	n, err := Load(t.Context(), dev, f)
	require.NoError(t, err)
	defer n.Free()
	require.Equal(t, activation.HardTanh(), n.Certificate().Activation)
	s := backend.Image(3, 8, 9)
	x := randomImage(1, s)
	for i := range x {
		x[i] = 20*x[i] - 10
	}
	want := newReference(t, m, stepsOf(cert), s.H, s.W).apply(x)
	require.LessOrEqual(t, between(denoised(t, n, s, x), want), 3e-6*norm2(want))
	rescaled, err := Rescale(n, 4)
	require.NoError(t, err)
	fourfold := make([]float32, len(x))
	for i, v := range x {
		fourfold[i] = 4 * v
	}
	got := denoised(t, rescaled, s, fourfold)
	for i := range got {
		got[i] /= 4
	}
	require.Equal(t, denoised(t, n, s, x), got)
}

// The inequality of the certificate holds for pairs near and far, whatever the radii.
func TestBallsAreAveraged(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 6, 7)
	rapid.Check(t, func(rt *rapid.T) {
		m := projecting(t, rapid.Uint64().Draw(rt, "seed"), Architecture{
			Blocks:     rapid.IntRange(1, 3).Draw(rt, "blocks"),
			Group:      rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "group"),
			Integrator: rapid.SampledFrom([]rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.BackwardEuler()}).Draw(rt, "integrator"),
		}, rapid.Float64Range(0.3, 3).Draw(rt, "norm"), drawRadii(rt))
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(rt, err)
		n, err := New(t.Context(), dev, m, cert)
		require.NoError(rt, err)
		defer n.Free()
		alpha, proven := n.Averagedness()
		require.True(rt, proven)
		x, y := randomImage(rapid.Uint64().Draw(rt, "x"), s), randomImage(rapid.Uint64().Draw(rt, "y"), s)
		near := rapid.SampledFrom([]float32{1, 0.1}).Draw(rt, "near")
		for i := range x {
			x[i] = 6*x[i] - 3
			y[i] = x[i] + near*(6*y[i]-3)
		}
		fx, fy := denoised(t, n, s, x), denoised(t, n, s, y)
		moved, apart, after := 0.0, between(x, y), between(fx, fy)
		for i := range x {
			v := float64(x[i]) - float64(fx[i]) - (float64(y[i]) - float64(fy[i]))
			moved += v * v
		}
		require.LessOrEqual(rt, after*after, apart*apart-(1-alpha)/alpha*moved+1e-3*apart)
	})
}

// No pair is expanded, nor after relaxation by 1/α, whatever the radii. Where the balls hold
// everything and the steps are too few, the attack finds one.
func TestAttackOnBalls(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	s := backend.Image(3, 9, 9)
	opt := refute.AttackOptions{Restarts: 2, Iterations: 12}
	for _, c := range []struct {
		kind       string
		integrator rungekutta.Tableau
	}{
		{"zero", rungekutta.ForwardEuler()}, {"tiny", rungekutta.Heun()}, {"usual", rungekutta.ForwardEuler()}, {"usual", rungekutta.RK4()}, {"huge", rungekutta.ForwardEuler()},
		{"huge", rungekutta.Heun()}, {"mixed", rungekutta.ForwardEuler()}, {"mixed", rungekutta.Kutta3()},
	} {
		m := projecting(t, 12, Architecture{Blocks: 2, Group: 4, Integrator: c.integrator}, 2.4, c.kind)
		n := certified(t, dev, m)
		require.Greater(t, stepsOf(n.Certificate())[0], 1)
		r, err := refute.Attack(t.Context(), n, s, opt)
		require.NoError(t, err)
		require.True(t, r.Gradients)
		require.False(t, r.Expansive(), "%+v: %+v", c, r)
		if alpha, _ := n.Averagedness(); alpha < 1 {
			over, err := Relax(n, 1/alpha)
			require.NoError(t, err)
			r, err := refute.Attack(t.Context(), over, s, opt)
			require.NoError(t, err)
			require.False(t, r.Expansive(), "%+v: %+v", c, r)
		}
		loose, err := refute.Attack(t.Context(), uncertified(t, dev, m, 1), s, opt)
		require.NoError(t, err)
		if c.kind == "huge" || c.kind == "usual" && c.integrator.IsEuler() {
			require.True(t, loose.Expansive(), "%+v: %+v", c, loose)
		}
		t.Logf("%s, radii %s: %.6f, with one step %.3f", c.integrator.Name, c.kind, r.Ratio, loose.Ratio)
	}
}

// ⟨Jᵀv, w⟩ = ⟨v, Jw⟩, with Jw from differences in float64, inside the balls and outside.
func TestTransposedJacobianOfBalls(t *testing.T) {
	dev := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, dev.Close()) }()
	s := backend.Image(3, 6, 7)
	x, v, w := randomImage(1, s), randomImage(2, s), randomImage(3, s)
	for _, kind := range []string{"zero", "usual", "huge", "mixed"} {
		for _, a := range []Architecture{{Group: 4}, {Group: 1, Integrator: rungekutta.RK4()}, {Width: 14, Shuffle: 2, Integrator: rungekutta.Heun()}} {
			m := projecting(t, 3, a, 1.5, kind)
			n := uncertified(t, dev, m, 2)
			require.Less(t, math.Abs(checkTranspose(t, n, s, x, v, w)), 2e-3, "%s %+v", kind, a)
			rescaled, err := Rescale(n, 0.5)
			require.NoError(t, err)
			require.Less(t, math.Abs(checkTranspose(t, rescaled, s, x, v, w)), 2e-3, "%s %+v", kind, a)
		}
	}
}

// Twice the biases and radii are the network of twice the image, to the bit for powers of
// two, and so is Rescale, by radii or around the network.
func TestBallsScale(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 9, 8)
	x := randomImage(6, s)
	times := func(factor float32, x []float32) []float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = factor * v
		}
		return y
	}
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.RK4()} {
		m := projecting(t, 3, Architecture{Integrator: integrator, Group: 2}, 1.7, "mixed")
		n := certified(t, dev, m)
		want := denoised(t, n, s, x)
		require.Greater(t, between(x, want), 1e-2*norm2(x))
		for _, factor := range []float32{0.25, 16} {
			scaled := m.clone()
			for i, b := range scaled.Blocks {
				scaled.Blocks[i].Bias, scaled.Blocks[i].Radius = times(factor, b.Bias), times(factor, b.Radius)
			}
			require.Equal(t, times(factor, want), denoised(t, certified(t, dev, scaled), s, times(factor, x)))
			rescaled, err := Rescale(n, float64(factor))
			require.NoError(t, err)
			require.Equal(t, times(factor, want), denoised(t, rescaled, s, times(factor, x)), "by biases and radii")
		}
		around, err := Rescale(&plainDenoiser{d: n}, 0.25)
		require.NoError(t, err)
		require.LessOrEqual(t, between(denoised(t, around, s, times(0.25, x)), times(0.25, want)), 1e-6*norm2(want))
		for _, b := range m.Blocks { // which are infinite when multiplied
			for i := range b.Radius {
				b.Radius[i] = math.MaxFloat32
			}
		}
		n = certified(t, dev, m)
		large, err := Rescale(n, 4)
		require.NoError(t, err)
		require.Equal(t, times(4, denoised(t, n, s, x)), denoised(t, large, s, times(4, x)))
	}
}

func TestBallsAreChecked(t *testing.T) {
	good, levels := projecting(t, 1, Architecture{Group: 2}, 1, "usual"), levelled(t, 1, Architecture{Width: 8, Activation: activation.Balls(), Group: 4}, 1)
	require.NoError(t, good.Check())
	require.NoError(t, levels.Check())
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		model Model
		spoil func(m *Model)
		want  string
	}{
		"none":             {good, func(m *Model) { m.Blocks[1].Radius = nil }, "block 1: 0 radii, must be 1 for each of the groups, whose number divides the 8 hidden channels"},
		"empty":            {good, func(m *Model) { m.Blocks[1].Radius = []float32{} }, "0 radii"},
		"no divisor":       {good, func(m *Model) { m.Blocks[0].Radius = m.Blocks[0].Radius[:3] }, "block 0: 3 radii"},
		"more":             {good, func(m *Model) { m.Blocks[0].Radius = make([]float32, 16) }, "16 radii"},
		"negative":         {good, func(m *Model) { m.Blocks[2].Radius[3] = -1e-9 }, "block 2: radius 3 is -1e-09, must be 0 or more and finite"},
		"NaN":              {good, func(m *Model) { m.Blocks[2].Radius[0] = nan }, "radius 0 is NaN"},
		"infinite":         {good, func(m *Model) { m.Blocks[2].Radius[1] = inf }, "radius 1 is +Inf"},
		"other activation": {good, func(m *Model) { m.Activation = activation.LeakyReLU(0.01) }, `radii with the activation "leakyrelu", they are for "balls"`},
		"slope":            {good, func(m *Model) { m.Activation.Slope = 0.5 }, "must be 0"},
		"plain":            {levels, func(m *Model) { m.Sigmas = nil }, "biases"},
		"rows":             {levels, func(m *Model) { m.Blocks[0].Radius = m.Blocks[0].Radius[:5] }, "5 radii, must be 3 for each"},
		"columns":          {levels, func(m *Model) { m.Blocks[0].Radius = make([]float32, 9) }, "9 radii"},
		"gains":            {levels, func(m *Model) { m.Blocks[0].Gain = make([]float32, 24) }, "whose radii do what a gain would"},
		"negative of one":  {levels, func(m *Model) { m.Blocks[0].Radius[5] = -1 }, "radius 5 is -1"},
	} {
		m := c.model.clone()
		c.spoil(&m)
		require.ErrorContains(t, m.Check(), c.want, name)
		_, err := m.Certify(t.Context(), 0)
		require.ErrorContains(t, err, c.want, name)
		_, err = New(t.Context(), newCPU(t), m, Certificate{})
		require.ErrorContains(t, err, c.want, name)
		_, err = m.File(testCard(), Certificate{})
		require.ErrorContains(t, err, c.want, name)
	}
	large := levels.clone()
	large.Blocks[0].Bias, large.Blocks[0].Radius[4] = nil, 1e30
	_, err := large.At(1e9)
	require.ErrorContains(t, err, "block 0 at the noise level 1e+09: radius 0 is ")
	require.ErrorContains(t, err, "must be within float32")

	require.Equal(t, 3*(8*8*9+8+4), good.Parameters())
	require.Equal(t, 3*(8*8*9+3*(8+2)), levels.Parameters())
	for width, group := range map[int]int{64: 8, 7: 7, 12: 6, 13: 1, 3: 3} {
		m, err := RandomModel(1, Architecture{Width: width, Blocks: 1, Kernel: 1, Activation: activation.Balls()}, 1)
		require.NoError(t, err)
		require.Len(t, m.Blocks[0].Radius, width/group)
		require.Nil(t, m.Blocks[0].Gain)
	}
	for _, bad := range []Architecture{
		{Group: -1, Activation: activation.Balls()}, {Group: 3, Activation: activation.Balls()}, {Group: 128, Activation: activation.Balls()}, {Group: 8}, {Group: -8, Activation: activation.ReLU()},
	} {
		_, err := RandomModel(1, bad, 1)
		require.ErrorContains(t, err, `only "balls" has groups`, "%+v", bad)
	}
	_, err = RandomModel(1, Architecture{Width: -4, Activation: activation.Balls()}, 1)
	require.Error(t, err)
}

// What the certificate says of σ, and that radii enter no constant.
func TestCertificateOfBalls(t *testing.T) {
	var first Certificate
	for i, kind := range []string{"zero", "usual", "huge"} {
		m := projecting(t, 4, Architecture{}, 1.6, kind)
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, m.Verify(t.Context(), cert))
		require.Equal(t, 1.0, cert.Lipschitz)
		require.Equal(t, activation.Balls(), cert.Activation)
		require.Contains(t, cert.String(), "activation balls, σ projects groups of channels onto balls: firmly nonexpansive, L = 1, ")
		require.NotContains(t, cert.String(), "σ'")
		text, err := json.Marshal(cert)
		require.NoError(t, err)
		var back Certificate
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, cert, back)
		if i > 0 {
			require.NotEqual(t, first.Weights, cert.Weights)
			cert.Weights = first.Weights
			require.Equal(t, first, cert)
		}
		first = cert
	}
	m := levelled(t, 4, Architecture{Width: 8, Activation: activation.Balls()}, 1.6)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	require.Contains(t, cert.String(), "for every noise level: A is the same, and the constants do not depend on biases and radii")
	require.Contains(t, cert.String(), "radii and biases are given at 3 noise levels from 0.02 to 0.3")
	require.NotContains(t, cert.String(), "gain")
	require.Contains(t, cert.String(), "the norm of the convolution A ")
	derived, err := m.CertificateAt(cert, 0.05)
	require.NoError(t, err)
	require.Equal(t, cert.Averagedness, derived.Averagedness)
	plain, err := m.At(0.05)
	require.NoError(t, err)
	require.Equal(t, m.Blocks[0].Filter, plain.Blocks[0].Filter)
}

// A file of balls is read as it was written, in half precision as well, and what was changed
// in it after it was certified is found.
func TestFileOfBalls(t *testing.T) {
	dev := newCPU(t)
	for _, a := range []Architecture{{Group: 2}, {Sigmas: []float64{0.02, 0.1, 0.3}, Group: 4}} {
		a.Width, a.Activation = 8, activation.Balls()
		m, err := smallModel(t, 9, a, 1.5).Rounded16()
		require.NoError(t, err)
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		for i := range m.Blocks {
			m.Blocks[i].Length, m.Blocks[i].Steps = cert.Blocks[i].Length, cert.Blocks[i].Steps
		}
		file := func(opts ...weights.FileOption) *weights.File {
			f, err := m.File(testCard(), cert, opts...)
			require.NoError(t, err)
			encoded, err := f.Encode()
			require.NoError(t, err)
			read, err := weights.Decode(encoded)
			require.NoError(t, err)
			return read
		}
		for _, f := range []*weights.File{file(), file(weights.HalfPrecision())} {
			back, err := FromFile(f)
			require.NoError(t, err)
			require.Equal(t, m, back)
			n, err := Load(t.Context(), dev, f)
			require.NoError(t, err)
			require.Equal(t, cert.Weights, n.Certificate().Weights)
			n.Free()
			radius, err := f.Tensor("blocks.1.radius")
			require.NoError(t, err)
			require.Equal(t, m.tableShape(8/a.Group), radius.Shape)
		}
		fine := m.clone()
		fine.Blocks[2].Radius[1] = 0.1
		_, err = fine.File(testCard(), Certificate{}, weights.HalfPrecision())
		require.ErrorContains(t, err, "block 2: radius 1, 0.1, is not a float16")

		resize := func(f *weights.File, shape ...int) {
			for i, tensor := range f.Tensors {
				if tensor.Name == radiusName(1) {
					n := 1
					for _, side := range shape {
						n *= side
					}
					f.Tensors[i], err = weights.NewTensor(tensor.Name, weights.F32, shape, make([]float32, n))
					require.NoError(t, err)
				}
			}
		}
		rows := m.rows()
		for name, c := range map[string]struct {
			spoil       func(f *weights.File, c *weights.Card)
			certificate bool
			want        string
		}{
			"radius":     {func(f *weights.File, _ *weights.Card) { setTensor(t, f, radiusName(0), 1, 0.75) }, true, "must be certified anew"},
			"negative":   {func(f *weights.File, _ *weights.Card) { setTensor(t, f, radiusName(0), 1, -1) }, false, "radius 1 is -1"},
			"NaN":        {func(f *weights.File, _ *weights.Card) { setTensor(t, f, radiusName(0), 0, float32(math.NaN())) }, false, "radius 0 is NaN"},
			"infinite":   {func(f *weights.File, _ *weights.Card) { setTensor(t, f, radiusName(0), 0, float32(math.Inf(1))) }, false, "radius 0 is +Inf"},
			"activation": {func(_ *weights.File, c *weights.Card) { c.Architecture.Activation = "identity" }, false, "radii with the activation"},
			"groups":     {func(f *weights.File, _ *weights.Card) { resize(f, m.tableShape(8)...) }, true, "must be certified anew"},
			"3 groups":   {func(f *weights.File, _ *weights.Card) { resize(f, m.tableShape(3)...) }, false, "whose number divides the 8 hidden channels"},
			"dimensions": {func(f *weights.File, _ *weights.Card) { resize(f, rows, 2, 1) }, false, "shape"},
			"missing": {func(f *weights.File, _ *weights.Card) {
				for i, tensor := range f.Tensors {
					if tensor.Name == radiusName(1) {
						f.Tensors = append(f.Tensors[:i], f.Tensors[i+1:]...)
						return
					}
				}
			}, false, "block 1: 0 radii"},
		} {
			f := file()
			card, err := f.Card()
			require.NoError(t, err)
			c.spoil(f, &card)
			require.NoError(t, f.SetCard(card), name)
			_, err = Load(t.Context(), dev, f)
			require.ErrorContains(t, err, c.want, name)
			if c.certificate {
				require.ErrorIs(t, err, ErrCertificate, name)
			}
		}
	}
	// Radii in the file of a network that has no balls.
	m := smallModel(t, 9, Architecture{Width: 8}, 1)
	f, err := m.File(testCard(), Certificate{})
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err)
	extra, err := weights.NewTensor(radiusName(0), weights.F32, []int{4}, make([]float32, 4))
	require.NoError(t, err)
	f.Tensors = append(f.Tensors, extra)
	require.NoError(t, f.SetCard(card))
	_, err = Load(t.Context(), dev, f)
	require.ErrorContains(t, err, `radii with the activation "leakyrelu"`)
}
