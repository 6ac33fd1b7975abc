package pnm

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decode reads a file of grey, P2 or P5, or of colours, P3 or P6.
func decode(t require.TestingT, data []byte) *picture.Image {
	f := format.PGM
	if data[1] == '3' || data[1] == '6' {
		f = format.PPM
	}
	m, err := Decode(source.File(context.Background(), bytes.NewReader(data), int64(len(data)), 0), f)
	require.NoError(t, err)
	require.NoError(t, m.Validate())
	return m
}

func TestNetpbmIsRead(t *testing.T) {
	for name, data := range imagetest.NetpbmFiles {
		t.Run(name, func(t *testing.T) {
			m := decode(t, []byte(data))
			var got []float32
			for y := range m.Height {
				for x := range m.Width {
					for c := range m.Channels {
						got = append(got, m.Plane(c)[y*m.Width+x])
					}
				}
			}
			require.Equal(t, []float32{0, samples.Unit8[1], samples.Unit8[2], samples.Unit8[128], samples.Unit8[254], 1}, got)
			require.Equal(t, map[bool]int{false: 8, true: 16}[name[2:] == " of 16 bits"], m.Depth)
			if name == "P6 of two in turn" {
				require.Equal(t, []string{"only the first picture in the file is read"}, m.Warnings)
			} else {
				require.Empty(t, m.Warnings)
			}
		})
	}
}

// Any largest value is white, and nothing is lost of its levels.
func TestNetpbmOfAnyLargestValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maximum := rapid.IntRange(1, largest).Draw(t, "maximum")
		v := rapid.IntRange(0, maximum).Draw(t, "value")
		m := decode(t, fmt.Appendf(nil, "P2 2 1 %d %d %d\n", maximum, v, maximum))
		require.Equal(t, []float32{float32(v) / float32(maximum), 1}, m.Pix)
		var b bytes.Buffer
		require.NoError(t, Encode(&b, m, m.Depth, false))
		again := decode(t, b.Bytes())
		require.EqualValues(t, v, int(again.Pix[0]*float32(maximum)+0.5))
	})
}
