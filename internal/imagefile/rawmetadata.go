package imagefile

import (
	"bytes"
	"io"

	"github.com/averaged/imaging/internal/tiffdir"
)

// settingsOfDevelopers is the namespace of XMP in which raw developers keep their settings. Some apply them to any file.
const settingsOfDevelopers = "http://ns.adobe.com/camera-raw-settings/1.0/"

// TakeMetadata gives an image that was developed from a raw photograph what the first directory of that file, a DNG, says:
// EXIF, IPTC, XMP and resolution. It turns the pixels as that says. Warnings get what is dropped.
func (m *Image) TakeMetadata(r io.ReaderAt, size int64) error {
	src := source{r, size, nil}
	t, first, err := tiffdir.Open(src)
	if err != nil {
		return malformedTIFF("%v", err)
	}
	fields, _, err := t.Directory(first)
	if err != nil {
		return malformedTIFF("%v", err)
	}
	if err := (&tiffDecoder{Tree: t, src: src, fields: fields}).readMetadata(m); err != nil {
		return err
	}
	m.Metadata.ICC = nil // which is that of a preview
	if bytes.Contains(m.Metadata.XMP, []byte(settingsOfDevelopers)) {
		m.Metadata.XMP = nil
		m.warn("XMP is dropped, because it has the settings of a raw developer")
	}
	m.orient(ReadOptions{})
	return nil
}
