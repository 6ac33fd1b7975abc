package imagefile

import (
	"bytes"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// Grey and colour are told apart, in a file and in a stream.
func TestNetpbmIsRead(t *testing.T) {
	for name, data := range imagetest.NetpbmFiles {
		t.Run(name, func(t *testing.T) {
			m := decode(t, []byte(data))
			if m.Channels == 1 {
				require.Equal(t, PGM, m.Format)
			} else {
				require.Equal(t, PPM, m.Format)
			}
			fromStream, err := Decode(t.Context(), bytes.NewReader([]byte(data)), ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, m.Pix, fromStream.Pix)
		})
	}
}

func TestNetpbmKeepsEverySample(t *testing.T) {
	for _, depth := range []int{8, 16} {
		for _, c := range []struct {
			format           Format
			channels, become int
			head             string
		}{{PGM, 1, 1, "P5\n"}, {PPM, 3, 3, "P6\n"}, {PNM, 1, 1, "P5\n"}, {PNM, 3, 3, "P6\n"}, {PPM, 1, 3, "P6\n"}} {
			for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {13, 7}} {
				m := imagetest.Random(size[0], size[1], c.channels, depth, false)
				data := encode(t, m, WriteOptions{Format: c.format})
				require.Equal(t, c.head, string(data[:3]))
				got := decode(t, data)
				require.Equal(t, depth, got.Depth)
				require.Equal(t, c.become, got.Channels)
				for k := range got.Channels {
					require.Equal(t, m.Plane(k%m.Channels), got.Plane(k))
				}
				require.Equal(t, c.become != c.channels, len(Losses(m, WriteOptions{Format: c.format})) == 1)
			}
		}
	}
	colour := imagetest.Random(3, 3, 3, 8, false)
	require.ErrorContains(t, CheckWrite(colour, WriteOptions{Format: PGM}), "PGM holds grey only, and the image has colours (use PPM)")
	colour.Metadata = metadata.Metadata{ICC: imagetest.Profile("RGB ", 200), XMP: []byte(imagetest.XMP), Resolution: metadata.Resolution{X: 72, Y: 72, Unit: metadata.Inch}}
	require.Equal(t, []string{"the colour profile", "XMP", "the resolution"}, Losses(colour, WriteOptions{Format: PPM}))
	require.Equal(t, []string{"float samples are clipped to [0,1] and rounded to 16 bits"}, Losses(imagetest.Random(3, 3, 3, 32, false), WriteOptions{Format: PPM}))
}
