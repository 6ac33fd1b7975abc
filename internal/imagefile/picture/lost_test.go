package picture

import (
	"fmt"
	"image"
	"testing"

	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLostRowsFollowTheOrientation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := metadata.Change{Orientation: rapid.IntRange(1, 8).Draw(t, "orientation")}
		m := New(rapid.IntRange(2, 9).Draw(t, "width"), rapid.IntRange(2, 9).Draw(t, "height"), 1, 8, true)
		m.Lose(0, rapid.IntRange(1, m.Height).Draw(t, "from"), 1)
		c.From = [2]int{m.Width, m.Height}
		c.To = c.Shown()
		m.applyOrientation(c)
		for i, v := range m.Pix {
			at := image.Pt(i%m.Width, i/m.Width)
			require.Equal(t, v == 0.5, at.In(m.Lost), fmt.Sprint(at))
			require.Equal(t, v == 0, at.In(m.Found()), fmt.Sprint(at))
		}
	})
}

func TestCodingIsTransposed(t *testing.T) {
	c := JPEGCoding{ChromaX: 2, ChromaY: 1}
	c.transpose()
	require.Equal(t, JPEGCoding{ChromaX: 1, ChromaY: 2}, c)
}
