package kernelimage

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
)

// A kernel in an alpha channel is taken from there if what is visible has one colour, whatever the rest has.
func TestAlpha(t *testing.T) {
	hidden := func() *imagefile.Image {
		m := &imagefile.Image{Width: 3, Height: 3, Channels: 3, Depth: 8, Pix: make([]float32, 27), Alpha: []uint16{0, 0, 0, 0, 10, 20, 0, 0, 0}}
		for c := range 3 {
			m.Plane(c)[4], m.Plane(c)[5] = 1, 1
		}
		return m
	}
	k, notes, err := Kernel(hidden())
	require.NoError(t, err)
	require.Equal(t, []string{"its visible part has one colour, so the kernel is taken from its alpha channel"}, notes)
	require.InDelta(t, 2./3, slices.Max(k.Weights), 1e-6)

	coloured := hidden()
	coloured.Plane(2)[4] = 0.5
	k, notes, err = Kernel(coloured)
	require.NoError(t, err)
	require.Empty(t, notes)
	require.InDelta(t, 3/5.5, slices.Max(k.Weights), 1e-6)
}
