package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/examples/internal/smallpicture"
)

func TestBatch(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.png")
	require.NoError(t, os.WriteFile(broken, []byte("no picture"), 0o666))
	names := []string{
		filepath.Join(dir, "missing.png"), broken,
		smallpicture.Of(t, "readme/noisy.png"), smallpicture.Of(t, "readme/blurred.png"), smallpicture.Of(t, "readme/noisy.png"),
	}
	var said strings.Builder
	failed, err := denoiseAll(t.Context(), &said, filepath.Join(dir, "out"), names)
	require.NoError(t, err)
	require.Equal(t, 3, failed, said.String())
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	require.Len(t, lines, 5)
	require.Equal(t, []string{"missing.png: no such picture", "broken.png: image: unknown format"}, lines[:2])
	require.Equal(t, "noisy.png: there is a result already", lines[4])
	for i, name := range []string{"noisy.png", "blurred.png"} {
		require.Regexp(t, `^`+name+`: noise 0\.\d{3}, proven to be averaged: true$`, lines[2+i])
		require.Equal(t, smallpicture.Size, smallpicture.SizeOf(t, filepath.Join(dir, "out", name)))
	}
}
