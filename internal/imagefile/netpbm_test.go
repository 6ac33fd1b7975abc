package imagefile

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// netpbmFiles are two rows of three samples, or three rows of one, in the ways to write them.
var netpbmFiles = map[string]string{
	"P5":                "P5 3 2 255\n\x00\x01\x02\x80\xfe\xff",
	"P5 with comments":  "P5# one\n#two\r3\t# three\n2\f255\n\x00\x01\x02\x80\xfe\xff",
	"P5 with CR LF":     "P5\r\n3 2\r\n255\r\n\x00\x01\x02\x80\xfe\xff",
	"P2":                "P2\n3 2\n255\n0 1 2\n128 # half\n254 255",
	"P6 of one column":  "P6\n1 2\n255\n\x00\x01\x02\x80\xfe\xff",
	"P3 of one column":  "P3\n1 2\n255\n  0 1 2 128 254 255\n",
	"P5 of 16 bits":     "P5 3 2 65535\n\x00\x00\x01\x01\x02\x02\x80\x80\xfe\xfe\xff\xff",
	"P2 of 16 bits":     "P2 3 2 65535 0 257 514 32896 65278 65535 ",
	"P6 of two in turn": "P6 1 2 255\n\x00\x01\x02\x80\xfe\xffP6 1 2 255\n\x00\x01\x02\x80\xfe\xff",
}

func TestNetpbmIsRead(t *testing.T) {
	for name, data := range netpbmFiles {
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
			if m.Channels == 1 {
				require.Equal(t, PGM, m.Format)
			} else {
				require.Equal(t, PPM, m.Format)
			}
			if name == "P6 of two in turn" {
				require.Equal(t, []string{"only the first picture in the file is read"}, m.Warnings)
			} else {
				require.Empty(t, m.Warnings)
			}
			fromStream, err := Decode(t.Context(), bytes.NewReader([]byte(data)), ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, m.Pix, fromStream.Pix)
		})
	}
}

// Any largest value is white, and nothing is lost of its levels.
func TestNetpbmOfAnyLargestValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maximum := rapid.IntRange(1, 65535).Draw(t, "maximum")
		v := rapid.IntRange(0, maximum).Draw(t, "value")
		m, err := Decode(t.Context(), bytes.NewReader(fmt.Appendf(nil, "P2 2 1 %d %d %d\n", maximum, v, maximum)), ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, []float32{float32(v) / float32(maximum), 1}, m.Pix)
		var b bytes.Buffer
		require.NoError(t, Encode(t.Context(), &b, m, WriteOptions{}))
		again, err := Decode(t.Context(), &b, ReadOptions{})
		require.NoError(t, err)
		require.EqualValues(t, v, int(again.Pix[0]*float32(maximum)+0.5))
	})
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
