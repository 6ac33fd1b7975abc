package train

import (
	"context"
	"testing"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/stretchr/testify/require"
)

// TestRangeTest: the rate that it finds is one at which training goes on, and lies below
// those at which it does not.
func TestRangeTest(t *testing.T) {
	dev := processor(t)
	c := smallConfig()
	c.Optimiser = Optimiser{Name: SGD, Momentum: 0.9}
	c.Constraint = Adaptive
	set := testPictures(t, 3)
	r, err := RangeTest(t.Context(), dev, c, set, 1e-3, 1e3, 150)
	require.NoError(t, err)
	require.True(t, r.Diverged)
	require.Less(t, len(r.Points), 150)
	require.InEpsilon(t, 1e-3, r.Points[0].LearningRate, 1e-9)
	last := r.Points[len(r.Points)-1]
	require.Less(t, r.Maximum, last.LearningRate)
	require.Greater(t, r.Maximum, 1e-3)
	require.Equal(t, r.Maximum/10, r.Minimum)

	at := func(rate float64) (*Run, error) {
		c.Schedule, c.Iterations = Schedule{Name: PiecewiseLinear, Minimum: rate / 10, Maximum: rate}, 30
		run, err := Create(dev, t.TempDir(), c, Data{Training: set})
		require.NoError(t, err)
		return run, run.Train(t.Context(), nil)
	}
	run, err := at(r.Maximum / 2)
	require.NoError(t, err)
	require.NoError(t, run.Close())
	run, err = at(last.LearningRate * 100)
	require.Error(t, err)
	require.NoError(t, run.Close())

	_, err = RangeTest(t.Context(), dev, c, set, 1e20, 1e25, 10)
	require.ErrorContains(t, err, "begin with a smaller one")
	_, err = RangeTest(t.Context(), dev, c, set, 0, 1, 10)
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = RangeTest(ctx, dev, c, set, 1e-3, 1, 10)
	require.ErrorIs(t, err, context.Canceled)
	_, err = RangeTest(t.Context(), processor(t, cpu.MemoryLimit(1<<10)), c, set, 1e-3, 1, 10)
	require.Error(t, err)
}

// The context is looked at before the first iteration, and before a network is made.
func TestRangeTestStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := RangeTest(ctx, processor(t), smallConfig(), testPictures(t, 3), 1e-3, 1, 5)
	require.ErrorIs(t, err, context.Canceled)
	tr, err := newTrainer(processor(t), smallConfig(), testPictures(t, 3))
	require.NoError(t, err)
	defer tr.release()
	before := tr.generator.clone()
	_, err = tr.iterate(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, tr.generator)
}
