// Package segment writes segments of JPEG.
package segment

import (
	"encoding/binary"

	"github.com/averaged/imaging/internal/metadata"
)

// The markers of JPEG that are looked at (ISO/IEC 10918-1, table B.1).
const (
	SOF0  = 0xc0 // baseline
	SOF1  = 0xc1 // extended
	SOF2  = 0xc2 // progressive
	DHT   = 0xc4
	SOI   = 0xd8
	EOI   = 0xd9
	SOS   = 0xda
	DQT   = 0xdb
	DRI   = 0xdd
	APP0  = 0xe0
	APP1  = 0xe1
	APP2  = 0xe2
	JUMBF = 0xeb
	APP14 = 0xee
	COM   = 0xfe
)

// JFIF is what the segment of JFIF begins with.
const JFIF = "JFIF\x00"

// Append appends a segment whose data begin with a mark.
func Append(b []byte, marker byte, mark string, data []byte) []byte {
	b = binary.BigEndian.AppendUint16(append(b, 0xff, marker), uint16(2+len(mark)+len(data)))
	return append(append(b, mark...), data...)
}

// AppendJFIF appends the segment of JFIF: version 1.02, the density in 16-bit numbers, and no thumbnail.
func AppendJFIF(b []byte, r metadata.Resolution) []byte {
	unit := byte(0)
	if cm, ok := r.In(metadata.Centimetre); ok && r.Unit == metadata.Centimetre {
		r, unit = cm, 2
	} else if inch, ok := r.In(metadata.Inch); ok {
		r, unit = inch, 1
	}
	if !r.Known() {
		r = metadata.Resolution{X: 1, Y: 1, Unit: metadata.Aspect}
	}
	h := []byte{1, 2, unit}
	for _, v := range []float64{r.X, r.Y} {
		h = binary.BigEndian.AppendUint16(h, uint16(min(max(v+0.5, 1), 65535)))
	}
	return Append(b, APP0, JFIF, append(h, 0, 0))
}
