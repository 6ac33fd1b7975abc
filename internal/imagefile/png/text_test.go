package png

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzRawProfile(f *testing.F) {
	f.Add([]byte("\nexif\n       3\n4d4d00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if raw, ok := rawProfile(text); ok {
			require.NotEmpty(t, raw)
			require.LessOrEqual(t, 2*len(raw), len(text))
		}
	})
}
