package metadata

import (
	"bytes"
	"slices"

	"github.com/averaged/imaging/internal/tiffdir"
)

// The notes of a camera's maker are in a format of the maker's own. Most have offsets that count from the beginning of EXIF,
// which is the beginning of the file in TIFF. So the notes are kept at the offset at which they were read: EXIF in JPEG, PNG
// and WebP is changed in place, a TIFF is written with EXIF in front of the pixels, and EXIF that is read from a TIFF leaves
// room in front of the notes.

// MakerNote returns the maker's notes among the nodes of EXIF, or nil if there are none that have offsets.
func MakerNote(nodes []tiffdir.Node) *tiffdir.Node {
	for i := range nodes {
		if nodes[i].Tag != tiffdir.TagEXIF {
			continue
		}
		for j := range nodes[i].Sub {
			const header = 8
			if n := &nodes[i].Sub[j]; n.Tag == tiffdir.TagMakerNote && len(n.Value) > 4 && n.At >= header {
				return n
			}
		}
	}
	return nil
}

// withoutMakerNote returns the nodes of EXIF without the maker's notes, and without directories that have nothing else.
func withoutMakerNote(nodes []tiffdir.Node) []tiffdir.Node {
	for i := range nodes {
		if nodes[i].Tag == tiffdir.TagEXIF {
			nodes[i].Sub = slices.DeleteFunc(nodes[i].Sub, func(n tiffdir.Node) bool { return n.Tag == tiffdir.TagMakerNote })
		}
	}
	return slices.DeleteFunc(nodes, func(n tiffdir.Node) bool { return n.Tag == tiffdir.TagEXIF && len(n.Sub) == 0 })
}

// relocatableNotes are beginnings of notes whose offsets count from the notes themselves
// (https://exiftool.org/makernote_types.html).
var relocatableNotes = [][]byte{
	[]byte("Apple iOS\x00"), []byte("FUJIFILM"), []byte("Nikon\x00\x02"), []byte("OLYMPUS\x00"), []byte("OM SYSTEM\x00"),
	[]byte("PENTAX \x00"), []byte("RICOH\x00II"), []byte("RICOH\x00MM"),
}

// relocatable tells whether notes can be read at any place.
func relocatable(note []byte) bool {
	return slices.ContainsFunc(relocatableNotes, func(mark []byte) bool { return bytes.HasPrefix(note, mark) })
}
