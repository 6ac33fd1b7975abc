package imagefile

import (
	"bytes"
	"encoding/binary"
)

const photoshopMark = "Photoshop 3.0\x00"

// withoutResources returns the data of a segment APP13 without the image resources of Photoshop that unwanted names by
// their number (Adobe Photoshop File Formats Specification, "Image Resource Blocks"): "8BIM", number, a name of a byte
// for its length and of an even size, four bytes for the size of the data, the data, and a byte if that is odd. Data
// that are not so formed are returned as they are.
func withoutResources(data []byte, unwanted func(number uint16) bool) []byte {
	rest, ok := bytes.CutPrefix(data, []byte(photoshopMark))
	if !ok {
		return data
	}
	kept := []byte(photoshopMark)
	for len(rest) > 0 {
		const head = 4 + 2
		if len(rest) < head+1 || string(rest[:4]) != "8BIM" {
			return data
		}
		sizeAt := head + (1+int(rest[head])+1)/2*2
		if len(rest) < sizeAt+4 {
			return data
		}
		size := int64(binary.BigEndian.Uint32(rest[sizeAt:]))
		end := min(int64(sizeAt+4)+size+size%2, int64(len(rest))) // the last byte may be missing
		if int64(sizeAt+4)+size > int64(len(rest)) {
			return data
		}
		if !unwanted(binary.BigEndian.Uint16(rest[4:])) {
			kept = append(kept, rest[:end]...)
		}
		rest = rest[end:]
	}
	if len(kept) == len(data) {
		return data
	}
	return kept
}
