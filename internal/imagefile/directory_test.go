package imagefile

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIntegersOfEightBytes become integers of four in EXIF, if they fit.
func TestIntegersOfEightBytes(t *testing.T) {
	raw := []byte{1, 2, 3, 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}
	tree := tiffTree{src: memory(raw), order: binary.LittleEndian, big: true}
	n, ok := tree.narrow(field{tag: 7, kind: typeLong8, count: 2, size: 16})
	require.True(t, ok)
	require.Equal(t, node{tag: 7, kind: typeLong, count: 2, value: []byte{1, 2, 3, 4, 5, 0, 0, 0}}, n)
	raw[5] = 1
	_, ok = tree.narrow(field{tag: 7, kind: typeLong8, count: 2, size: 16})
	require.False(t, ok)
}
