package restore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
)

// What is wrong with a value is found without an image, and is the same that a call says.
func TestValuesOfOptionsAreValidated(t *testing.T) {
	img := restore.NewPlanar(1, 8, 8)
	for _, c := range []struct {
		option restore.Option
		name   string
		text   string
	}{
		{restore.Sigma(0), "Sigma", "restore: Sigma 0: want a finite standard deviation above 0"},
		{restore.Sigma(math.NaN()), "Sigma", "Sigma NaN"},
		{restore.Sigma(math.Inf(1)), "Sigma", "Sigma +Inf"},
		{restore.Strength(0), "Strength", "Strength 0: want a number above 0, at most 1e+06"},
		{restore.Strength(1.1e6), "Strength", "at most 1e+06"},
		{restore.Strength(math.NaN()), "Strength", "Strength NaN"},
		{restore.Iterations(0), "Iterations", "Iterations 0: want 1 or more"},
		{restore.Tolerance(1), "Tolerance", "Tolerance 1: want a number between 0 and 1"},
		{restore.Tolerance(math.NaN()), "Tolerance", "Tolerance NaN"},
		{restore.StepSize(-1), "StepSize", "StepSize -1"},
		{restore.Contraction(1), "Contraction", "Contraction 1: want a number between 0 and 1, such as 0.98"},
		{restore.Threads(-1), "Threads", "Threads -1"},
		{restore.Tile(-1), "Tile", "Tile -1: want 1 to 1048576 pixels, or 0 for automatic"},
		{restore.Tile(1<<20 + 1), "Tile", "Tile 1048577"},
	} {
		err := restore.Validate(restore.Adaptation(true), nil, c.option)
		var wrong *restore.OptionError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, c.name, wrong.Option)
		require.ErrorContains(t, err, c.text)
		_, _, called := restore.Denoise(t.Context(), img, c.option)
		require.Equal(t, err.Error(), called.Error())
	}
	require.NoError(t, restore.Validate())
	require.NoError(t, restore.Validate(restore.Sigma(1e-9), restore.Strength(1e6), restore.Contraction(0.98), restore.Method("tv")))
	err := restore.Validate(restore.Method("bm3d"))
	require.ErrorIs(t, err, restore.ErrMethod)
	require.ErrorContains(t, err, "there is: general, ")
	require.NotContains(t, err.Error(), "ssprk3", "it has no weights")
}
