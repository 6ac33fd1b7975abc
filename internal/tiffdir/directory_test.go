package tiffdir

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIntegersOfEightBytes become integers of four in EXIF, if they fit.
func TestIntegersOfEightBytes(t *testing.T) {
	raw := []byte{1, 2, 3, 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}
	tree := Tree{src: Memory(raw), Order: binary.LittleEndian, Big: true}
	n, ok := tree.narrow(Field{Tag: 7, Kind: Long8, Count: 2, Size: 16})
	require.True(t, ok)
	require.Equal(t, Node{Tag: 7, Kind: Long, Count: 2, Value: []byte{1, 2, 3, 4, 5, 0, 0, 0}}, n)
	raw[5] = 1
	_, ok = tree.narrow(Field{Tag: 7, Kind: Long8, Count: 2, Size: 16})
	require.False(t, ok)
}
