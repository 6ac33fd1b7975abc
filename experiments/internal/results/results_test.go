package results

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNothingIsComputedTwice(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	calls := 0
	compute := func() ([]float64, error) { calls++; return []float64{0.1, float64(calls)}, nil }
	for range 2 {
		r, err := Open(folder, "x.json", "one")
		require.NoError(t, err)
		v, err := r.Get(t.Context(), "n", compute)
		require.NoError(t, err)
		require.Equal(t, []float64{0.1, 1}, v)
	}
	r, err := Open(folder, "x.json", "two")
	require.NoError(t, err)
	v, err := r.Get(t.Context(), "n", compute)
	require.NoError(t, err)
	require.Equal(t, []float64{0.1, 2}, v, "of something else")

	wrong := errors.New("wrong")
	_, err = r.Get(t.Context(), "m", func() ([]float64, error) { return nil, wrong })
	require.ErrorIs(t, err, wrong)
	_, err = r.Get(t.Context(), "nan", func() ([]float64, error) { return []float64{math.NaN()}, nil })
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Get(ctx, "m", compute)
	require.ErrorIs(t, err, context.Canceled)
	_, err = r.Get(ctx, "n", compute)
	require.NoError(t, err, "what is there needs no time")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "x.json"), []byte("{"), 0o666))
	_, err = Open(folder, "x.json", "two")
	require.ErrorContains(t, err, "remove it")
}
