package inventory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
)

// Every method is named with what it is the default of, and every network with what is proven of it.
func TestInventory(t *testing.T) {
	all, err := Take(t.Context())
	require.NoError(t, err)
	text := strings.Join(all.Lines(), "\n")
	require.Len(t, all.Methods, len(restore.Methods()))
	for _, m := range all.Methods {
		require.Contains(t, text, "method    "+m.Name+": ")
		require.Equal(t, m.Embedded || m.NeedsWeights, len(m.Certificate) == 0, m.Name)
	}
	for _, w := range all.Weights {
		require.NotEmpty(t, w.Certificate)
		require.Contains(t, text, w.Checksum)
	}
	require.Contains(t, text, "; the default")
	require.NotEmpty(t, all.Devices)
}
