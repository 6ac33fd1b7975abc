package imagefile

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/tiff"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// noteOf returns the maker's notes of EXIF or of a TIFF, and their offset.
func noteOf(t *testing.T, data []byte) (string, int64) {
	t.Helper()
	f, found := tiffdir.Find(openEXIF(t, data).photo, tiffdir.TagMakerNote)
	if !found {
		return "", 0
	}
	return string(data[f.Value : f.Value+f.Size]), f.Value
}

func TestMakerNotesStayInTheirPlace(t *testing.T) {
	for _, order := range []tiffdir.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		m := imagetest.Smooth(40, 30, 3)
		m.Metadata.EXIF = imagetest.EXIF(order, 6, 30, 40)
		want, at := noteOf(t, m.Metadata.EXIF)
		require.Equal(t, "maker note", want)
		for _, formats := range [][]Format{{TIFF}, {JPEG, TIFF, TIFF}, {TIFF, PNG, TIFF}, {PNG, TIFF, JPEG}} {
			got := m
			for _, f := range formats {
				written := encode(t, got, WriteOptions{Format: f})
				require.Empty(t, Losses(got, WriteOptions{Format: f}))
				if f == TIFF {
					note, place := noteOf(t, written)
					require.Equal(t, want, note, formats)
					require.Equal(t, at, place, formats)
				}
				got = decode(t, written)
				require.Empty(t, got.Warnings)
				note, place := noteOf(t, got.Metadata.EXIF)
				require.Equal(t, want, note, formats)
				require.Equal(t, at, place, formats)
			}
		}
	}
}

// Behind the pixels of a TIFF, notes have an offset that no EXIF in JPEG has.
func TestMakerNotesFarBehind(t *testing.T) {
	for note, kept := range map[string]bool{"maker note": false, "Nikon\x00\x02\x10\x00\x00": true, "Apple iOS\x00\x00\x01MM": true} {
		for _, far := range []int{40000, 65500, 1 << 20} {
			order := tiffdir.ByteOrder(binary.LittleEndian)
			nodes := []tiffdir.Node{
				{Tag: 0x010f, Kind: tiffdir.ASCII, Count: 6, Value: []byte("Maker\x00")},
				{Tag: tiffdir.TagEXIF, Kind: tiffdir.Long, Count: 1, Sub: []tiffdir.Node{
					{Tag: tiffdir.TagMakerNote, Kind: tiffdir.Undefined, Count: uint32(len(note)), Value: []byte(note)},
				}},
			}
			var page bytes.Buffer
			m := imagetest.Smooth(8, 8, 3)
			require.NoError(t, tiff.Encode(t.Context(), &page, m, 8, 0))
			data := append(page.Bytes(), make([]byte, far-page.Len())...)
			tags := tiffdir.Builder{Order: order, Nodes: nodes}
			e := openEXIF(t, data)
			budget := int64(1 << 20)
			tags.Nodes = append(tags.Nodes, e.Collect(e.main, func(uint16) bool { return true }, 2, &budget)...)
			order.PutUint32(data[4:], uint32(far))
			data = tiffdir.AppendDirectory(data, 0, order, tags.Nodes)
			got := decode(t, data)
			at, place := noteOf(t, got.Metadata.EXIF)
			switch {
			case far < 60000:
				require.Equal(t, note, at)
				_, old := noteOf(t, data)
				require.Equal(t, old, place)
			case kept:
				require.Equal(t, note, at)
				require.Less(t, len(got.Metadata.EXIF), 200)
			default:
				require.Empty(t, at)
				require.Equal(t, []string{"the notes of the camera's maker are dropped: they can be read only where they are in the file"}, got.Warnings)
			}
			if far > 60000 && kept {
				require.Empty(t, got.Warnings)
			}
			require.Equal(t, m.Pix, got.Pix)
			require.LessOrEqual(t, len(got.Metadata.EXIF), metadata.MaxJPEGEXIF)
		}
	}
}
