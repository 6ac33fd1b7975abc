package bmp

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/metadata"
)

// Encode writes 8 bits with a grey palette, 24 bits, or, with alpha, 32 bits.
// The header is the plain one where that suffices, which every program reads,
// and V5 for alpha or a profile.
func Encode(w io.Writer, m *picture.Image) error {
	order := picture.LayoutBGR
	switch {
	case m.Alpha != nil && m.Channels == 1:
		order = picture.LayoutGreyRGBA
	case m.Alpha != nil:
		order = picture.LayoutBGRA
	case m.Channels == 1:
		order = picture.LayoutGrey
	}
	rowBytes := (int64(m.Width)*int64(len(order)) + 3) / 4 * 4
	h := headers(m, len(order)*8, rowBytes*int64(m.Height))
	if int64(len(h))+rowBytes*int64(m.Height)+int64(len(m.Metadata.ICC)) > math.MaxUint32 {
		return fmt.Errorf("%w: BMP of %d×%d would be larger than 4 GiB (use PNG)", format.ErrUnsupported, m.Width, m.Height)
	}
	if _, err := w.Write(h); err != nil {
		return err
	}
	row := make([]byte, rowBytes)
	for y := m.Height - 1; y >= 0; y-- {
		m.PackRow(row, y, 8, order, binary.LittleEndian)
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	_, err := w.Write(m.Metadata.ICC)
	return err
}

// headers returns the file header, the info header and the palette.
func headers(m *picture.Image, depth int, pixelBytes int64) []byte {
	le := binary.LittleEndian
	size, palette := infoHeader, 0
	if m.Alpha != nil || m.Metadata.ICC != nil {
		size = v5Header
	}
	if depth == 8 {
		palette = 256 * 4
	}
	start := fileHeader + size + palette
	h := make([]byte, start)
	copy(h, "BM")
	le.PutUint32(h[2:], uint32(int64(start)+pixelBytes+int64(len(m.Metadata.ICC))))
	le.PutUint32(h[10:], uint32(start))
	le.PutUint32(h[fileHeader:], uint32(size))
	le.PutUint32(h[18:], uint32(m.Width))
	le.PutUint32(h[22:], uint32(m.Height))
	le.PutUint16(h[26:], 1) // planes
	le.PutUint16(h[atDepth:], uint16(depth))
	le.PutUint32(h[34:], uint32(pixelBytes))
	if r, ok := m.Metadata.Resolution.In(metadata.Metre); ok {
		le.PutUint32(h[atDensity:], uint32(math.Round(min(r.X, math.MaxInt32))))
		le.PutUint32(h[atDensity+4:], uint32(math.Round(min(r.Y, math.MaxInt32))))
	}
	if size == v5Header {
		if m.Alpha != nil {
			le.PutUint32(h[atCompression:], bitFields)
			for i, mask := range []uint32{0xff0000, 0xff00, 0xff, 0xff000000} {
				le.PutUint32(h[atMasks+4*i:], mask)
			}
		}
		const srgb, pictures = 0x73524742, 4 // "sRGB", LCS_GM_IMAGES
		le.PutUint32(h[atColourSpace:], srgb)
		le.PutUint32(h[122:], pictures)
		if m.Metadata.ICC != nil {
			le.PutUint32(h[atColourSpace:], embedded)
			le.PutUint32(h[atProfile:], uint32(int64(start-fileHeader)+pixelBytes))
			le.PutUint32(h[atProfile+4:], uint32(len(m.Metadata.ICC)))
		}
	}
	for v := 0; v < palette/4; v++ {
		p := h[start-palette+4*v:]
		p[0], p[1], p[2] = byte(v), byte(v), byte(v)
	}
	return h
}
