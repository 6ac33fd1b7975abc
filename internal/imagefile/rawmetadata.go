package imagefile

import (
	"bytes"
	"context"
	"io"

	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/imagefile/tiff"
)

// settingsOfDevelopers is the namespace of XMP in which raw developers keep their settings. Some apply them to any file.
const settingsOfDevelopers = "http://ns.adobe.com/camera-raw-settings/1.0/"

// TakeMetadata gives an image that was developed from a raw photograph what the first directory of that file, a DNG, says:
// EXIF, IPTC, XMP and resolution. It turns the pixels as that says. Warnings get what is dropped.
func TakeMetadata(m *Image, r io.ReaderAt, size int64) error {
	if err := tiff.TakeMetadata(m, source.File(context.Background(), r, size, 0)); err != nil {
		return err
	}
	m.Metadata.ICC = nil // which is that of a preview
	if bytes.Contains(m.Metadata.XMP, []byte(settingsOfDevelopers)) {
		m.Metadata.XMP = nil
		m.Warn("XMP is dropped, because it has the settings of a raw developer")
	}
	m.Orient(false, false)
	return nil
}
