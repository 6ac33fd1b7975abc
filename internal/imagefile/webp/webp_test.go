package webp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComponentsOfVP8(t *testing.T) {
	for luma, want := range map[byte]byte{0: 0, 16: 0, 235: 255, 255: 255, 126: 128} {
		r, g, b := toRGB(luma, 128, 128)
		require.Equal(t, []byte{want, want, want}, []byte{r, g, b}, luma)
	}
}
