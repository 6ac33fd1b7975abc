// Package png reads and writes PNG: what image/png reads, with its metadata, also from a damaged file, and row by row.
package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	stdpng "image/png"
	"io"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
)

const Signature = "\x89PNG\r\n\x1a\n"

// colourChunks say what the samples mean: gamma, chromaticities, sRGB, coding
// independent code points, and the limits of a mastering display.
var colourChunks = []string{"gAMA", "cHRM", "sRGB", "cICP", "mDCV", "mDCv", "cLLI", "cLLi"}

// AboutColour tells whether a chunk is one of them.
func AboutColour(c metadata.Chunk) bool { return slices.Contains(colourChunks, c.Name) }

// imageHeader is the image header chunk.
type imageHeader struct {
	width, height        int
	depth, colour, laced byte
}

// The colour types of PNG.
const (
	grey      = 0
	rgb       = 2
	palette   = 3
	greyAlpha = 4
	rgba      = 6
)

// samples returns the samples per pixel.
func (h imageHeader) samples() int {
	return map[byte]int{grey: 1, rgb: 3, palette: 1, greyAlpha: 2, rgba: 4}[h.colour]
}

// raw returns the bytes of the samples before they are packed.
func (h imageHeader) raw() int64 { return h.rowSize(h.width) * int64(h.height) }

// rowSize is the bytes of the samples of a row.
func (h imageHeader) rowSize(width int) int64 {
	return (int64(width)*int64(h.samples())*int64(h.depth) + 7) / 8
}

// chunks is what the chunks say, other than pixels.
type chunks struct {
	header       imageHeader
	transparency bool
	coded        int64 // bytes of compressed pixels
	complete     bool  // the end chunk is there
	icc          []byte
	metadata     metadata.Metadata
	rawEXIF      []byte // from a text
	rawXMP       []byte
	seen         map[string]bool // chunks of which the first one counts
	unpacked     int             // bytes that profiles and texts have unpacked to
	warnings     []string
}

// Decode reads a PNG that is whole.
func Decode(src *source.Source) (*picture.Image, error) {
	parts, err := readChunks(src)
	if err != nil {
		return nil, err
	}
	h := parts.header
	// Deflate never expands more than 1032 times: if what is there cannot fill the
	// image, there is no need to make room for it.
	const maxExpansion = 1032
	if h.raw()/maxExpansion > parts.coded+64 {
		return nil, format.Truncated(format.PNG)
	}
	img, err := stdpng.Decode(src.From(0))
	switch {
	case err != nil && !parts.complete:
		return nil, format.Truncated(format.PNG)
	case err != nil:
		return nil, format.Foreign(format.PNG, err)
	}
	return parts.image(img)
}

// image is what was decoded, with what the chunks say of it.
func (parts *chunks) image(img image.Image) (*picture.Image, error) {
	h := parts.header
	if b := img.Bounds(); b.Dx() != h.width || b.Dy() != h.height {
		return nil, fmt.Errorf("%w: PNG with two headers", format.ErrMalformed)
	}
	channels, alpha := 3, parts.transparency
	switch h.colour {
	case grey:
		channels = 1
	case greyAlpha:
		channels, alpha = 1, true
	case rgba:
		alpha = true
	case palette:
		p, ok := img.(*image.Paletted)
		if ok && parts.icc == nil && picture.GreyPalette(p) {
			channels = 1
		}
	}
	m := picture.New(h.width, h.height, channels, max(int(h.depth), 8), alpha)
	m.Fill(img)
	m.SourceDepth = int(h.depth)
	m.Metadata = parts.metadata
	if m.Metadata.EXIF == nil {
		m.Metadata.EXIF = parts.rawEXIF
	}
	if m.Metadata.XMP == nil {
		m.Metadata.XMP = parts.rawXMP
	}
	m.Warnings = parts.warnings
	m.SetICC(parts.icc)
	return m, nil
}

// readChunks walks over all chunks. Checksums are left to image/png, which
// checks each. With an error it returns what was before it.
func readChunks(src *source.Source) (*chunks, error) {
	parts := &chunks{seen: map[string]bool{}}
	budget := int64(metadata.MaxSize)
	for offset := int64(len(Signature)); ; {
		head, err := src.Bytes(offset, 8)
		if err != nil {
			if offset == int64(len(Signature)) {
				return parts, format.Truncated(format.PNG)
			}
			return parts, nil // image/png finds out whether pixels are missing.
		}
		length, name := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		data := func() ([]byte, error) {
			if budget -= length; budget < 0 {
				return nil, fmt.Errorf("%w: the metadata in PNG is larger than %d MB", format.ErrUnsupported, metadata.MaxSize>>20)
			}
			b, err := src.Bytes(offset+8, length)
			if err != nil {
				return nil, format.Truncated(format.PNG)
			}
			return b, nil
		}
		if (name == "IHDR") != (offset == int64(len(Signature))) {
			return parts, fmt.Errorf("%w: PNG whose first chunk, and no other, should be IHDR", format.ErrMalformed)
		}
		if !isName(head[4:]) {
			return parts, fmt.Errorf("%w: PNG with a chunk called %q, where four letters are needed", format.ErrMalformed, name)
		}
		switch name {
		case "IHDR":
			b, err := data()
			if err != nil {
				return parts, err
			}
			if err := parts.readHeader(src, b); err != nil {
				return parts, err
			}
		case "IDAT":
			// Data that cannot be compressed take a little more than their size.
			if parts.coded += length; parts.coded > 2*parts.header.raw()+1<<20 {
				return parts, fmt.Errorf("%w: PNG with more data than pixels need", format.ErrMalformed)
			}
		case "IEND":
			parts.complete = true
			return parts, nil
		case "tRNS":
			parts.transparency = true
		case "acTL":
			parts.warnings = append(parts.warnings, "the animation is dropped: only its still image is read")
		case "caBX":
			parts.warnings = append(parts.warnings, metadata.PartClaims+" are dropped: they are of the file as it was")
		case "PLTE", "sBIT", "bKGD", "hIST", "tIME", "fcTL", "fdAT", "sPLT":
			// These depend on the samples as they were stored, or on the time.
		default:
			const uppercase = 0x20 // this bit is 0 in capitals
			critical := name[0]&uppercase == 0
			copySafe := name[3]&uppercase != 0
			if _, known := ancillary[name]; critical || !known && !copySafe {
				break
			}
			b, err := data()
			if err != nil {
				return parts, err
			}
			if err := parts.keep(name, b); err != nil {
				return parts, err
			}
		}
		offset += 8 + length + 4
	}
}

func isName(name []byte) bool {
	for _, c := range name {
		if c |= 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

func (p *chunks) readHeader(src *source.Source, b []byte) error {
	if len(b) != 13 {
		return fmt.Errorf("%w: a PNG header has 13 bytes, not %d", format.ErrMalformed, len(b))
	}
	p.header = imageHeader{
		width:  int(int32(binary.BigEndian.Uint32(b))),
		height: int(int32(binary.BigEndian.Uint32(b[4:]))),
		depth:  b[8], colour: b[9], laced: b[12],
	}
	return src.CheckSize(format.PNG, p.header.width, p.header.height)
}

// ancillary are the chunks to keep although an editor that does not know them
// should not copy them.
var ancillary = map[string]bool{
	"iCCP": true, "eXIf": true, "pHYs": true, "iTXt": true, "tEXt": true, "zTXt": true,
	"gAMA": true, "cHRM": true, "sRGB": true, "cICP": true, "mDCV": true, "mDCv": true, "cLLI": true, "cLLi": true,
}

// chunkSizes are those of chunks that are kept as they are. Programs fail on others.
var chunkSizes = map[string]int{
	"gAMA": 4, "cHRM": 32, "sRGB": 1, "cICP": 4, "mDCV": 24, "mDCv": 24, "cLLI": 8, "cLLi": 8,
}

// keep takes an ancillary chunk into the metadata.
func (p *chunks) keep(name string, b []byte) error {
	d := &p.metadata
	chunk := metadata.Chunk{Name: name, Data: b}
	size, fixed := chunkSizes[name]
	switch {
	case fixed && len(b) != size,
		chunk.IsText() && bytes.IndexByte(b, 0) < 1:
		if warning := fmt.Sprintf("the chunk %s is dropped: it is malformed", name); !slices.Contains(p.warnings, warning) {
			p.warnings = append(p.warnings, warning)
		}
		return nil
	case fixed && p.seen[name]:
		return nil // the first one counts
	case fixed:
		p.seen[name] = true
	}
	switch name {
	case "iCCP":
		_, rest, ok := bytes.Cut(b, []byte{0})
		if !ok || len(rest) < 1 || rest[0] != 0 {
			p.warnings = append(p.warnings, "the colour profile is dropped: its chunk is malformed")
			return nil
		}
		icc, err := p.inflate(rest[1:])
		if err == errTooLong {
			return fmt.Errorf("%w: the colour profile in PNG is larger than %d MB when unpacked", format.ErrMalformed, metadata.MaxSize>>20)
		}
		if err != nil {
			p.warnings = append(p.warnings, "the colour profile is dropped: it cannot be unpacked")
			return nil
		}
		p.icc = icc
	case "eXIf":
		d.EXIF = metadata.TrimEXIF(b)
	case "pHYs":
		if len(b) == 9 {
			units := map[byte]metadata.Unit{0: metadata.Aspect, 1: metadata.Metre}
			r := metadata.Resolution{
				X:    float64(binary.BigEndian.Uint32(b)),
				Y:    float64(binary.BigEndian.Uint32(b[4:])),
				Unit: units[b[8]],
			}
			if r.Known() {
				d.Resolution = r
			}
		}
	case "iTXt":
		if xmp, ok, err := p.xmpOf(b); err != nil {
			return err
		} else if ok {
			d.XMP = xmp
			return nil
		}
		fallthrough
	default:
		if !chunk.IsText() || !p.keepRawProfile(chunk) {
			d.Chunks = append(d.Chunks, chunk)
		}
	}
	return nil
}

const xmpKeyword = "XML:com.adobe.xmp"

// xmpOf returns the packet of an iTXt chunk that holds XMP: keyword, 0,
// compression flag and method, language, 0, translated keyword, 0, text.
func (p *chunks) xmpOf(b []byte) (packet []byte, ok bool, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(xmpKeyword+"\x00"))
	if !ok || len(rest) < 2 {
		return nil, false, nil
	}
	packed := rest[0] == 1
	_, rest, ok1 := bytes.Cut(rest[2:], []byte{0})
	_, rest, ok2 := bytes.Cut(rest, []byte{0})
	if !ok1 || !ok2 {
		return nil, false, nil
	}
	if !packed {
		return rest, true, nil
	}
	text, err := p.inflate(rest)
	if err == errTooLong {
		return nil, false, fmt.Errorf("%w: the XMP in PNG is larger than %d MB when unpacked", format.ErrMalformed, metadata.MaxSize>>20)
	}
	return text, err == nil, nil
}

var errTooLong = fmt.Errorf("more than %d bytes when unpacked", metadata.MaxSize)

// inflate unpacks zlib data. All that a file has may be metadata.MaxSize bytes.
func (p *chunks) inflate(packed []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	room := metadata.MaxSize - p.unpacked
	b, err := io.ReadAll(io.LimitReader(z, int64(room)+1))
	p.unpacked += min(len(b), room)
	switch {
	case err != nil:
		return nil, err
	case len(b) > room:
		return nil, errTooLong
	}
	return b, nil
}
