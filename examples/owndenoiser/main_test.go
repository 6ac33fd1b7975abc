package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/examples/internal/smallpicture"
	"github.com/averaged/imaging/restore"
)

func TestOwnDenoiser(t *testing.T) {
	to := filepath.Join(t.TempDir(), "out.png")
	var said strings.Builder
	require.NoError(t, enlarge(t.Context(), &said, smallpicture.Of(t, "readme/noisy.png"), to))
	require.Equal(t, "(112,84) by prior\n4 iterations, proven to converge: false\n", said.String())
	require.Equal(t, smallpicture.Size.Mul(2), smallpicture.SizeOf(t, to))
}

func TestMedian(t *testing.T) {
	src, dst := restore.NewPlanar(1, 3, 3), restore.NewPlanar(1, 3, 3)
	copy(src.Pix, []float32{9, 1, 8, 2, 7, 3, 6, 4, 5})
	require.NoError(t, median(t.Context(), dst, src))
	require.EqualValues(t, 5, dst.Pix[4])
	require.EqualValues(t, 7, dst.Pix[0], "the upper one of 1, 2, 7, 9")
}
