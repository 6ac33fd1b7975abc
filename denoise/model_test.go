package denoise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
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
