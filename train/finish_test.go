package train

import (
	"testing"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
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

// TestInitial: a run that begins with the weights of a file begins as that network, with
// levels as that network rescaled.
func TestInitial(t *testing.T) {
	c := smallConfig()
	c.SigmaMin, c.Iterations = c.SigmaMax, 4
	dev := processor(t)
	r := create(t, dev, t.TempDir(), c)
	require.NoError(t, r.Train(t.Context(), nil))
	path, _, err := r.Finish(t.Context(), testCard())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close(), "a second time")
	f, err := weights.ReadFile(path)
	require.NoError(t, err)
	loaded, err := denoise.Load(t.Context(), dev, f)
	require.NoError(t, err)
	t.Cleanup(loaded.Free)
	x := gaussianBuffer(t, dev, c.batchShape(), 1)
	result := func(d denoise.Denoiser) []float32 {
		out, err := dev.Alloc(c.batchShape())
		require.NoError(t, err)
		require.NoError(t, d.Apply(t.Context(), out, x))
		return downloaded(t, dev, out)
	}
	begin := func(c Config, sigma float64) []float32 {
		data := testData(t)
		data.Initial = f
		run, err := Create(dev, t.TempDir(), c, data)
		require.NoError(t, err)
		require.Equal(t, f.Checksum(), run.Config().Initial)
		n, err := run.trainer.network.denoiser(t.Context(), run.trainer.network.effective(), sigma)
		require.NoError(t, err)
		defer n.Free()
		require.NoError(t, run.Close())
		return result(n)
	}
	requireClose(t, result(loaded), begin(c, c.SigmaMax), 1e-5)
	heun := c
	heun.Integrator = "heun"
	m, err := denoise.FromFile(f)
	require.NoError(t, err)
	m.Integrator = rungekutta.Heun()
	other, err := denoise.New(t.Context(), dev, m, denoise.Certificate{})
	require.NoError(t, err)
	t.Cleanup(other.Free)
	requireClose(t, result(other), begin(heun, c.SigmaMax), 1e-5)
	levels := c
	levels.Levels = []float64{0.05, 0.1, 0.2}
	rescaled, err := denoise.Rescale(loaded, 0.07/c.SigmaMax)
	require.NoError(t, err)
	requireClose(t, result(rescaled), begin(levels, 0.07), 1e-5)

	// And from one with levels to one without.
	for _, group := range []int{0, 3} {
		whole := levels
		whole.Group = group
		r := create(t, dev, t.TempDir(), whole)
		require.NoError(t, r.Train(t.Context(), nil))
		path, _, err := r.Finish(t.Context(), testCard())
		require.NoError(t, err)
		require.NoError(t, r.Close())
		f, err = weights.ReadFile(path) // what begin begins with
		require.NoError(t, err)
		m, err := denoise.FromFile(f)
		require.NoError(t, err)
		c.SigmaMin, c.SigmaMax, c.Group = 0.08, 0.08, group
		m, err = m.At(0.08)
		require.NoError(t, err)
		at, err := denoise.New(t.Context(), dev, m, denoise.Certificate{})
		require.NoError(t, err)
		t.Cleanup(at.Free)
		requireClose(t, result(at), begin(c, 0.08), 1e-4)
	}

	for what, change := range map[string]func(c *Config){
		"another form": func(c *Config) { c.Blocks++ },
		"only averaged": func(c *Config) {
			*c = smallDnCNN()
		},
	} {
		bad := c
		change(&bad)
		data := testData(t)
		data.Initial = f
		_, err := Create(dev, t.TempDir(), bad, data)
		require.ErrorContains(t, err, what)
	}
}
