package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/examples/internal/smallpicture"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/operator/operatortest"
)

func TestOwnOperator(t *testing.T) {
	to := filepath.Join(t.TempDir(), "out.png")
	var said strings.Builder
	require.NoError(t, simulate(t.Context(), &said, smallpicture.Of(t, "scene.png"), to))
	require.Equal(t, "84×112 samples, converged: true\nproven to converge: true\n", said.String())
	require.Equal(t, smallpicture.Size, smallpicture.SizeOf(t, to))
}

// What every operator of one's own should be tested for.
func TestItIsLinear(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	k, err := sums(10, 12).On(dev)
	require.NoError(t, err)
	require.NoError(t, operatortest.TestLinear(dev, k))
}
