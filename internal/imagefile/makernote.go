package imagefile

import (
	"bytes"
	"slices"
)

// The notes of a camera's maker are in a format of the maker's own. Most have offsets that count from the beginning of EXIF,
// which is the beginning of the file in TIFF. So the notes are kept at the offset at which they were read: EXIF in JPEG, PNG
// and WebP is changed in place, a TIFF is written with EXIF in front of the pixels, and EXIF that is read from a TIFF leaves
// room in front of the notes.

// makerNote returns the maker's notes among the nodes of EXIF, or nil if there are none that have offsets.
func makerNote(nodes []node) *node {
	for i := range nodes {
		if nodes[i].tag != tagEXIF {
			continue
		}
		for j := range nodes[i].sub {
			const header = 8
			if n := &nodes[i].sub[j]; n.tag == tagMakerNote && len(n.value) > 4 && n.at >= header {
				return n
			}
		}
	}
	return nil
}

// withoutMakerNote returns the nodes of EXIF without the maker's notes, and without directories that have nothing else.
func withoutMakerNote(nodes []node) []node {
	for i := range nodes {
		if nodes[i].tag == tagEXIF {
			nodes[i].sub = slices.DeleteFunc(nodes[i].sub, func(n node) bool { return n.tag == tagMakerNote })
		}
	}
	return slices.DeleteFunc(nodes, func(n node) bool { return n.tag == tagEXIF && len(n.sub) == 0 })
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
