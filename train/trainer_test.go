package train

import (
	"testing"

	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
)

func newTestTrainer(t *testing.T, c Config) *trainer {
	state, err := newTrainer(processor(t), c, testPictures(t, c.Channels))
	require.NoError(t, err)
	t.Cleanup(state.release)
	require.NoError(t, state.initialise(nil))
	return state
}

func values(n network) (list []float32) {
	for _, p := range n.parameters() {
		list = append(list, p.values...)
	}
	return list
}

// TestIterations: each takes the next rate of the schedule and the next step of the
// optimiser.
func TestIterations(t *testing.T) {
	c := smallConfig()
	one, other := newTestTrainer(t, c), newTestTrainer(t, c)
	for i := range 3 {
		_, err := one.iterate(t.Context())
		require.NoError(t, err)
		r, err := other.differentiate(t.Context())
		require.NoError(t, err)
		require.NoError(t, other.optimiser.step(i, c.Schedule.Rate(i, c.Iterations), r.gradientNorm))
		require.NoError(t, other.network.update())
		require.Equal(t, values(other.network), values(one.network))
	}
	require.Equal(t, 3, one.iteration)
}

// TestAccumulation: the gradient is the mean over the batches of an iteration. That of one
// batch taken twice is that of the batch.
func TestAccumulation(t *testing.T) {
	var gradients [2][]float32
	var losses [2]float64
	for i := range 2 {
		c := smallConfig()
		c.Accumulate = 1 + i
		state := newTestTrainer(t, c)
		q := &devicequeue.Queue{Dev: state.dev}
		state.batch.draw(q, state.set, state.generator, 0)
		require.NoError(t, q.Err)
		require.NoError(t, state.network.zeroGradients())
		for range c.Accumulate {
			loss, err := state.pass(t.Context(), 1)
			require.NoError(t, err)
			losses[i] += loss
		}
		require.NoError(t, state.network.gradients())
		for _, p := range state.network.parameters() {
			gradients[i] = append(gradients[i], p.gradient...)
		}
	}
	require.InEpsilon(t, losses[0], losses[1], 1e-12)
	requireClose(t, gradients[0], gradients[1], 1e-6)
}

// TestAverage: it follows the weights, quickly in the beginning.
func TestAverage(t *testing.T) {
	c := smallConfig()
	c.AverageDecay = 0.5
	state := newTestTrainer(t, c)
	mean := state.network.effective()[0].values[0]
	require.Equal(t, mean, state.average[0].values[0])
	for i := range 12 {
		_, err := state.iterate(t.Context())
		require.NoError(t, err)
		d := min(0.5, float64(i+1)/float64(i+10))
		mean = float32(d*float64(mean) + (1-d)*float64(state.network.effective()[0].values[0]))
		require.InDelta(t, mean, state.average[0].values[0], 1e-6)
	}
	require.NotEqual(t, state.network.effective()[0].values[0], state.arrays()[0].values[0])
}
