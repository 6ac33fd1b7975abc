package imagefile

// Metadata is what a file says about its pixels. The zero value says nothing.
// The byte slices are shared by images that were copied, and never written to.
type Metadata struct {
	// ICC is the colour profile, or nil.
	ICC []byte
	// EXIF is a TIFF structure that begins with "II" or "MM" (without the
	// "Exif\0\0" of JPEG), or nil. Its orientation is 1, unless
	// ReadOptions.KeepOrientation was set.
	EXIF []byte
	// XMP is an XMP packet in UTF-8, or nil.
	XMP []byte
	// IPTC is records of IPTC-IIM, the first byte of each 0x1c, or nil.
	IPTC []byte
	// Resolution is how large the image is meant to be.
	Resolution Resolution
	// Blocks are parts of the file that have a meaning in its own format only,
	// and are written again in that format only.
	Blocks []Block
}

// Block is a part of a file, kept as it was.
type Block struct {
	Format Format
	// Name is the type of a PNG chunk ("gAMA") or the name of a JPEG segment
	// ("APP13", "COM").
	Name string
	// Data is the content, without length, name and checksum.
	Data []byte
}

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
		return r, r.known()
	}
	from, to := r.Unit.metres(), u.metres()
	if from == 0 || to == 0 || !r.known() {
		return Resolution{}, false
	}
	return Resolution{X: r.X / from * to, Y: r.Y / from * to, Unit: u}, true
}

func (r Resolution) known() bool {
	return r.Unit != NoUnit && r.X > 0 && r.Y > 0 && r.X < 1e9 && r.Y < 1e9
}

// block returns the content of the first block of that format and name.
func (d *Metadata) block(f Format, name string) ([]byte, bool) {
	for _, b := range d.Blocks {
		if b.Format == f && b.Name == name {
			return b.Data, true
		}
	}
	return nil, false
}
