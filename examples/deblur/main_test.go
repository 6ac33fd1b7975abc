package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/examples/internal/smallpicture"
)

func TestDeblur(t *testing.T) {
	from, to := smallpicture.Of(t, "readme/blurred.png"), filepath.Join(t.TempDir(), "out.png")
	var said strings.Builder
	require.NoError(t, sharpen(t.Context(), &said, "../../testdata/readme/kernel.png", from, to))
	require.Contains(t, said.String(), "converged: true, noise 0.0")
	require.Contains(t, said.String(), "fixed point    exists: ")
	require.Equal(t, smallpicture.Size, smallpicture.SizeOf(t, to))

	require.ErrorContains(t, sharpen(t.Context(), &said, "main.go", from, to), "main.go: ")
}
