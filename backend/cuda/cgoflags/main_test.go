package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of this module.
func root(t *testing.T) string {
	r, err := filepath.Abs("../../..")
	require.NoError(t, err)
	return r
}

// user makes a module that requires this one, which is at a path.
func user(t *testing.T, at string) (folder string) {
	folder = t.TempDir()
	mod := fmt.Sprintf("module example.org/user\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, at)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte(mod), 0o600))
	return folder
}

func TestFlagsHaveTheHeader(t *testing.T) {
	t.Setenv("CGO_CFLAGS", "-O1")
	t.Setenv("GOFLAGS", "")
	want := "-O1 -I" + filepath.Join(root(t), filepath.FromSlash(header))
	for _, folder := range []string{".", user(t, root(t))} {
		got, err := flags(folder)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	t.Setenv("CGO_CFLAGS", want)
	got, err := flags(".")
	require.NoError(t, err)
	require.Equal(t, want, got, "once is enough")
}

func TestFlagsQuoteSpaces(t *testing.T) {
	t.Setenv("CGO_CFLAGS", "-O1")
	at := filepath.Join(t.TempDir(), "of mine")
	folder := filepath.Join(at, filepath.FromSlash(header))
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(at, "go.mod"), []byte("module "+module+"\n\ngo 1.26\n"), 0o600))
	_, err := flags(user(t, at))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cuda.h"), nil, 0o600))
	got, err := flags(user(t, at))
	require.NoError(t, err)
	require.Equal(t, "-O1 '-I"+folder+"'", got)
}

func TestFlagsOutsideAModule(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	_, err := flags(t.TempDir())
	require.ErrorContains(t, err, "go list")
	require.NotContains(t, strings.TrimSpace(err.Error()), "exit status")
}
