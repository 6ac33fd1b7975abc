package imagefile

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// fiveSamplesTIFF has pixels of red, green, blue, a spot colour and alpha, as Photoshop writes them.
func fiveSamplesTIFF() []byte {
	var raw []byte
	for i := range 16 {
		raw = append(raw, byte(10+i), byte(50+i), byte(90+i), 77, byte(200+i))
	}
	t := tiffdir.Builder{Order: binary.LittleEndian}
	t.Longs(tiffdir.TagImageWidth, 4)
	t.Longs(tiffdir.TagImageLength, 4)
	t.Shorts(tiffdir.TagBitsPerSample, 8, 8, 8, 8, 8)
	t.Shorts(tiffdir.TagPhotometric, photometricRGB)
	t.Shorts(tiffdir.TagSamplesPerPixel, 5)
	t.Longs(tiffdir.TagStripOffsets, 8)
	t.Longs(tiffdir.TagStripByteCounts, uint32(len(raw)))
	t.Shorts(tagExtraSamples, extraUnspecified, extraUnassociated)
	head := []byte("II*\x00\x00\x00\x00\x00")
	t.Order.PutUint32(head[4:], uint32(8+len(raw)))
	return append(append(head, raw...), tiffdir.AppendDirectory(nil, uint32(8+len(raw)), t.Order, t.Nodes)...)
}

func TestFurtherChannels(t *testing.T) {
	m := decode(t, fiveSamplesTIFF())
	require.Equal(t, []string{"channels besides colour and alpha are dropped: 1"}, m.Warnings)
	for i := range 16 {
		require.Equal(t, [3]float32{unit8[10+i], unit8[50+i], unit8[90+i]}, [3]float32{m.Plane(0)[i], m.Plane(1)[i], m.Plane(2)[i]})
		require.EqualValues(t, 257*(200+i), m.Alpha[i])
	}
}

func TestThreeSamplesWithoutAColourModel(t *testing.T) {
	raw := make([]byte, 48)
	for i := range raw {
		raw[i] = byte(5 * i)
	}
	tags := tiffdir.Builder{Order: binary.LittleEndian}
	tags.Longs(tiffdir.TagImageWidth, 4)
	tags.Longs(tiffdir.TagImageLength, 4)
	tags.Shorts(tiffdir.TagBitsPerSample, 8, 8, 8)
	tags.Shorts(tiffdir.TagSamplesPerPixel, 3)
	tags.Longs(tiffdir.TagStripOffsets, 8)
	file := append([]byte("II*\x00\x38\x00\x00\x00"), raw...)
	m := decode(t, append(file, tiffdir.AppendDirectory(nil, uint32(len(file)), tags.Order, tags.Nodes)...))
	require.Equal(t, []string{"no colour model is stated: its three samples are taken for RGB"}, m.Warnings)
	require.Equal(t, unit8[raw[4]], m.Plane(1)[1])
}

// differencesTIFF has floats whose bits are differences, as GDAL writes them.
func differencesTIFF(bits int) (file []byte, values []float32) {
	var raw []byte
	le := binary.LittleEndian
	for range 4 {
		var before uint64
		for x := range 4 {
			v := float32(1.5 + float32(x)/4 + float32(len(values)))
			values = append(values, v)
			code := uint64(math.Float32bits(v))
			switch bits {
			case 16: // a half float: the exponent has another bias, and 10 bits follow it
				code = code>>13&0x3ff | (code>>23-127+15)<<10
			case 64:
				code = math.Float64bits(float64(v))
			}
			b := le.AppendUint64(nil, code-before)
			raw = append(raw, b[:bits/8]...)
			before = code
		}
	}
	return tiffOf(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: uint32(bits), tiffdir.TagSampleFormat: formatFloat, tiffdir.TagPredictor: predictorHorizontal}), values
}

func TestDifferencesOfFloats(t *testing.T) {
	for _, bits := range []int{16, 32, 64} {
		file, values := differencesTIFF(bits)
		require.Equal(t, values, decode(t, file).Pix, "%d bits", bits)
	}
}
