package kernelimage

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
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

// Images of kernels are read as the same kernels, exactly from floating point.
func TestImagesOfKernels(t *testing.T) {
	k, err := deblur.Motion(7, 20)
	require.NoError(t, err)
	for format, within := range map[imagefile.Format]float64{imagefile.PNG: 1e-4, imagefile.PFM: 1e-7} {
		m, err := Of(k, format)
		require.NoError(t, err)
		again, _, err := Kernel(m)
		require.NoError(t, err)
		require.InDeltaSlice(t, k.Weights, again.Weights, within)

		m, err = Sheet(deblur.Grid{Rows: 1, Columns: 2, Kernels: []deblur.Kernel{k, k}}, format)
		require.NoError(t, err)
		require.Equal(t, 2*m.Height, m.Width)
		g, _, err := Grid(m, 1, 2)
		require.NoError(t, err)
		require.Len(t, g.Kernels, 2)
	}
}
