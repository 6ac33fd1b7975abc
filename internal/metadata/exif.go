package metadata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/tiffdir"
)

// descriptive are the tags of a first directory that describe the picture, not
// the coding of its samples: what goes from TIFF to EXIF and back. Description,
// Make, Model, Orientation, PageName, Software, DateTime, Artist, HostComputer,
// Rating, Copyright, the geographic ones, EXIF, GPS, and the five XP tags of
// Windows.
var descriptive = []uint16{
	tiffdir.TagImageDescription, tiffdir.TagMake, tiffdir.TagModel, tiffdir.TagOrientation, 0x011d, 0x0131, 0x0132, 0x013b, 0x013c,
	0x4746, 0x4749, 0x8298, 0x830e, 0x8482, 0x8480, 0x85d8, tiffdir.TagEXIF, 0x87af, 0x87b0, 0x87b1, tiffdir.TagGPS,
	0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f, 0xa480, 0xa481,
}

func isDescriptive(tag uint16) bool { return slices.Contains(descriptive, tag) }

// exif is EXIF that is changed in place: moving values would break the notes of
// camera makers, which hold offsets of their own.
type exif struct {
	tiffdir.Tree
	data  []byte
	first int64           // offset of the first directory
	main  []tiffdir.Field // its fields
	next  int64           // offset of the second, which describes the thumbnail, or 0
}

// parseEXIF reads the first directory of a copy of data.
func parseEXIF(data []byte) (*exif, error) {
	e := &exif{data: bytes.Clone(data)}
	var err error
	e.Tree, e.first, err = tiffdir.Open(tiffdir.Memory(e.data))
	if err != nil {
		return nil, err
	}
	if e.Big {
		return nil, errors.New("it is a BigTIFF, which EXIF never is")
	}
	e.main, e.next, err = e.Directory(e.first)
	return e, err
}

// orientation returns the orientation, 1 to 8; 1 if it is missing or nonsense.
func (e *exif) orientation() int {
	o, err := e.Uint(e.main, tiffdir.TagOrientation, 1)
	if err != nil || o < 1 || o > 8 {
		return 1
	}
	return int(o)
}

// follow makes EXIF true again after a change. Only tags that are there are changed.
func (e *exif) follow(c Change, f *Followed) {
	if c.Orientation >= 5 {
		e.swap(e.main, tiffdir.TagXResolution, tiffdir.TagYResolution)
		e.swap(e.fieldsOf(photoDirectory), tiffdir.TagFocalPlaneX, tiffdir.TagFocalPlaneY)
	}
	for _, d := range exifDependent {
		fields := e.fieldsOf(d.directory)
		field, ok := tiffdir.Find(fields, d.tag)
		if !ok || e.mend(field, fields, d.role, c) {
			continue
		}
		e.remove(d.directory, d.tag)
		switch d.role {
		case areaRole:
			f.Lost.Add(lostPlace)
		case descriptionRole:
			f.Lost.Add(lostShape)
		case pixelScaleRole, tiePointRole, matrixRole:
			f.Lost.Add(lostReference)
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
		offset, _ = e.Uint(e.main, tiffdir.TagEXIF, 0) // of the wrong type it leads nowhere
	case interoperabilityDirectory:
		offset, _ = e.Uint(e.fieldsOf(photoDirectory), tiffdir.TagInteroperability, 0)
	}
	return int64(offset)
}

// fieldsOf returns the fields of a directory: none if it is missing or broken.
func (e *exif) fieldsOf(d directoryKind) []tiffdir.Field {
	at := e.at(d)
	if at == 0 {
		return nil
	}
	fields, _, err := e.Directory(at)
	if err != nil {
		return nil
	}
	return fields
}

// mend changes the value of a field, and tells whether it is true then.
func (e *exif) mend(f tiffdir.Field, fields []tiffdir.Field, r role, c Change) bool {
	switch r {
	case orientationRole:
		if c.Upright {
			e.set(fields, f.Tag, 1)
		}
	case widthRole:
		e.set(fields, f.Tag, uint32(c.To[0]))
	case heightRole:
		e.set(fields, f.Tag, uint32(c.To[1]))
	case areaRole:
		return e.mendArea(f, c)
	case descriptionRole:
		text, err := e.Tree.Bytes(f)
		return err != nil || !c.Turned() && c.factor() == 1 || !DescribesShape(text)
	case densityRole:
		return e.mendDensity(f, c)
	case pixelScaleRole, tiePointRole, matrixRole:
		return e.mendReference(f, r, c)
	}
	return true
}

// mendArea turns and scales a place (x, y), a circle (x, y, diameter) or a rectangle (x, y, width, height).
func (e *exif) mendArea(f tiffdir.Field, c Change) bool {
	if !c.Turned() && c.factor() == 1 {
		return true
	}
	if c.factor() == 0 || f.Kind != tiffdir.Short || f.Count < 2 || f.Count > 4 || f.Value < 0 || f.Value+f.Size > int64(len(e.data)) {
		return false
	}
	p := e.data[f.Value : f.Value+f.Size]
	var v [4]int
	for i := range f.Count {
		v[i] = int(e.Order.Uint16(p[2*i:]))
	}
	v[0], v[1] = c.Place(v[0], v[1])
	v[2], v[3] = v[2]*c.factor(), v[3]*c.factor()
	if c.Orientation >= 5 && f.Count == 4 {
		v[2], v[3] = v[3], v[2]
	}
	for i := range f.Count {
		if v[i] < 0 || v[i] > 0xffff {
			return false
		}
		e.Order.PutUint16(p[2*i:], uint16(v[i]))
	}
	return true
}

// mendDensity multiplies a fraction by the factor of enlargement.
func (e *exif) mendDensity(f tiffdir.Field, c Change) bool {
	if c.factor() < 2 {
		return c.factor() == 1
	}
	if f.Kind != tiffdir.Rational || f.Count != 1 || f.Value < 0 || f.Value+f.Size > int64(len(e.data)) {
		return false
	}
	p := e.data[f.Value : f.Value+f.Size]
	numerator := uint64(e.Order.Uint32(p)) * uint64(c.factor())
	if numerator > math.MaxUint32 {
		return false
	}
	e.Order.PutUint32(p, uint32(numerator))
	return true
}

// mendReference changes what GeoTIFF says of places of pixels (OGC 19-008, annex B): sides of a pixel become shorter by
// the factor of enlargement, and its row and column larger.
func (e *exif) mendReference(f tiffdir.Field, r role, c Change) bool {
	k := c.factor()
	if !c.Turned() && k == 1 {
		return true
	}
	if c.Turned() || k == 0 || f.Kind != tiffdir.Double || f.Value < 0 || f.Value+f.Size > int64(len(e.data)) {
		return false
	}
	for i := range int64(f.Count) {
		p := e.data[f.Value+8*i:]
		v := math.Float64frombits(e.Order.Uint64(p))
		switch {
		case r == pixelScaleRole && i < 2, r == matrixRole && i%4 < 2: // of x, of y
			v /= float64(k)
		case r == tiePointRole && i%6 < 2: // column, row
			v *= float64(k)
		}
		e.Order.PutUint64(p, math.Float64bits(v))
	}
	return true
}

// remove takes a field out of a directory, whose others move up.
func (e *exif) remove(d directoryKind, tag uint16) {
	at := e.at(d)
	n := int64(e.Order.Uint16(e.data[at:]))
	for i := int64(0); i < n; {
		entry := at + 2 + i*tiffdir.EntrySize
		if e.Order.Uint16(e.data[entry:]) != tag {
			i++
			continue
		}
		// The offset of the next directory may be missing at the end.
		end := min(at+2+n*tiffdir.EntrySize+4, int64(len(e.data)))
		copy(e.data[entry:end], e.data[entry+tiffdir.EntrySize:end])
		n--
		e.Order.PutUint16(e.data[at:], uint16(n))
	}
	if d == mainDirectory {
		e.main = e.fieldsOf(mainDirectory)
	}
}

func (e *exif) set(fields []tiffdir.Field, tag uint16, v uint32) {
	f, ok := tiffdir.Find(fields, tag)
	if !ok || f.Count != 1 {
		return
	}
	p := e.data[f.Entry+8 : f.Entry+tiffdir.EntrySize]
	switch {
	case f.Kind == tiffdir.Short && v <= 0xffff:
		e.Order.PutUint16(p, uint16(v))
	case f.Kind == tiffdir.Byte && v <= 0xff:
		p[0] = byte(v)
	case f.Kind == tiffdir.Short, f.Kind == tiffdir.Long:
		// Both types are allowed, so that a size above 65535 fits.
		e.Order.PutUint16(e.data[f.Entry+2:], tiffdir.Long)
		e.Order.PutUint32(p, v)
	}
}

// swap exchanges two fractions by exchanging where their values are.
func (e *exif) swap(fields []tiffdir.Field, tagX, tagY uint16) {
	x, okX := tiffdir.Find(fields, tagX)
	y, okY := tiffdir.Find(fields, tagY)
	if !okX || !okY || x.Kind != tiffdir.Rational || y.Kind != tiffdir.Rational {
		return
	}
	px, py := e.data[x.Entry+8:x.Entry+tiffdir.EntrySize], e.data[y.Entry+8:y.Entry+tiffdir.EntrySize]
	a, b := e.Order.Uint32(px), e.Order.Uint32(py)
	e.Order.PutUint32(px, b)
	e.Order.PutUint32(py, a)
}

// removeThumbnail unlinks the second directory and blanks the picture that it
// points to, or cuts it off where it is the last thing.
func (e *exif) removeThumbnail() {
	if e.next == 0 {
		return
	}
	link := e.first + 2 + e.entries()*tiffdir.EntrySize
	clear(e.data[link : link+4])
	thumbnail, _, err := e.Directory(e.next)
	if err != nil {
		return // The link led nowhere.
	}
	offset, errOffset := e.Uint(thumbnail, tiffdir.TagThumbnailOffset, 0)
	length, errLength := e.Uint(thumbnail, tiffdir.TagThumbnailLength, 0)
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
func (e *exif) entries() int64 { return int64(e.Order.Uint16(e.data[e.first:])) }

// pointsInto tells whether a field of the first directory has its value, or a
// directory, at an offset or after it.
func (e *exif) pointsInto(offset int64) bool {
	for _, f := range e.main {
		if f.Value+f.Size > offset {
			return true
		}
		if slices.Contains(tiffdir.Subdirectories, f.Tag) {
			if v, err := e.Uint(e.main, f.Tag, 0); err != nil || int64(v) >= offset {
				return true
			}
		}
	}
	return false
}

// TakeResolution takes the resolution from EXIF where the file's own header
// gives none, or a ratio only.
func (d *Metadata) TakeResolution() {
	if d.EXIF == nil || d.Resolution.Unit > Aspect {
		return
	}
	e, err := parseEXIF(d.EXIF)
	if err != nil {
		return
	}
	if r := ResolutionOf(e.Tree, e.main); r.Known() {
		d.Resolution = r
	}
}

// ResolutionOf returns what tags 282, 283 and 296 of a directory say.
func ResolutionOf(t tiffdir.Tree, fields []tiffdir.Field) Resolution {
	unit, err := t.Uint(fields, tiffdir.TagResolutionUnit, 2)
	if err != nil {
		return Resolution{} // A unit of the wrong type says nothing.
	}
	units := map[uint32]Unit{1: Aspect, 2: Inch, 3: Centimetre}
	r := Resolution{X: t.Rational(fields, tiffdir.TagXResolution), Y: t.Rational(fields, tiffdir.TagYResolution), Unit: units[unit]}
	if !r.Known() {
		return Resolution{}
	}
	return r
}

// CleanEXIF removes the thumbnail from EXIF, takes IPTC from it if there is no other, and returns the orientation, 1 to 8, or
// 0 if there is none. EXIF that cannot be read is dropped, with an error.
func (d *Metadata) CleanEXIF() (orientation int, err error) {
	if d.EXIF == nil {
		return 0, nil
	}
	e, err := parseEXIF(d.EXIF)
	if err != nil {
		d.EXIF = nil
		return 0, err
	}
	e.removeThumbnail()
	if d.IPTC == nil {
		d.IPTC = IPTCOfDirectory(e.Tree, e.main)
	}
	d.EXIF = e.data
	if _, ok := tiffdir.Find(e.main, tiffdir.TagOrientation); !ok {
		return 0, nil
	}
	return e.orientation(), nil
}

var errOverlap = errors.New("its directories overlap")

// CheckEXIF drops EXIF that says nothing any more; and, with an error, EXIF that has not the orientation: its directories
// overlap, so that changes have undone each other.
func (d *Metadata) CheckEXIF(orientation int) error {
	if d.EXIF == nil {
		return nil
	}
	e, err := parseEXIF(d.EXIF)
	if err != nil || e.orientation() != orientation || e.next != 0 {
		d.EXIF = nil
		return errOverlap
	}
	if len(e.main) == 1 && e.main[0].Tag == tiffdir.TagOrientation && orientation == 1 {
		d.EXIF = nil
	}
	return nil
}

// DescriptiveEXIF returns the descriptive fields of a directory as EXIF of its own, or
// nil if there are none, and whether the maker's notes had to be left out.
func DescriptiveEXIF(t tiffdir.Tree, fields []tiffdir.Field) (exif []byte, noteLost bool) {
	budget := int64(MaxSize)
	nodes := t.Collect(fields, isDescriptive, 2, &budget)
	if len(nodes) == 0 {
		return nil, false
	}
	head := []byte("II*\x00\x08\x00\x00\x00")
	if t.Order == tiffdir.ByteOrder(binary.BigEndian) {
		head = []byte("MM\x00*\x00\x00\x00\x08")
	}
	note := MakerNote(nodes)
	if note == nil {
		return tiffdir.AppendDirectory(head, 0, t.Order, nodes), false
	}
	if end := note.At + int64(len(note.Value)); end < int64(MaxJPEGEXIF) {
		note.InPlace = true
		front := append(head[:len(head):len(head)], make([]byte, end+end%2-int64(len(head)))...)
		copy(front[note.At:], note.Value)
		t.Order.PutUint32(front[4:], uint32(len(front)))
		if exif := tiffdir.AppendDirectory(front, 0, t.Order, nodes); len(exif) <= MaxJPEGEXIF {
			return exif, false
		}
		note.InPlace = false
	}
	if relocatable(note.Value) {
		return tiffdir.AppendDirectory(head, 0, t.Order, nodes), false
	}
	if nodes = withoutMakerNote(nodes); len(nodes) == 0 {
		return nil, true
	}
	return tiffdir.AppendDirectory(head, 0, t.Order, nodes), true
}

// DescriptiveNodes returns the fields of EXIF that a TIFF file can hold in its
// first directory, and their byte order.
func DescriptiveNodes(data []byte) ([]tiffdir.Node, tiffdir.ByteOrder, error) {
	e, err := parseEXIF(data)
	if err != nil {
		return nil, nil, err
	}
	budget := int64(MaxSize)
	return e.Collect(e.main, isDescriptive, 2, &budget), e.Order, nil
}

// TrimEXIF removes the mark that JPEG, and some writers of other formats, put
// before EXIF.
func TrimEXIF(data []byte) []byte { return bytes.TrimPrefix(data, []byte(EXIFMark)) }

// EXIFMark is what a segment of JPEG with EXIF begins with.
const EXIFMark = "Exif\x00\x00"

// XMPMark is what a segment of JPEG with XMP begins with.
const XMPMark = "http://ns.adobe.com/xap/1.0/\x00"

// MaxJPEGEXIF is how much EXIF a JPEG file holds.
const MaxJPEGEXIF = MaxSegment - len(EXIFMark)
