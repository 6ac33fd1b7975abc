package imagefile

import (
	"bytes"
	"fmt"
)

// A multi-picture file (CIPA DC-007) is a JPEG that has further ones behind it: the other eye of
// a stereo pair, the parts of a panorama, a map of depths or of highlights, or a larger preview.
// Its first picture says so in a segment with an index of all of them.

const (
	multiPictureMark = "MPF\x00"
	tagPictures      = 0xb002 // 16 bytes for each picture, its kind in the first four
	pictureEntry     = 16
	pictureKind      = 0xffffff
	// Previews of the first picture, as the thumbnail in EXIF is one.
	kindPreviewVGA    = 0x010001
	kindPreviewFullHD = 0x010002
)

// readOtherPictures warns if data, of a segment APP2, is the index of more pictures than one.
// Previews do not count. An index that cannot be read says nothing.
func (p *jpegParts) readOtherPictures(data []byte) {
	index, ok := bytes.CutPrefix(data, []byte(multiPictureMark))
	if !ok {
		return
	}
	tree, first, err := openTree(source{bytes.NewReader(index), int64(len(index)), nil})
	if err != nil {
		return
	}
	fields, _, err := tree.directory(first)
	if err != nil {
		return
	}
	f, ok := find(fields, tagPictures)
	if !ok {
		return
	}
	entries, err := tree.src.bytes(f.value, f.size)
	if err != nil {
		return
	}
	others := -1 // the first picture is read
	for ; len(entries) >= pictureEntry; entries = entries[pictureEntry:] {
		if kind := tree.order.Uint32(entries) & pictureKind; kind != kindPreviewVGA && kind != kindPreviewFullHD {
			others++
		}
	}
	if others > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("only the first of %d pictures in the file (MPO) is read, the rest is dropped", others+1))
	}
}
