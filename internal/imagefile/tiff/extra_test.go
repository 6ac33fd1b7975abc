package tiff

import (
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

func TestFurtherChannels(t *testing.T) {
	m := decode(t, imagetest.FiveSamplesTIFF())
	require.Equal(t, []string{"channels besides colour and alpha are dropped: 1"}, m.Warnings)
	for i := range 16 {
		require.Equal(t, [3]float32{samples.Unit8[10+i], samples.Unit8[50+i], samples.Unit8[90+i]}, [3]float32{m.Plane(0)[i], m.Plane(1)[i], m.Plane(2)[i]})
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
	require.Equal(t, samples.Unit8[raw[4]], m.Plane(1)[1])
}

func TestDifferencesOfFloats(t *testing.T) {
	for _, bits := range []int{16, 32, 64} {
		file, values := imagetest.DifferencesTIFF(bits)
		require.Equal(t, values, decode(t, file).Pix, "%d bits", bits)
	}
}
