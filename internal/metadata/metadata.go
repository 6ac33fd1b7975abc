// Package metadata has what an image file says about its pixels: EXIF, XMP, IPTC, the resolution, and parts that one format
// alone can hold. Metadata.Follow makes it true again of an image that was turned or has another size. The formats of files
// that hold it are in package imagefile, colour profiles in package iccprofile.
package metadata

import "bytes"

// Metadata is what a file says about its pixels. The zero value says nothing.
// The byte slices are shared by images that were copied, and never written to.
type Metadata struct {
	// ICC is the colour profile, or nil.
	ICC []byte
	// EXIF is a TIFF structure that begins with "II" or "MM" (without the
	// "Exif\0\0" of JPEG), or nil.
	EXIF []byte
	// XMP is an XMP packet in UTF-8, or nil.
	XMP []byte
	// IPTC is records of IPTC-IIM, the first byte of each 0x1c, or nil.
	IPTC []byte
	// Resolution is how large the image is meant to be.
	Resolution Resolution
	// Chunks of PNG and Segments of JPEG are kept as they were, and written again in
	// that format only.
	Chunks   []Chunk
	Segments []Segment
}

// Chunk is a chunk of PNG.
type Chunk struct {
	Name string // its type, such as "gAMA"
	Data []byte // without length, name and checksum
}

// IsText tells whether the chunk is one of text.
func (c Chunk) IsText() bool { return c.Name == "tEXt" || c.Name == "zTXt" || c.Name == "iTXt" }

// Keyword returns what a chunk of text begins with.
func (c Chunk) Keyword() string {
	keyword, _, _ := bytes.Cut(c.Data, []byte{0})
	return string(keyword)
}

// Segment is a segment of JPEG.
type Segment struct {
	Marker byte   // the second byte of its marker
	Data   []byte // without marker and length, at most MaxSegment bytes
}

const (
	// MarkerAPP13 is the marker of segments with resources of Photoshop.
	MarkerAPP13 = 0xed
	// MaxSegment is how much a segment holds: its 16-bit length counts itself.
	MaxSegment = 65533
	// MaxSize bounds each of ICC, EXIF, XMP and the other parts of a file together,
	// in bytes, after decompression. Real profiles are below 4 MB.
	MaxSize = 32 << 20
)

// Unit is a unit of length.
type Unit uint8

// The units. With Aspect only the ratio of X and Y means something.
const (
	NoUnit Unit = iota
	Aspect
	Inch
	Centimetre
	Metre
)

// metres returns the length of the unit, or 0 if it has none.
func (u Unit) metres() float64 {
	switch u {
	case Inch:
		return 0.0254
	case Centimetre:
		return 0.01
	case Metre:
		return 1
	}
	return 0
}

// Resolution is the density of pixels: X and Y pixels per Unit. The zero value
// says nothing.
type Resolution struct {
	X, Y float64
	Unit Unit
}

// In returns the resolution in another unit, and whether that is possible.
func (r Resolution) In(u Unit) (Resolution, bool) {
	if r.Unit == u {
		return r, r.Known()
	}
	from, to := r.Unit.metres(), u.metres()
	if from == 0 || to == 0 || !r.Known() {
		return Resolution{}, false
	}
	return Resolution{X: r.X / from * to, Y: r.Y / from * to, Unit: u}, true
}

// Known tells whether it says something.
func (r Resolution) Known() bool {
	return r.Unit != NoUnit && r.X > 0 && r.Y > 0 && r.X < 1e9 && r.Y < 1e9
}

// Chunk returns the content of the first chunk of a name.
func (d *Metadata) Chunk(name string) ([]byte, bool) {
	for _, c := range d.Chunks {
		if c.Name == name {
			return c.Data, true
		}
	}
	return nil, false
}
