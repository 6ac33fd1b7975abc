package denoise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestModelCheck(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(m *Model)
		want  string
	}{
		"channels":   {func(m *Model) { m.Channels = 0 }, "images of 0"},
		"width":      {func(m *Model) { m.Channels = 8 }, "at least as many"},
		"kernel":     {func(m *Model) { m.Kernel = 4 }, "odd"},
		"blocks":     {func(m *Model) { m.Blocks = nil }, "0 blocks"},
		"activation": {func(m *Model) { m.Activation.Slope = 0 }, "slope 0"},
		"filter":     {func(m *Model) { m.Blocks[1].Filter = m.Blocks[1].Filter[1:] }, "block 1: 440 weights, must be a multiple of 63"},
		"hidden":     {func(m *Model) { m.Blocks[1].Filter = make([]float32, 63*4097) }, "block 1: 4097 hidden channels, must be from 1 to 4096"},
		"wide":       {func(m *Model) { m.Width = 5000 }, "a network of 5000 channels"},
		"none":       {func(m *Model) { m.Blocks[1].Filter = nil }, "block 1: 0 weights"},
		"NaN":        {func(m *Model) { m.Blocks[2].Filter[7] = float32(math.NaN()) }, "block 2: weight 7"},
		"biases":     {func(m *Model) { m.Blocks[0].Bias = m.Blocks[0].Bias[1:] }, "6 biases, must be 7"},
		"bias":       {func(m *Model) { m.Blocks[0].Bias[3] = float32(math.Inf(1)) }, "bias 3"},
		"length":     {func(m *Model) { m.Blocks[0].Length = -1 }, "length -1"},
		"NaN length": {func(m *Model) { m.Blocks[0].Length = math.NaN() }, "length NaN"},
		"small":      {func(m *Model) { m.Blocks[0].Length, m.Blocks[0].Steps = 1e-44, 1000 }, "below float32's range"},
		"steps":      {func(m *Model) { m.Blocks[0].Steps = -1 }, "-1 steps"},
		"tableau":    {func(m *Model) { m.Integrator.B = nil }, "0 stages"},
		"sum":        {func(m *Model) { m.Integrator.B = []float64{0.5} }, "sum 0.5"},
	} {
		m := smallModel(t, 1, Architecture{}, 1)
		require.NoError(t, m.Check())
		c.spoil(&m)
		require.ErrorContains(t, m.Check(), c.want, name)
		_, err := m.Certify(t.Context(), 0)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, m.Verify(t.Context(), Certificate{}), c.want, name)
	}
	m := smallModel(t, 1, Architecture{}, 1)
	m.Blocks[0].Length = 1e-42
	_, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	m.Blocks[0].Length, m.Blocks[0].Steps = 1, 1<<17
	_, err = m.Certify(t.Context(), 0)
	require.ErrorContains(t, err, "in all")
	m.Blocks[0].Length = 1e30
	_, err = m.Certify(t.Context(), 0)
	require.ErrorContains(t, err, "block 0")
}

// Every activation increases, with slope at most L; ReLU is ReLU to any rounding.
func TestActivations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]Activation{LeakyReLU(0.01), LeakyReLU(1), ReLU(), HardTanh(), Linear()}).Draw(t, "activation")
		require.NoError(t, a.Check())
		require.Contains(t, ActivationNames(), a.Name)
		x, y := rapid.Float64Range(-5, 5).Draw(t, "x"), rapid.Float64Range(-5, 5).Draw(t, "y")
		if x > y {
			x, y = y, x
		}
		rise := a.apply(y) - a.apply(x)
		require.GreaterOrEqual(t, rise, 0.0)
		require.LessOrEqual(t, rise, a.Lipschitz()*(y-x)*(1+1e-14)+1e-15)
		require.InDelta(t, math.Max(x, 0), ReLU().apply(x), 1e-29)
	})
	for _, bad := range []Activation{{}, {Name: "gelu"}, LeakyReLU(0), LeakyReLU(-1), LeakyReLU(1.5), LeakyReLU(math.NaN()), {Name: relu, Slope: 0.1}, {Name: leakyReLU, Slope: 0.01}} {
		require.Error(t, bad.Check(), "%+v", bad)
	}
}
