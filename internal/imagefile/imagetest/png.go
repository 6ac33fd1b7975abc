package imagetest

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Chunk returns a PNG chunk.
func Chunk(name string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// PNGHeader returns the beginning of a PNG.
func PNGHeader(width, height uint32, depth, colour byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, width)
	b = binary.BigEndian.AppendUint32(b, height)
	return append([]byte("\x89PNG\r\n\x1a\n"), Chunk("IHDR", append(b, depth, colour, 0, 0, 0))...)
}

// MalformedPNG is a PNG of one grey pixel whose chunks of gamma, primaries and texts are empty or
// there twice.
func MalformedPNG() []byte {
	return slices.Concat(PNGHeader(1, 1, 8, 0),
		Chunk("cHRM", nil), Chunk("gAMA", []byte{0, 0, 0xb1, 0x8f}), Chunk("gAMA", nil), Chunk("gAMA", []byte{0, 1, 0, 0}),
		Chunk("sRGB", []byte{0, 0}), Chunk("tEXt", nil), Chunk("zTXt", []byte("\x00text")), Chunk("tEXt", []byte("Title\x00kept")),
		Chunk("IDAT", []byte{0x78, 0x01, 0x01, 2, 0, 0xfd, 0xff, 0, 128, 0, 0x82, 0, 0x81}), Chunk("IEND", nil))
}
