package metadata

import (
	"bytes"
	"encoding/binary"
)

const photoshopMark = "Photoshop 3.0\x00"

// imageResource is an image resource of Photoshop (Adobe Photoshop File Formats Specification, "Image Resource Blocks").
type imageResource struct {
	number      uint16
	whole, data []byte
}

const (
	resourceMark       = "8BIM"
	resourceIPTC       = 1028
	resourceIPTCDigest = 1061
)

// imageResources returns the resources in data, and whether data are well-formed. Each has "8BIM", its number, a name of a
// byte for its length and of an even size, four bytes for the size of the data, the data, and a byte if that is odd.
func imageResources(data []byte) ([]imageResource, bool) {
	var all []imageResource
	for len(data) > 0 {
		const head = len(resourceMark) + 2
		if len(data) < head+1 || string(data[:4]) != resourceMark {
			return all, false
		}
		sizeAt := head + (1+int(data[head])+1)/2*2
		if len(data) < sizeAt+4 {
			return all, false
		}
		start := int64(sizeAt + 4)
		end := start + int64(binary.BigEndian.Uint32(data[sizeAt:]))
		if end > int64(len(data)) {
			return all, false
		}
		next := min(end+(end-start)%2, int64(len(data))) // the last byte may be missing
		all = append(all, imageResource{binary.BigEndian.Uint16(data[len(resourceMark):]), data[:next], data[start:end]})
		data = data[next:]
	}
	return all, true
}

// newResource is a resource without a name.
func newResource(number uint16, data []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte(resourceMark), number)
	b = binary.BigEndian.AppendUint32(append(b, 0, 0), uint32(len(data)))
	return append(append(b, data...), make([]byte, len(data)%2)...)
}

// withoutResources returns the data of a segment APP13 without the resources that unwanted names by their number. Data that
// are not so formed are returned as they are.
func withoutResources(data []byte, unwanted func(number uint16) bool) []byte {
	rest, ok := bytes.CutPrefix(data, []byte(photoshopMark))
	if !ok {
		return data
	}
	all, ok := imageResources(rest)
	if !ok {
		return data
	}
	kept := []byte(photoshopMark)
	for _, r := range all {
		if !unwanted(r.number) {
			kept = append(kept, r.whole...)
		}
	}
	if len(kept) == len(data) {
		return data
	}
	return kept
}
