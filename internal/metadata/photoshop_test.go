package metadata

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzPhotoshop(f *testing.F) {
	f.Add(append([]byte(photoshopMark), append(newResource(1028, []byte("caption")), newResource(1036, []byte("old"))...)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		none := func(n uint16) bool { return n == 1036 }
		kept := withoutResources(data, none)
		iptc := IPTCOfSegments([]Segment{{MarkerAPP13, data}})
		require.True(t, bytes.Contains(data, iptc))
		require.Equal(t, before, data)
		require.LessOrEqual(t, len(kept), len(data))
		require.Equal(t, kept, withoutResources(kept, none))
	})
}
