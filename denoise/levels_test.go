package denoise

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// levelled returns a random network with noise levels.
func levelled(t testing.TB, seed uint64, a Architecture, norm float64) Model {
	if a.Sigmas == nil {
		a.Sigmas = []float64{0.02, 0.1, 0.3}
	}
	return smallModel(t, seed, a, norm)
}

// gained is a network with noise levels in float64, by its definition: gains multiply the
// activation.
type gained struct {
	reference
	gain, bias, radius [][]float64 // of every block, for one noise level
}

// newGained interpolates the tables by hand.
func newGained(t require.TestingT, m Model, steps []int, h, w int, sigma float64) gained {
	g := gained{reference: newReference(t, m, steps, h, w)}
	for _, b := range m.Blocks {
		hidden := m.filterShape(b).N
		gain, bias := make([]float64, hidden), make([]float64, hidden)
		for i := range hidden {
			gain[i] = 1
			if b.Gain != nil {
				gain[i] = interpolate(m.Sigmas, b.Gain, hidden, i, sigma)
			}
			if b.Bias != nil {
				bias[i] = sigma * interpolate(m.Sigmas, b.Bias, hidden, i, sigma)
			}
		}
		groups := m.groups(b)
		radius := make([]float64, groups)
		for i := range radius {
			radius[i] = sigma * interpolate(m.Sigmas, b.Radius, groups, i, sigma)
		}
		g.gain, g.bias, g.radius = append(g.gain, gain), append(g.bias, bias), append(g.radius, radius)
	}
	return g
}

// interpolate is column i of a table at a noise level, linear in its logarithm.
func interpolate(sigmas []float64, table []float32, columns, i int, sigma float64) float64 {
	last := len(sigmas) - 1
	if sigma <= sigmas[0] {
		return float64(table[i])
	}
	for k := range last {
		if sigma <= sigmas[k+1] {
			a, b := float64(table[k*columns+i]), float64(table[(k+1)*columns+i])
			return a + (b-a)*(math.Log(sigma)-math.Log(sigmas[k]))/(math.Log(sigmas[k+1])-math.Log(sigmas[k]))
		}
	}
	return float64(table[last*columns+i])
}

// apply returns Φ_σ(x), of Euler's method.
func (g gained) apply(x []float32) []float64 {
	plane := g.h0 * g.w
	z := make([]float64, g.model.Width*plane)
	for i, v := range x {
		z[i] = float64(v)
	}
	for i := range g.model.Blocks {
		c := g.convolution(i)
		for range g.steps[i] {
			u := make([]float64, c.Shape.N*plane)
			c.Forward(u, z)
			for k := range u {
				u[k] += g.bias[i][k/plane]
				if g.model.Activation != activation.Balls() {
					u[k] = g.gain[i][k/plane] * g.model.Activation.Of(u[k])
				}
			}
			if g.model.Activation == activation.Balls() {
				plain.ProjectBalls(u, g.radius[i], plane)
			}
			k := make([]float64, len(z))
			c.Adjoint(k, u)
			for n := range z {
				z[n] -= g.h[i] * k[n]
			}
		}
	}
	return z[:g.model.Channels*plane]
}

// The network of a noise level is the formula with gains and biases, between the levels and
// beyond them.
func TestAtIsTheFormula(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(2, 7, 6)
	rapid.Check(t, func(r *rapid.T) {
		m := levelled(t, rapid.Uint64().Draw(r, "seed"), Architecture{
			Channels: 2, Width: rapid.IntRange(2, 5).Draw(r, "width"), Blocks: rapid.IntRange(1, 2).Draw(r, "blocks"),
			Activation: rapid.SampledFrom([]activation.Function{activation.LeakyReLU(0.01), activation.ReLU(), activation.Linear(), activation.Balls()}).Draw(r, "activation"),
			Sigmas:     [][]float64{{0.1}, {0.02, 0.3}, {0.01, 0.05, 0.06, 1}}[rapid.IntRange(0, 2).Draw(r, "levels")],
		}, 1.3)
		if rapid.Bool().Draw(r, "without gains") {
			m.Blocks[0].Gain = nil
		}
		if rapid.Bool().Draw(r, "without biases") {
			m.Blocks[0].Bias = nil
		}
		sigma := math.Exp(rapid.Float64Range(math.Log(0.002), math.Log(3)).Draw(r, "log sigma"))
		if rapid.Bool().Draw(r, "at a level") {
			sigma = rapid.SampledFrom(m.Sigmas).Draw(r, "level")
		}
		var steps []int
		for i := range m.Blocks {
			m.Blocks[i].Steps = 1 + i
			steps = append(steps, 1+i)
		}
		family, err := New(t.Context(), dev, m, Certificate{})
		require.NoError(r, err)
		defer family.Free()
		n, err := family.For(t.Context(), sigma)
		require.NoError(r, err)
		defer n.Free()
		x := randomImage(5, s)
		want := newGained(r, m, steps, s.H, s.W, sigma).apply(x)
		require.LessOrEqual(r, between(denoised(t, n, s, x), want), 1e-5*norm2(want), "σ = %v", sigma)
	})
}

// Nothing jumps at a level, and the filters there are those of the table.
func TestAtIsContinuous(t *testing.T) {
	m := levelled(t, 3, Architecture{}, 1)
	for k, sigma := range m.Sigmas {
		at, err := m.At(sigma)
		require.NoError(t, err)
		require.NoError(t, at.Check())
		require.Empty(t, at.Sigmas)
		for i, b := range m.Blocks {
			hidden := m.filterShape(b).N
			row := len(b.Filter) / hidden
			for j, v := range at.Blocks[i].Filter {
				require.InEpsilon(t, math.Sqrt(float64(b.Gain[k*hidden+j/row]))*float64(b.Filter[j]), v, 4e-6)
			}
			for j, v := range at.Blocks[i].Bias {
				require.InEpsilon(t, math.Sqrt(float64(b.Gain[k*hidden+j]))*sigma*float64(b.Bias[k*hidden+j]), v, 1e-7)
			}
		}
		for _, near := range []float64{sigma * (1 - 1e-9), sigma * (1 + 1e-9)} {
			beside, err := m.At(near)
			require.NoError(t, err)
			for i := range m.Blocks {
				require.LessOrEqual(t, between(at.Blocks[i].Filter, beside.Blocks[i].Filter), 1e-6*norm2(at.Blocks[i].Filter))
				require.LessOrEqual(t, between(at.Blocks[i].Bias, beside.Blocks[i].Bias), 1e-6*norm2(at.Blocks[i].Bias))
			}
		}
	}
}

// Beyond the levels the network of the nearest one is rescaled.
func TestBeyondTheLevelsIsRescaled(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 8, 9)
	x := randomImage(2, s)
	family := certified(t, dev, levelled(t, 3, Architecture{}, 1.4))
	levels := family.Levels()
	require.Equal(t, []float64{0.02, 0.1, 0.3}, levels)
	levels[0] = 7 // a copy
	require.Equal(t, 0.02, family.Levels()[0])
	projecting := certified(t, dev, levelled(t, 3, Architecture{Width: 8, Activation: activation.Balls(), Group: 4}, 1.4))
	for _, c := range []struct {
		family       *Network
		level, sigma float64
	}{
		{family, 0.02, 0.003}, {family, 0.3, 0.8}, {family, 0.3, 5}, {projecting, 0.02, 0.003}, {projecting, 0.3, 0.8},
	} {
		family := c.family
		at, err := family.For(t.Context(), c.level)
		require.NoError(t, err)
		rescaled, err := Rescale(at, c.sigma/c.level)
		require.NoError(t, err)
		want := denoised(t, rescaled, s, x)
		beyond, err := family.For(t.Context(), c.sigma)
		require.NoError(t, err)
		require.LessOrEqual(t, between(denoised(t, beyond, s, x), want), 2e-6*norm2(want))
		require.Greater(t, between(denoised(t, at, s, x), want), 1e-3*norm2(want))
		rescaled.Free()
		beyond.Free()
	}
}

// One certificate for all noise levels, and what follows from it for one of them is a
// proof of its own: verified against the weights, norms and all.
func TestCertificateOfAllNoiseLevels(t *testing.T) {
	for _, a := range []Architecture{
		{}, {Integrator: rungekutta.Heun()}, {Integrator: rungekutta.BackwardEuler()},
		{Width: 12, Shuffle: 2, Activation: activation.ReLU()}, {Sigmas: []float64{0.1}, Blocks: 1},
		{Width: 12, Shuffle: 2, Activation: activation.Balls(), Integrator: rungekutta.Heun()},
	} {
		m := levelled(t, 4, a, 1.7)
		m.Blocks[0].Length, m.Blocks[0].Steps = 0.7, 2
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, m.Verify(t.Context(), cert))
		require.Equal(t, m.Sigmas, cert.Sigmas)
		require.Contains(t, cert.String(), "for every noise level")
		text, err := json.Marshal(cert)
		require.NoError(t, err)
		var back Certificate
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, cert, back)

		for _, sigma := range []float64{0.05, 0.1, 2} {
			plain, err := m.At(sigma)
			require.NoError(t, err)
			derived, err := m.CertificateAt(cert, sigma)
			require.NoError(t, err)
			require.NoError(t, plain.Verify(t.Context(), derived), "%v", sigma)
			require.Equal(t, stepsOf(cert), stepsOf(derived))
			require.LessOrEqual(t, derived.Averagedness, cert.Averagedness)
			require.Contains(t, derived.String(), cert.Weights)
			require.NotContains(t, derived.String(), "for every noise level:")
			require.Equal(t, cert.Shuffle, derived.Shuffle)
			for i, b := range derived.Blocks {
				require.LessOrEqual(t, b.Norm.Upper, cert.Blocks[i].Norm.Upper)
				found, err := normbound.Prove(t.Context(), plain.Blocks[i].Filter, plain.filterShape(plain.Blocks[i]), 0.1)
				require.NoError(t, err)
				require.LessOrEqual(t, b.Norm.Lower, found.Upper)
				require.Positive(t, b.Norm.Lower)
			}
			// It does not belong to another level, nor to all.
			other, err := m.At(sigma * 1.1)
			require.NoError(t, err)
			require.ErrorIs(t, other.Verify(t.Context(), derived), ErrCertificate)
			require.ErrorIs(t, m.Verify(t.Context(), derived), ErrCertificate)
			require.ErrorIs(t, plain.Verify(t.Context(), cert), ErrCertificate)
		}
		if a.Integrator.Stages() == 0 {
			half := m.clone()
			for _, b := range half.Blocks {
				for i := range b.Gain {
					b.Gain[i] = 0.5
				}
			}
			cert, err := half.Certify(t.Context(), 0)
			require.NoError(t, err)
			derived, err := half.CertificateAt(cert, 0.2)
			require.NoError(t, err)
			require.InEpsilon(t, cert.Blocks[0].Averagedness/2, derived.Blocks[0].Averagedness, 1e-6, "g = ½ halves the step")
			require.Less(t, derived.Averagedness, cert.Averagedness)
		}
	}
}

// Gains of 1 change nothing, and gains just below 1 keep the number of steps even where
// the norm leaves no room for rounding: ‖V‖ is √2, exactly what one step allows.
func TestGainsKeepTheSteps(t *testing.T) {
	m := Model{Channels: 2, Width: 2, Kernel: 1, Activation: activation.LeakyReLU(0.01), Integrator: rungekutta.ForwardEuler(), Sigmas: []float64{0.1}}
	m.Blocks = []Block{{Filter: []float32{1, 1, 1, -1}, Length: 1, Steps: 1}}
	norms, steps := []normbound.Bound{{Upper: math.Sqrt2, Lower: 1}}, []int{1}
	for eulerSteps(t, norms[0].Upper) > 1 {
		norms[0].Upper = math.Nextafter(norms[0].Upper, 0)
	}
	cert, err := m.assemble(1, norms, steps)
	require.NoError(t, err)
	for _, gain := range [][]float32{nil, {1, 1}, {1, 1 - 0x1p-24}, {1 - 0x1p-24, 1 - 0x1p-23}, {0.3, 1}, {0, 0}} {
		m.Blocks[0].Gain = gain
		sum, err := m.Checksum()
		require.NoError(t, err)
		cert.Weights = sum
		derived, err := m.CertificateAt(cert, 0.1)
		require.NoError(t, err)
		require.Equal(t, steps, stepsOf(derived))
		require.LessOrEqual(t, derived.Averagedness, 1.0)
		plain, err := m.At(0.1)
		require.NoError(t, err)
		if gain == nil || gain[0] == gain[1] && gain[0] == 1 {
			require.Equal(t, m.Blocks[0].Filter, plain.Blocks[0].Filter)
		}
	}
}

// eulerSteps returns N of a block of length 1 of Euler's method.
func eulerSteps(t *testing.T, norm float64) int {
	n, err := rungekutta.Steps(1, norm, 1, 1)
	require.NoError(t, err)
	return n
}

func TestLevelsAreChecked(t *testing.T) {
	nan := float32(math.NaN())
	good := levelled(t, 1, Architecture{}, 1)
	require.NoError(t, good.Check())
	for name, c := range map[string]struct {
		spoil func(m *Model)
		want  string
	}{
		"above 1":      {func(m *Model) { m.Blocks[1].Gain[3] = math.Nextafter32(1, 2) }, "block 1: gain 3 is 1.0000001, must be in [0, 1]"},
		"below 0":      {func(m *Model) { m.Blocks[1].Gain[0] = -1e-9 }, "block 1: gain 0 is -1e-09"},
		"NaN":          {func(m *Model) { m.Blocks[2].Gain[1] = nan }, "gain 1 is NaN"},
		"few gains":    {func(m *Model) { m.Blocks[0].Gain = m.Blocks[0].Gain[:7] }, "7 gains, must be 21 (3 noise levels, 7 hidden channels) or none"},
		"no gains":     {func(m *Model) { m.Blocks[0].Gain = []float32{} }, "0 gains"},
		"few biases":   {func(m *Model) { m.Blocks[0].Bias = m.Blocks[0].Bias[:7] }, "7 biases, must be 21"},
		"NaN bias":     {func(m *Model) { m.Blocks[0].Bias[20] = nan }, "bias 20 is NaN"},
		"plain":        {func(m *Model) { m.Sigmas = nil }, "biases"},
		"plain gains":  {func(m *Model) { m.Sigmas, m.Blocks[0].Bias = nil, nil }, "gains without noise levels"},
		"unsorted":     {func(m *Model) { m.Sigmas[1] = 0.01 }, "noise level 1 is 0.01, must be in (0, 1] and above the one before"},
		"equal":        {func(m *Model) { m.Sigmas[1] = 0.02 }, "noise level 1"},
		"zero":         {func(m *Model) { m.Sigmas[0] = 0 }, "noise level 0 is 0"},
		"large":        {func(m *Model) { m.Sigmas[2] = 1.5 }, "noise level 2 is 1.5"},
		"NaN level":    {func(m *Model) { m.Sigmas[1] = math.NaN() }, "noise level 1 is NaN"},
		"activation":   {func(m *Model) { m.Activation = activation.HardTanh() }, "positively homogeneous"},
		"many levels":  {func(m *Model) { m.Sigmas = make([]float64, 5000) }, "5000 noise levels"},
		"shuffle":      {func(m *Model) { m.Shuffle = -1 }, "shuffled by -1"},
		"narrow":       {func(m *Model) { m.Shuffle = 2 }, "a network of 7 channels on images of 3, shuffled by 2"},
		"huge shuffle": {func(m *Model) { m.Shuffle = math.MaxInt }, "must be from 0 to 64"},
	} {
		m := good.clone()
		c.spoil(&m)
		require.ErrorContains(t, m.Check(), c.want, name)
		_, err := m.At(0.1)
		require.ErrorContains(t, err, c.want, name)
		_, err = m.Certify(t.Context(), 0)
		require.ErrorContains(t, err, c.want, name)
		_, err = New(t.Context(), newCPU(t), m, Certificate{})
		require.ErrorContains(t, err, c.want, name)
		_, err = m.CertificateAt(Certificate{}, 0.1)
		require.ErrorContains(t, err, c.want, name)
	}
	m := good
	for _, sigma := range []float64{0, -0.1, math.NaN(), math.Inf(1)} {
		_, err := m.At(sigma)
		require.ErrorContains(t, err, "must be above 0 and finite")
	}
	_, err := m.At(1e39)
	require.ErrorContains(t, err, "within float32")
	_, err = smallModel(t, 1, Architecture{}, 1).At(0.1)
	require.ErrorContains(t, err, "no noise levels")
	other, err := levelled(t, 2, Architecture{}, 1).Certify(t.Context(), 0)
	require.NoError(t, err)
	_, err = m.CertificateAt(other, 0.1)
	require.ErrorIs(t, err, ErrCertificate)
	_, err = RandomModel(1, Architecture{Width: 4, Blocks: 1, Sigmas: []float64{2}}, 1)
	require.ErrorContains(t, err, "noise level 0 is 2")
}

// A file is loaded at the noise level of its card, and what was changed in it is found.
func TestLoadOfAllNoiseLevels(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 8, 9)
	x := randomImage(1, s)
	m := levelled(t, 5, Architecture{Width: 12, Shuffle: 2}, 1.6)
	m.Blocks[1].Gain, m.Blocks[2].Bias = nil, nil
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	file := func() *weights.File {
		f, err := m.File(testCard(), cert)
		require.NoError(t, err)
		encoded, err := f.Encode()
		require.NoError(t, err)
		read, err := weights.Decode(encoded)
		require.NoError(t, err)
		return read
	}
	back, err := FromFile(file())
	require.NoError(t, err)
	for i := range m.Blocks {
		m.Blocks[i].Steps, m.Blocks[i].Length = cert.Blocks[i].Steps, cert.Blocks[i].Length
	}
	require.Equal(t, m, back)

	n, err := Load(t.Context(), dev, file())
	require.NoError(t, err)
	defer n.Free()
	require.Equal(t, m.Sigmas, n.Levels())
	require.Contains(t, n.Certificate().String(), "for every noise level")
	at, err := n.For(t.Context(), testCard().Sigma)
	require.NoError(t, err)
	defer at.Free()
	require.Equal(t, m.Sigmas, at.Levels())
	card, ok := at.Card()
	require.True(t, ok)
	require.Equal(t, []float64{0.02, 0.1, 0.3}, card.Architecture.Sigmas)
	plain, err := m.At(testCard().Sigma)
	require.NoError(t, err)
	want := denoised(t, certified(t, dev, plain), s, x)
	require.Equal(t, want, denoised(t, n, s, x))
	require.Equal(t, want, denoised(t, at, s, x))
	free, err := Load(t.Context(), dev, file(), Uncertified())
	require.NoError(t, err)
	defer free.Free()
	require.Equal(t, want, denoised(t, free, s, x))
	loose, err := free.For(t.Context(), 0.1)
	require.NoError(t, err)
	defer loose.Free()
	_, proven := loose.Averagedness()
	require.False(t, proven)

	for name, c := range map[string]struct {
		spoil       func(f *weights.File, c *weights.Card)
		certificate bool
		want        string
	}{
		"gain above 1":  {func(f *weights.File, _ *weights.Card) { setTensor(t, f, gainName(0), 0, 1.5) }, false, "gain 0 is 1.5"},
		"gain":          {func(f *weights.File, _ *weights.Card) { setTensor(t, f, gainName(0), 0, 0.5) }, true, "must be certified anew"},
		"bias":          {func(f *weights.File, _ *weights.Card) { setTensor(t, f, biasName(0), 30, 0.5) }, true, "must be certified anew"},
		"shuffle":       {func(_ *weights.File, c *weights.Card) { c.Architecture.Shuffle = 0 }, true, "constants"},
		"other shuffle": {func(_ *weights.File, c *weights.Card) { c.Architecture.Shuffle = 3 }, false, "shuffled by 3"},
		"sigmas":        {func(_ *weights.File, c *weights.Card) { c.Architecture.Sigmas[1] = 0.11 }, true, "constants"},
		"fewer sigmas":  {func(_ *weights.File, c *weights.Card) { c.Architecture.Sigmas = c.Architecture.Sigmas[1:] }, false, "shape [3 12], must have [2 12]"},
		"no sigmas":     {func(_ *weights.File, c *weights.Card) { c.Architecture.Sigmas = nil }, false, "shape"},
		"activation": {func(_ *weights.File, c *weights.Card) {
			c.Architecture.Activation, c.Architecture.Slope = "hardtanh", 0
		}, false, "homogeneous"},
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
	// Between the channels of two shuffles, too: 4 and 2 of one channel fit 16.
	one := smallModel(t, 5, Architecture{Channels: 1, Width: 16, Shuffle: 4}, 1)
	cert, err = one.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := one.File(testCard(), cert)
	require.NoError(t, err)
	card, err = f.Card()
	require.NoError(t, err)
	card.Architecture.Shuffle = 2
	require.NoError(t, f.SetCard(card))
	_, err = Load(t.Context(), dev, f)
	require.ErrorIs(t, err, ErrCertificate)
}

// setTensor changes one number of a tensor.
func setTensor(t *testing.T, f *weights.File, name string, at int, v float32) {
	for i, tensor := range f.Tensors {
		if tensor.Name != name {
			continue
		}
		values, err := tensor.Float32s()
		require.NoError(t, err)
		require.NotEqual(t, v, values[at])
		values[at] = v
		f.Tensors[i], err = weights.NewTensor(name, tensor.DType, tensor.Shape, values)
		require.NoError(t, err)
		return
	}
	require.Fail(t, "no tensor "+name)
}

// For is safe for concurrent use, keeps nothing on the device, outlives its origin, and has
// nothing to choose in a network for one noise level.
func TestFor(t *testing.T) {
	dev := &watched{Device: newCPU(t)}
	s := backend.Image(3, 8, 9)
	x := randomImage(1, s)
	m := levelled(t, 6, Architecture{Blocks: 1}, 1)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	n, err := New(t.Context(), dev, m, cert)
	require.NoError(t, err)
	last, err := n.For(t.Context(), m.Sigmas[2])
	require.NoError(t, err)
	require.Equal(t, denoised(t, last, s, x), denoised(t, n, s, x), "New begins at the last level")
	want := map[float64][]float32{}
	sigmas := []float64{0.01, 0.05, 0.1, 0.2}
	for _, sigma := range sigmas {
		at, err := n.For(t.Context(), sigma)
		require.NoError(t, err)
		want[sigma] = denoised(t, at, s, x)
		at.Free()
	}
	m.Blocks[0].Filter[0] = 7 // the network has its own
	held := dev.live.Load()
	var group sync.WaitGroup
	for k := range 8 {
		group.Go(func() {
			sigma := sigmas[k%4]
			at, err := n.For(t.Context(), sigma)
			if err == nil && between(denoised(t, at, s, x), want[sigma]) != 0 {
				t.Errorf("σ = %v is another network beside others", sigma)
			}
			if err != nil {
				t.Error(err)
				return
			}
			at.Free()
		})
	}
	group.Wait()
	require.Equal(t, held, dev.live.Load())
	at, err := n.For(t.Context(), 0.1)
	require.NoError(t, err)
	n.Free()
	require.Equal(t, want[0.1], denoised(t, at, s, x))
	again, err := at.For(t.Context(), 0.2)
	require.NoError(t, err)
	require.Equal(t, want[0.2], denoised(t, again, s, x))
	again.Free()
	at.Free()
	last.Free()
	require.Zero(t, dev.live.Load())

	_, err = n.For(t.Context(), -1)
	require.ErrorContains(t, err, "noise level -1")
	plain := certified(t, dev, smallModel(t, 1, Architecture{}, 1))
	require.Nil(t, plain.Levels())
	_, err = plain.For(t.Context(), 0.1)
	require.ErrorIs(t, err, ErrNoLevels)
	d, err := dncnn.Random(1, 3, 4, 2)
	require.NoError(t, err)
	dncnn, err := NewDnCNN(dev, d)
	require.NoError(t, err)
	_, err = dncnn.For(t.Context(), 0.1)
	require.ErrorIs(t, err, ErrNoLevels)
}

// No noise level is expansive, with gains at the ends of their range; and an attack would
// find it: where all gains are 1 and the steps too few, it does.
func TestAttackOfAllNoiseLevels(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	s := backend.Image(3, 10, 10)
	opt := refute.AttackOptions{Restarts: 2, Iterations: 12}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, shuffle := range []int{0, 2} {
		for _, ones := range []bool{true, false} {
			m := levelled(t, 12, Architecture{Width: 6 + 6*shuffle, Shuffle: shuffle, Activation: activation.LeakyReLU(0.3)}, 2.4)
			m.Blocks[0].Gain = nil
			for _, b := range m.Blocks[1:] {
				for k := range b.Gain {
					b.Gain[k] = 1
					if !ones {
						b.Gain[k] = float32(rng.IntN(2))
					}
				}
			}
			n := certified(t, dev, m)
			require.Greater(t, stepsOf(n.Certificate())[0], 1)
			loose := uncertified(t, dev, m, 1)
			for range 2 {
				sigma := math.Exp(rng.Float64()*6 - 5)
				for _, d := range []*Network{n, loose} {
					at, err := d.For(t.Context(), sigma)
					require.NoError(t, err)
					r, err := refute.Attack(t.Context(), at, s, opt)
					require.NoError(t, err)
					require.True(t, r.Gradients)
					if d == n {
						require.False(t, r.Expansive(), "σ = %v, shuffle %d: %+v", sigma, shuffle, r)
					} else if ones {
						require.True(t, r.Expansive(), "σ = %v, shuffle %d: %+v", sigma, shuffle, r)
					}
					at.Free()
				}
			}
		}
	}
}

// Files and certificates of plain networks are what they were.
func TestPlainCertificateHasNoLevels(t *testing.T) {
	m := smallModel(t, 1, Architecture{}, 1)
	m.Shuffle = 1
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	text, err := json.Marshal(cert)
	require.NoError(t, err)
	require.NotContains(t, string(text), "shuffle")
	require.NotContains(t, string(text), "sigmas")
	require.NotContains(t, cert.String(), "noise level")
	require.NotContains(t, cert.String(), "shuffle")
	f, err := m.File(testCard(), cert)
	require.NoError(t, err)
	require.NotContains(t, f.Metadata, "averaged.shuffle")
	require.NotContains(t, f.Metadata, "averaged.sigmas")
	back, err := FromFile(f)
	require.NoError(t, err)
	require.NoError(t, back.Verify(t.Context(), cert))
	sum, err := m.Checksum()
	require.NoError(t, err)
	require.Equal(t, f.Checksum(), sum)
}
