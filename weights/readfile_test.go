package weights_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
)

// A file is what its bytes are; one that is not there or no weight file is named.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.safetensors")
	_, err := weights.ReadFile(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, path)

	want, _ := open(t, weights.Small)
	b, err := want.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	got, err := weights.ReadFile(path)
	require.NoError(t, err)
	require.True(t, want.Equal(got))

	require.NoError(t, os.WriteFile(path, b[:len(b)-1], 0o600))
	_, err = weights.ReadFile(path)
	require.ErrorIs(t, err, weights.ErrMalformed)
	require.ErrorContains(t, err, path)
}
