package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Tags of EXIF (CIPA DC-008).
const (
	tagThumbnailOffset = 0x0201
	tagThumbnailLength = 0x0202
	tagPixelXDimension = 0xa002
	tagPixelYDimension = 0xa003
	tagFocalPlaneX     = 0xa20e
	tagFocalPlaneY     = 0xa20f
)

// descriptive are the tags of a first directory that describe the picture, not
// the coding of its samples: what goes from TIFF to EXIF and back. Description,
// Make, Model, Orientation, PageName, Software, DateTime, Artist, HostComputer,
// Rating, Copyright, the geographic ones, EXIF, GPS, and the five XP tags of
// Windows.
var descriptive = []uint16{
	tagImageDescription, 0x010f, 0x0110, tagOrientation, 0x011d, 0x0131, 0x0132, 0x013b, 0x013c,
	0x4746, 0x4749, 0x8298, 0x830e, 0x8482, 0x8480, 0x85d8, tagEXIF, 0x87af, 0x87b0, 0x87b1, tagGPS,
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
	e.tiffTree, e.first, err = openTree(memory(e.data))
	if err != nil {
		return nil, err
	}
	if e.big {
		return nil, errors.New("it is a BigTIFF, which EXIF never is")
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

// follow makes EXIF true again after a change. Only tags that are there are changed.
func (e *exif) follow(c change, f *followed) {
	if c.orientation >= 5 {
		e.swap(e.main, tagXResolution, tagYResolution)
		e.swap(e.fieldsOf(photoDirectory), tagFocalPlaneX, tagFocalPlaneY)
	}
	for _, d := range exifDependent {
		fields := e.fieldsOf(d.directory)
		field, ok := find(fields, d.tag)
		if !ok || e.mend(field, fields, d.role, c) {
			continue
		}
		e.remove(d.directory, d.tag)
		switch d.role {
		case areaRole:
			f.lose(lostPlace)
		case descriptionRole:
			f.lose(lostShape)
		case pixelScaleRole, tiePointRole, matrixRole:
			f.lose(lostReference)
		}
	}
}

// at is the offset of a directory, or 0 if there is none.
func (e *exif) at(d directoryKind) int64 {
	offset := uint32(0)
	switch d {
	case mainDirectory:
		return e.first
	case photoDirectory:
		offset, _ = e.uint(e.main, tagEXIF, 0) // of the wrong type it leads nowhere
	case interoperabilityDirectory:
		offset, _ = e.uint(e.fieldsOf(photoDirectory), tagInteroperability, 0)
	}
	return int64(offset)
}

// fieldsOf returns the fields of a directory: none if it is missing or broken.
func (e *exif) fieldsOf(d directoryKind) []field {
	at := e.at(d)
	if at == 0 {
		return nil
	}
	fields, _, err := e.directory(at)
	if err != nil {
		return nil
	}
	return fields
}

// mend changes the value of a field, and tells whether it is true then.
func (e *exif) mend(f field, fields []field, r role, c change) bool {
	switch r {
	case orientationRole:
		if c.upright {
			e.set(fields, f.tag, 1)
		}
	case widthRole:
		e.set(fields, f.tag, uint32(c.to[0]))
	case heightRole:
		e.set(fields, f.tag, uint32(c.to[1]))
	case areaRole:
		return e.mendArea(f, c)
	case descriptionRole:
		text, err := e.tiffTree.bytes(f)
		return err != nil || !c.turned() && c.factor() == 1 || !describesShape(text)
	case densityRole:
		return e.mendDensity(f, c)
	case pixelScaleRole, tiePointRole, matrixRole:
		return e.mendReference(f, r, c)
	}
	return true
}

// mendArea turns and scales a place (x, y), a circle (x, y, diameter) or a rectangle (x, y, width, height).
func (e *exif) mendArea(f field, c change) bool {
	if !c.turned() && c.factor() == 1 {
		return true
	}
	if c.factor() == 0 || f.kind != typeShort || f.count < 2 || f.count > 4 || f.value < 0 || f.value+f.size > int64(len(e.data)) {
		return false
	}
	p := e.data[f.value : f.value+f.size]
	var v [4]int
	for i := range f.count {
		v[i] = int(e.order.Uint16(p[2*i:]))
	}
	v[0], v[1] = c.place(v[0], v[1])
	v[2], v[3] = v[2]*c.factor(), v[3]*c.factor()
	if c.orientation >= 5 && f.count == 4 {
		v[2], v[3] = v[3], v[2]
	}
	for i := range f.count {
		if v[i] < 0 || v[i] > 0xffff {
			return false
		}
		e.order.PutUint16(p[2*i:], uint16(v[i]))
	}
	return true
}

// mendDensity multiplies a fraction by the factor of enlargement.
func (e *exif) mendDensity(f field, c change) bool {
	if c.factor() < 2 {
		return c.factor() == 1
	}
	if f.kind != typeRational || f.count != 1 || f.value < 0 || f.value+f.size > int64(len(e.data)) {
		return false
	}
	p := e.data[f.value : f.value+f.size]
	numerator := uint64(e.order.Uint32(p)) * uint64(c.factor())
	if numerator > math.MaxUint32 {
		return false
	}
	e.order.PutUint32(p, uint32(numerator))
	return true
}

// mendReference changes what GeoTIFF says of places of pixels (OGC 19-008, annex B): sides of a pixel become shorter by
// the factor of enlargement, and its row and column larger.
func (e *exif) mendReference(f field, r role, c change) bool {
	k := c.factor()
	if !c.turned() && k == 1 {
		return true
	}
	if c.turned() || k == 0 || f.kind != typeDouble || f.value < 0 || f.value+f.size > int64(len(e.data)) {
		return false
	}
	for i := range int64(f.count) {
		p := e.data[f.value+8*i:]
		v := math.Float64frombits(e.order.Uint64(p))
		switch {
		case r == pixelScaleRole && i < 2, r == matrixRole && i%4 < 2: // of x, of y
			v /= float64(k)
		case r == tiePointRole && i%6 < 2: // column, row
			v *= float64(k)
		}
		e.order.PutUint64(p, math.Float64bits(v))
	}
	return true
}

// remove takes a field out of a directory, whose others move up.
func (e *exif) remove(d directoryKind, tag uint16) {
	at := e.at(d)
	n := int64(e.order.Uint16(e.data[at:]))
	for i := int64(0); i < n; {
		entry := at + 2 + i*entrySize
		if e.order.Uint16(e.data[entry:]) != tag {
			i++
			continue
		}
		// The offset of the next directory may be missing at the end.
		end := min(at+2+n*entrySize+4, int64(len(e.data)))
		copy(e.data[entry:end], e.data[entry+entrySize:end])
		n--
		e.order.PutUint16(e.data[at:], uint16(n))
	}
	if d == mainDirectory {
		e.main = e.fieldsOf(mainDirectory)
	}
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

// swap exchanges two fractions by exchanging where their values are.
func (e *exif) swap(fields []field, tagX, tagY uint16) {
	x, okX := find(fields, tagX)
	y, okY := find(fields, tagY)
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

// resolutionOf returns what tags 282, 283 and 296 of a directory say.
func resolutionOf(t tiffTree, fields []field) Resolution {
	unit, err := t.uint(fields, tagResolutionUnit, 2)
	if err != nil {
		return Resolution{} // A unit of the wrong type says nothing.
	}
	units := map[uint32]Unit{1: Aspect, 2: Inch, 3: Centimetre}
	r := Resolution{X: t.rational(fields, tagXResolution), Y: t.rational(fields, tagYResolution), Unit: units[unit]}
	if !r.known() {
		return Resolution{}
	}
	return r
}

// describe returns the descriptive fields of a directory as EXIF of its own, or
// nil if there are none, and whether the maker's notes had to be left out.
func describe(t tiffTree, fields []field) (exif []byte, noteLost bool) {
	budget := int64(maxMetadata)
	nodes := t.collect(fields, isDescriptive, 2, &budget)
	if len(nodes) == 0 {
		return nil, false
	}
	head := []byte("II*\x00\x08\x00\x00\x00")
	if t.order == binary.ByteOrder(binary.BigEndian) {
		head = []byte("MM\x00*\x00\x00\x00\x08")
	}
	note := makerNote(nodes)
	if note == nil {
		return appendDirectory(head, 0, t.order, nodes), false
	}
	if end := note.at + int64(len(note.value)); end < int64(maxJPEGEXIF) {
		note.inPlace = true
		front := append(head[:len(head):len(head)], make([]byte, end+end%2-int64(len(head)))...)
		copy(front[note.at:], note.value)
		t.order.PutUint32(front[4:], uint32(len(front)))
		if exif := appendDirectory(front, 0, t.order, nodes); len(exif) <= maxJPEGEXIF {
			return exif, false
		}
		note.inPlace = false
	}
	if relocatable(note.value) {
		return appendDirectory(head, 0, t.order, nodes), false
	}
	if nodes = withoutMakerNote(nodes); len(nodes) == 0 {
		return nil, true
	}
	return appendDirectory(head, 0, t.order, nodes), true
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
