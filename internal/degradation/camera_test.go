package degradation

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/imagefile"
)

func grey(w, h int) *imagefile.Image {
	return &imagefile.Image{Width: w, Height: h, Channels: 3, Depth: 16, Pix: slices.Repeat([]float32{0.3}, 3*w*h)}
}

// A camera that makes its photograph smaller has no place for transparency, and takes opaque images.
func TestPhotograph(t *testing.T) {
	c := cameranoise.Typical()
	c.Resize = 2
	m := grey(16, 12)
	m.Alpha = slices.Repeat([]uint16{0xffff}, 16*12)
	clean, err := Photograph(m, c, 1, true)
	require.NoError(t, err)
	require.Equal(t, [2]int{8, 6}, [2]int{m.Width, m.Height})
	require.Len(t, clean.Pix, len(m.Pix))
	require.NotEqual(t, clean.Pix, m.Pix)
	require.Nil(t, m.Alpha)

	m = grey(16, 12)
	m.Alpha = make([]uint16, 16*12)
	_, err = Photograph(m, c, 1, true)
	require.ErrorIs(t, err, ErrTransparent)
	require.Equal(t, grey(16, 12).Pix, m.Pix)
}

// A mosaic has whole cells.
func TestRawPhotograph(t *testing.T) {
	photo, err := RawPhotograph(grey(9, 7), cameranoise.Typical(), 1)
	require.NoError(t, err)
	require.Equal(t, [3]int{8, 6, 48}, [3]int{photo.Width, photo.Height, len(photo.Pix)})
	_, err = RawPhotograph(grey(9, 1), cameranoise.Typical(), 1)
	require.ErrorContains(t, err, "at least 2×2 pixels, and not 9×1")
}
