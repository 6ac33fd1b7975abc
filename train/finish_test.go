package train

import (
	"testing"

	"github.com/averaged/imaging/denoise"
	"github.com/stretchr/testify/require"
)

// TestShrink: filters that have outrun the power iteration are brought back to the limit,
// and the others stay.
func TestShrink(t *testing.T) {
	c := smallConfig()
	n := newTestAveraged(t, processor(t), c)
	arrays := n.effective()
	for i := range arrays[2].values { // the filter of block 1
		arrays[2].values[i] *= 2.4
	}
	before := append([]float32(nil), arrays[2].values...)
	f, certificate, err := n.file(t.Context(), arrays, testCardWithSigma())
	require.NoError(t, err)
	require.Equal(t, before, arrays[2].values, "the arrays of the training are left alone")
	m, err := denoise.FromFile(f)
	require.NoError(t, err)
	require.NoError(t, m.Verify(t.Context(), certificate))
	require.Equal(t, arrays[0].values, m.Blocks[0].Filter)
	factor := m.Blocks[1].Filter[0] / arrays[2].values[0]
	require.Less(t, factor, float32(0.95))
	for i, w := range m.Blocks[1].Filter {
		require.InDelta(t, arrays[2].values[i]*factor, w, 1e-6)
	}
	require.InEpsilon(t, c.NormLimit, certificate.Blocks[1].Norm.Upper, 1e-3)
	for _, b := range certificate.Blocks {
		require.Equal(t, 1, b.Steps)
	}
	require.Less(t, certificate.Averagedness, 1.0)

	// Under the paper's constraint the number of steps follows.
	c.Constraint = Adaptive
	n = newTestAveraged(t, processor(t), c)
	arrays = n.effective()
	for i := range arrays[2].values {
		arrays[2].values[i] *= 1.7
	}
	_, certificate, err = n.file(t.Context(), arrays, testCardWithSigma())
	require.NoError(t, err)
	require.Equal(t, 1, certificate.Blocks[0].Steps)
	require.Greater(t, certificate.Blocks[1].Steps, 1)
}
