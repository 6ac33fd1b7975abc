package imagefile

import (
	"io"

	"github.com/averaged/imaging/internal/imagefile/png"
)

// Strippable tells whether an image, with its samples and its size as they were read, can be
// written without metadata by leaving chunks out of its file: a PNG that is not turned.
func Strippable(m *Image, opt WriteOptions) bool {
	if !opt.DropMetadata || m.Turned() {
		return false
	}
	opt.DropMetadata = false
	return m.Format == PNG && Recoding(m, opt) == ""
}

// Stripped reads a PNG file without the chunks that samples do not need to look right, and
// without what follows its end. A palette and the coding of pixels stay.
func Stripped(r io.Reader) io.Reader { return png.Stripped(r) }
