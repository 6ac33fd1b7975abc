package imagefile

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

func TestTakeMetadata(t *testing.T) {
	page := imagetest.Smooth(8, 6, 3)
	page.Metadata = metadata.Metadata{EXIF: imagetest.EXIF(binary.LittleEndian, 6, 30, 20), XMP: []byte(imagetest.XMP), IPTC: []byte(testIPTC), ICC: imagetest.Profile("RGB ", 300)}
	for name, settings := range map[string]string{"plain": "", "with settings": `<a xmlns:crs="` + settingsOfDevelopers + `"/>`} {
		page.Metadata.XMP = append([]byte(imagetest.XMP), settings...)
		file := encode(t, page, WriteOptions{Format: TIFF})
		m := &Image{Width: 30, Height: 20, Channels: 3, Depth: 8, Format: PNG, Pix: make([]float32, 3*600)}
		m.Plane(0)[0] = 1
		require.NoError(t, TakeMetadata(m, bytes.NewReader(file), int64(len(file))))
		require.Equal(t, [2]int{20, 30}, [2]int{m.Width, m.Height})
		require.Equal(t, float32(1), m.Plane(0)[19], "its first column is its first row now")
		got := decode(t, encode(t, m, WriteOptions{Format: JPEG}))
		require.Equal(t, 1, orientationOf(t, got))
		require.Equal(t, [2]uint32{20, 30}, photoSize(t, got))
		require.Equal(t, testIPTC, string(got.Metadata.IPTC))
		require.Nil(t, got.Metadata.ICC)
		if settings == "" {
			require.Equal(t, imagetest.XMP, string(got.Metadata.XMP), name)
			require.Empty(t, m.Warnings)
		} else {
			require.Nil(t, got.Metadata.XMP)
			require.Equal(t, []string{"XMP is dropped, because it has the settings of a raw developer"}, m.Warnings)
		}
	}
	m := imagetest.Smooth(8, 6, 3)
	require.ErrorIs(t, TakeMetadata(m, bytes.NewReader(nil), 0), ErrMalformed)
}

func FuzzTakeMetadata(f *testing.F) {
	page := imagetest.Smooth(8, 6, 1)
	page.Metadata = metadata.Metadata{EXIF: imagetest.EXIF(binary.BigEndian, 6, 30, 20), XMP: []byte(imagetest.XMP), IPTC: []byte(testIPTC)}
	f.Add(encode(f, page, WriteOptions{Format: TIFF}))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := imagetest.Smooth(7, 5, 3)
		if err := TakeMetadata(m, bytes.NewReader(data), int64(len(data))); err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, format := range []Format{JPEG, PNG, TIFF} {
			got := decode(t, encode(t, m, WriteOptions{Format: format}))
			require.Equal(t, [2]int{m.Width, m.Height}, [2]int{got.Width, got.Height})
		}
	})
}
