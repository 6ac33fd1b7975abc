package restore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// Parts of the still life, which has one blur, find much the same kernel from the true one on.
func TestEstimateGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long in portable Go; deblur/estimate has short tests, and the run without -short has this one")
	}
	img, k := shaken()
	g, err := restore.EstimateGrid(t.Context(), img, k, 1, 2)
	require.NoError(t, err)
	require.NoError(t, g.Check())
	for _, part := range g.Kernels {
		require.Less(t, kernelError(part, k), 0.5)
	}
	_, err = restore.EstimateGrid(t.Context(), img, k, 1, 2, restore.Strength(2))
	require.ErrorContains(t, err, "Strength")
	_, err = restore.EstimateGrid(t.Context(), img, deblur.Kernel{}, 1, 2)
	require.Error(t, err)
	_, err = restore.EstimateGrid(t.Context(), img, k, 99, 2)
	require.ErrorContains(t, err, "want 1 to 32")
}
