package imagefile

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Tags of EXIF (CIPA DC-008) and of TIFF that both use.
const (
	tagImageWidth       = 0x0100
	tagImageLength      = 0x0101
	tagOrientation      = 0x0112
	tagXResolution      = 0x011a
	tagYResolution      = 0x011b
	tagResolutionUnit   = 0x0128
	tagThumbnailOffset  = 0x0201
	tagThumbnailLength  = 0x0202
	tagEXIF             = 0x8769
	tagGPS              = 0x8825
	tagInteroperability = 0xa005
	tagPixelXDimension  = 0xa002
	tagPixelYDimension  = 0xa003
)

// descriptive are the tags of a first directory that describe the picture, not
// the coding of its samples: what goes from TIFF to EXIF and back. Description,
// Make, Model, Orientation, PageName, Software, DateTime, Artist, HostComputer,
// Rating, Copyright, the geographic ones, IPTC, EXIF, GPS, and the five XP tags
// of Windows.
var descriptive = []uint16{
	0x010e, 0x010f, 0x0110, tagOrientation, 0x011d, 0x0131, 0x0132, 0x013b, 0x013c,
	0x4746, 0x4749, 0x8298, 0x830e, 0x83bb, 0x8482, 0x8480, 0x85d8, tagEXIF, 0x87af, 0x87b0, 0x87b1, tagGPS,
	0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f, 0xa480, 0xa481,
}

func isDescriptive(tag uint16) bool { return slices.Contains(descriptive, tag) }

// exif is EXIF that is changed in place: moving values would break the notes of
// camera makers, which hold offsets of their own.
type exif struct {
	tiffTree
	data  []byte
	first int64   // offset of the first directory
	main  []field // its fields
	next  int64   // offset of the second, which describes the thumbnail, or 0
}

// parseEXIF reads the first directory of a copy of data.
func parseEXIF(data []byte) (*exif, error) {
	e := &exif{data: bytes.Clone(data)}
	var err error
	r := bytes.NewReader(e.data)
	e.tiffTree, e.first, err = openTree(source{r, int64(len(data)), nil})
	if err != nil {
		return nil, err
	}
	e.main, e.next, err = e.directory(e.first)
	return e, err
}

func (e *exif) bytes() []byte { return e.data }

// orientation returns the orientation, 1 to 8; 1 if it is missing or nonsense.
func (e *exif) orientation() int {
	o, err := e.uint(e.main, tagOrientation, 1)
	if err != nil || o < 1 || o > 8 {
		return 1
	}
	return int(o)
}

// setUpright writes what is true after the orientation has been applied: an
// orientation of 1, and the size. Only tags that are there are changed.
func (e *exif) setUpright(width, height int) {
	if e.orientation() >= 5 {
		e.swapResolution()
	}
	e.set(e.main, tagOrientation, 1)
	e.set(e.main, tagImageWidth, uint32(width))
	e.set(e.main, tagImageLength, uint32(height))
	offset, err := e.uint(e.main, tagEXIF, 0)
	if err != nil || offset == 0 {
		return // There is no such directory, so it says nothing wrong.
	}
	sub, _, err := e.directory(int64(offset))
	if err != nil {
		return
	}
	e.set(sub, tagPixelXDimension, uint32(width))
	e.set(sub, tagPixelYDimension, uint32(height))
}

func (e *exif) set(fields []field, tag uint16, v uint32) {
	f, ok := find(fields, tag)
	if !ok || f.count != 1 {
		return
	}
	p := e.data[f.entry+8 : f.entry+entrySize]
	switch {
	case f.kind == typeShort && v <= 0xffff:
		e.order.PutUint16(p, uint16(v))
	case f.kind == typeByte && v <= 0xff:
		p[0] = byte(v)
	case f.kind == typeShort, f.kind == typeLong:
		// Both types are allowed, so that a size above 65535 fits.
		e.order.PutUint16(e.data[f.entry+2:], typeLong)
		e.order.PutUint32(p, v)
	}
}

// swapResolution exchanges the horizontal and vertical resolution by exchanging
// where their values are.
func (e *exif) swapResolution() {
	x, okX := find(e.main, tagXResolution)
	y, okY := find(e.main, tagYResolution)
	if !okX || !okY || x.kind != typeRational || y.kind != typeRational {
		return
	}
	px, py := e.data[x.entry+8:x.entry+entrySize], e.data[y.entry+8:y.entry+entrySize]
	a, b := e.order.Uint32(px), e.order.Uint32(py)
	e.order.PutUint32(px, b)
	e.order.PutUint32(py, a)
}

// removeThumbnail unlinks the second directory and blanks the picture that it
// points to, or cuts it off where it is the last thing.
func (e *exif) removeThumbnail() {
	if e.next == 0 {
		return
	}
	link := e.first + 2 + e.entries()*entrySize
	clear(e.data[link : link+4])
	thumbnail, _, err := e.directory(e.next)
	if err != nil {
		return // The link led nowhere.
	}
	offset, errOffset := e.uint(thumbnail, tagThumbnailOffset, 0)
	length, errLength := e.uint(thumbnail, tagThumbnailLength, 0)
	from, to := int64(offset), int64(offset)+int64(length)
	if errOffset != nil || errLength != nil || length == 0 || from < link+4 || to > int64(len(e.data)) {
		return
	}
	clear(e.data[from:to])
	if to == int64(len(e.data)) && !e.pointsInto(from) {
		e.data = e.data[:from]
	}
}

// entries is the number of entries of the first directory, those of unknown type
// included.
func (e *exif) entries() int64 { return int64(e.order.Uint16(e.data[e.first:])) }

// pointsInto tells whether a field of the first directory has its value, or a
// directory, at an offset or after it.
func (e *exif) pointsInto(offset int64) bool {
	for _, f := range e.main {
		if f.value+f.size > offset {
			return true
		}
		if slices.Contains(subdirectories, f.tag) {
			if v, err := e.uint(e.main, f.tag, 0); err != nil || int64(v) >= offset {
				return true
			}
		}
	}
	return false
}

// describe returns the descriptive fields of a directory as EXIF of its own, or
// nil if there are none.
func (t tiffTree) describe(fields []field) []byte {
	budget := int64(maxMetadata)
	nodes := t.collect(fields, isDescriptive, 2, &budget)
	if len(nodes) == 0 {
		return nil
	}
	head := []byte("II*\x00\x08\x00\x00\x00")
	if t.order == binary.ByteOrder(binary.BigEndian) {
		head = []byte("MM\x00*\x00\x00\x00\x08")
	}
	return appendDirectory(head, 0, t.order, nodes)
}

// descriptiveNodes returns the fields of EXIF that a TIFF file can hold in its
// first directory, and their byte order.
func descriptiveNodes(data []byte) ([]node, binary.ByteOrder, error) {
	e, err := parseEXIF(data)
	if err != nil {
		return nil, nil, err
	}
	budget := int64(maxMetadata)
	return e.collect(e.main, isDescriptive, 2, &budget), e.order, nil
}

// trimEXIF removes the mark that JPEG, and some writers of other formats, put
// before EXIF.
func trimEXIF(data []byte) []byte { return bytes.TrimPrefix(data, []byte(exifMark)) }

const exifMark = "Exif\x00\x00"
