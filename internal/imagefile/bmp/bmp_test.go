package bmp

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/stretchr/testify/require"
)

// What a palette leaves out is black, as most programs show it.
func TestIndexOutsideAPaletteIsBlack(t *testing.T) {
	data := imagetest.File(t, "g1.bmp")
	whole := decode(t, data)
	binary.LittleEndian.PutUint32(data[atColoursUsed:], 1)
	first := data[fileHeader+infoHeader] // of the palette: blue
	m := decode(t, data)
	require.Equal(t, whole.Width, m.Width)
	for i, v := range m.Pix[:m.Width*m.Height] {
		if samples.Quantise(whole.Pix[i], 255) == uint32(first) {
			require.Equal(t, whole.Pix[i], v)
		} else {
			require.Zero(t, v)
		}
	}
}

// A negative height says that the top row comes first, also where runs are packed.
func TestRunsFromTheTop(t *testing.T) {
	data := imagetest.File(t, "rle8.bmp")
	want := decode(t, data)
	binary.LittleEndian.PutUint32(data[22:], -binary.LittleEndian.Uint32(data[22:]))
	got := decode(t, data)
	for y := range want.Height {
		row := want.Pix[y*want.Width:][:want.Width]
		require.True(t, slices.Equal(row, got.Pix[(want.Height-1-y)*want.Width:][:want.Width]), "row %d", y)
	}
}

// decode reads a file that is whole.
var _, decode = imagetest.Reading(Decode)
