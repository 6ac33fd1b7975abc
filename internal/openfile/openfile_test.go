package openfile

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	_, err := Open(t.Context(), path, os.O_RDONLY)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	f, err := Open(t.Context(), path, os.O_RDWR)
	require.NoError(t, err)
	got := make([]byte, 3)
	_, err = f.Read(got)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	_, err = f.WriteString("new")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Either may win when both are ready; what must not happen is neither.
	if f, err := Open(ctx, path, os.O_RDONLY); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	} else {
		require.NoError(t, f.Close())
	}
}
