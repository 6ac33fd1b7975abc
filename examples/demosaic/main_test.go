package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/examples/internal/smallpicture"
)

func TestDemosaic(t *testing.T) {
	to := filepath.Join(t.TempDir(), "out.png")
	var said strings.Builder
	require.NoError(t, simulate(t.Context(), &said, smallpicture.Of(t, "scene.png"), to))
	require.Contains(t, said.String(), "converged: true, proven to converge: true\n")
	require.Regexp(t, `PSNR (2[89]|3\d)\.\d dB`, said.String())
	require.Equal(t, smallpicture.Size, smallpicture.SizeOf(t, to))
}
