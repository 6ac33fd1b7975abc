package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/averaged/imaging/internal/tiffdir"
)

// IPTC (the IPTC-IIM standard: caption, keywords, rights) is a resource of Photoshop in JPEG, a tag in TIFF, and a text in
// hexadecimal in PNG.

const (
	tagPhotoshop = 0x8649 // image resources

	iptcMark = 0x1c // of each of its records
)

// iptcOfResources returns the IPTC among resources of Photoshop, or nil.
func iptcOfResources(data []byte) []byte {
	all, _ := imageResources(data)
	for _, r := range all {
		if r.number == resourceIPTC && len(r.data) > 0 && r.data[0] == iptcMark {
			return r.data
		}
	}
	return nil
}

// IPTCOfProfile returns the IPTC of data that are IPTC, or resources of Photoshop, and tells whether there is nothing else.
func IPTCOfProfile(data []byte) (iptc []byte, whole bool) {
	if len(data) > 0 && data[0] == iptcMark {
		return data, true
	}
	return iptcOfResources(data), onlyIPTC(data)
}

// IPTCOfSegments returns the IPTC in segments APP13 of JPEG, over which long resources are spread.
func IPTCOfSegments(segments []Segment) []byte {
	var resources []byte
	for _, s := range segments {
		if rest, ok := bytes.CutPrefix(s.Data, []byte(photoshopMark)); ok && s.Marker == MarkerAPP13 {
			resources = append(resources, rest...)
		}
	}
	return iptcOfResources(resources)
}

// IPTCOfDirectory returns the IPTC in a directory of TIFF or EXIF, or nil.
func IPTCOfDirectory(t tiffdir.Tree, fields []tiffdir.Field) []byte {
	value := func(tag uint16) []byte {
		f, _ := tiffdir.Find(fields, tag)
		if f.Size > MaxSize {
			return nil
		}
		b, err := t.Bytes(f)
		if err != nil {
			return nil
		}
		return b
	}
	iptc := value(tiffdir.TagIPTC)
	if len(iptc) >= 4 && iptc[0] != iptcMark && iptc[3] == iptcMark { // numbers of four bytes in the other order
		swapped := make([]byte, len(iptc)/4*4)
		for i := 0; i < len(swapped); i += 4 {
			binary.BigEndian.PutUint32(swapped[i:], binary.LittleEndian.Uint32(iptc[i:]))
		}
		iptc = swapped
	}
	if len(iptc) > 0 && iptc[0] == iptcMark {
		return iptc
	}
	return iptcOfResources(value(tagPhotoshop))
}

// IPTCResource is IPTC as a resource of Photoshop.
func IPTCResource(iptc []byte) []byte {
	return newResource(resourceIPTC, iptc)
}

// IPTCSegment is the data of a segment APP13 of JPEG with IPTC.
func IPTCSegment(iptc []byte) []byte { return append([]byte(photoshopMark), IPTCResource(iptc)...) }

// OnlyIPTC tells whether a segment has nothing besides IPTC.
func (s Segment) OnlyIPTC() bool {
	rest, ok := bytes.CutPrefix(s.Data, []byte(photoshopMark))
	return ok && s.Marker == MarkerAPP13 && onlyIPTC(rest)
}

// onlyIPTC tells whether resources of Photoshop are nothing besides IPTC.
func onlyIPTC(resources []byte) bool {
	all, ok := imageResources(resources)
	return ok && !slices.ContainsFunc(all, func(r imageResource) bool { return r.number != resourceIPTC && r.number != resourceIPTCDigest })
}
