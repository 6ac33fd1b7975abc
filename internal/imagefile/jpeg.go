package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"io"

	"github.com/averaged/imaging/internal/metadata"
)

// The markers of JPEG that are looked at (ISO/IEC 10918-1, table B.1).
const (
	markerSOF0  = 0xc0 // baseline
	markerSOF1  = 0xc1 // extended
	markerSOF2  = 0xc2 // progressive
	markerDHT   = 0xc4
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP1  = 0xe1
	markerAPP2  = 0xe2
	markerJUMBF = 0xeb
	markerAPP14 = 0xee
	markerCOM   = 0xfe
)

// What the segments of metadata begin with, and how much fits behind it.
const (
	jfifMark    = "JFIF\x00"
	xmpMark     = "http://ns.adobe.com/xap/1.0/\x00"
	profileMark = "ICC_PROFILE\x00"

	maxJPEGXMP      = metadata.MaxSegment - len(xmpMark)
	maxProfilePiece = metadata.MaxSegment - len(profileMark) - 2
	maxJPEGProfile  = 255 * maxProfilePiece
)

// openJPEG reads what comes before the samples, and refuses an image that is too large.
func openJPEG(src source, opt ReadOptions) (image.Config, *jpegParts, error) {
	config, err := jpeg.DecodeConfig(src.from(0))
	if err != nil {
		return config, nil, jpegError(err)
	}
	if err := opt.checkSize(src, JPEG, config.Width, config.Height); err != nil {
		return config, nil, err
	}
	parts, err := readJPEGSegments(src)
	return config, parts, err
}

func decodeJPEG(src source, opt ReadOptions) (*Image, error) {
	_, parts, err := openJPEG(src, opt)
	if err != nil {
		return nil, err
	}
	img, err := jpeg.Decode(src.from(0))
	if err == jpeg.FormatError("uninitialized Huffman table") { // a frame of Motion JPEG
		img, err = jpeg.Decode(io.MultiReader(bytes.NewReader(usualCodes()), src.from(2)))
	}
	if err != nil {
		return nil, jpegError(err)
	}
	return parts.image(img, src, opt)
}

// usualCodes is the beginning of a file: the codes of annex K, which frames of Motion JPEG leave out.
func usualCodes() []byte {
	var b bytes.Buffer // whose writing does not fail
	b.Write([]byte{0xff, markerSOI})
	s := segmentWriter{w: &b}
	s.writeUsualCodes()
	return b.Bytes()
}

// image is what was decoded, with what the segments say of it.
func (parts *jpegParts) image(img image.Image, src source, opt ReadOptions) (*Image, error) {
	b := img.Bounds()
	if err := opt.checkSize(src, JPEG, b.Dx(), b.Dy()); err != nil {
		return nil, err
	}
	channels := 3
	if _, grey := img.(*image.Gray); grey {
		channels = 1
	}
	m := newImage(b.Dx(), b.Dy(), channels, 8, false)
	if ycc, ok := img.(*image.YCbCr); ok {
		m.fillSmooth(ycc, jfifToRGB)
	} else {
		m.fill(img)
	}
	m.JPEG = parts.frame.coding(img, opt.CodingNoise)
	m.Metadata = parts.metadata
	m.Metadata.IPTC = metadata.IPTCOfSegments(parts.metadata.Segments)
	m.Warnings = parts.warnings
	m.others = parts.others
	m.others.readBehind(src, parts.scan)
	if _, inks := img.(*image.CMYK); inks {
		m.warnCMYK()
	}
	m.setICC(parts.profile())
	m.resolutionFromEXIF()
	return m, nil
}

// jpegError tells what image/jpeg cannot read from what is broken.
func jpegError(err error) error {
	if u, ok := err.(jpeg.UnsupportedError); ok {
		return fmt.Errorf("%w: JPEG with %s", ErrUnsupported, unreadJPEG(u))
	}
	return foreignError(JPEG, err)
}

// unreadJPEG says what a kind of JPEG has that image/jpeg does not read, and what helps.
func unreadJPEG(err jpeg.UnsupportedError) string {
	switch what := string(err); what {
	case "unknown marker":
		return "lossless, arithmetic or another unusual coding (save it as an ordinary JPEG or PNG)"
	case "precision":
		return "more than 8 bits per sample (save it with 8 bits, or as PNG or TIFF)"
	case "luma/chroma subsampling ratio":
		return "an unusual resolution of its colours (save it with 4:4:4 or 4:2:0, or as PNG)"
	default:
		return what + " (save it as an ordinary JPEG or PNG)"
	}
}

// jpegParts is what the segments before the first scan say.
type jpegParts struct {
	frame    jpegFrame
	metadata metadata.Metadata
	pieces   [][]byte // of the profile, by number
	count    int      // of pieces that there should be
	scan     int64    // offset of the first scan, or of what is broken
	others   otherParts
	warnings []string
}

// readJPEGSegments walks over the segments up to the first scan. What is broken
// there is image/jpeg's to report; here it ends the walk.
func readJPEGSegments(src source) (*jpegParts, error) {
	p := &jpegParts{}
	budget := int64(metadata.MaxSize)
	const maxSkipped = 1 << 12
	skipped := 0 // bytes between segments
	for offset := int64(2); ; {
		p.scan = offset
		head, err := src.Bytes(offset, 4)
		if err == nil && head[0] != 0xff && skipped < maxSkipped { // image/jpeg goes on, too
			offset++
			skipped++
			continue
		}
		if err != nil || head[0] != 0xff {
			return p, nil
		}
		marker, length := head[1], int64(binary.BigEndian.Uint16(head[2:]))
		switch {
		case marker == 0xff: // A fill byte.
			offset++
			continue
		case marker == markerSOS, marker == markerEOI, length < 2:
			return p, nil
		case marker == markerDQT, marker >= markerSOF0 && marker <= markerSOF2:
			// Of the coding, not metadata.
		case marker != markerCOM && marker != metadata.MarkerAPP13 && marker != markerJUMBF && (marker < markerAPP0 || marker > markerAPP2):
			if start, err := src.Bytes(offset+4, min(length-2, segmentName)); err == nil {
				p.others.addSegment(marker, start)
			}
			offset += 2 + length
			continue
		}
		if budget -= length; budget < 0 {
			return nil, fmt.Errorf("%w: the metadata in JPEG is larger than %d MB", ErrUnsupported, metadata.MaxSize>>20)
		}
		data, err := src.Bytes(offset+4, length-2)
		if err != nil {
			return p, nil
		}
		p.keep(marker, data)
		if marker >= markerAPP0 && marker <= markerJUMBF {
			p.others.readSegment(src, marker, data, offset+4)
		}
		offset += 2 + length
	}
}

func (p *jpegParts) keep(marker byte, data []byte) {
	d := &p.metadata
	switch marker {
	case markerDQT:
		p.frame.readTables(data)
	case markerSOF0, markerSOF1, markerSOF2:
		p.frame.readComponents(data)
	case markerAPP0:
		// Version (2 bytes), units, densities.
		rest, ok := bytes.CutPrefix(data, []byte(jfifMark))
		if !ok || len(rest) < 7 {
			return
		}
		units := map[byte]metadata.Unit{0: metadata.Aspect, 1: metadata.Inch, 2: metadata.Centimetre}
		r := metadata.Resolution{
			X:    float64(binary.BigEndian.Uint16(rest[3:])),
			Y:    float64(binary.BigEndian.Uint16(rest[5:])),
			Unit: units[rest[2]],
		}
		if r.Known() {
			d.Resolution = r
		}
	case markerAPP1:
		if rest, ok := bytes.CutPrefix(data, []byte(metadata.EXIFMark)); ok && d.EXIF == nil {
			d.EXIF = rest
		}
		if rest, ok := bytes.CutPrefix(data, []byte(xmpMark)); ok && d.XMP == nil {
			d.XMP = rest
		}
	case markerAPP2:
		rest, ok := bytes.CutPrefix(data, []byte(profileMark))
		if !ok || len(rest) < 2 {
			return
		}
		if p.pieces == nil {
			p.pieces = make([][]byte, 256)
			p.count = int(rest[1])
		}
		p.pieces[rest[0]] = rest[2:]
	case markerCOM, metadata.MarkerAPP13:
		d.Segments = append(d.Segments, metadata.Segment{Marker: marker, Data: data})
	}
}

// profile joins the pieces of the colour profile, which are numbered from 1.
func (p *jpegParts) profile() []byte {
	if p.pieces == nil {
		return nil
	}
	var icc []byte
	for i := range p.count {
		piece := p.pieces[i+1]
		if piece == nil {
			p.warnings = append(p.warnings, fmt.Sprintf("the colour profile is dropped: piece %d of %d is missing", i+1, p.count))
			return nil
		}
		icc = append(icc, piece...)
	}
	return icc
}

// resolutionFromEXIF takes the resolution from EXIF where the file's own header
// gives none, or a ratio only.
func (m *Image) resolutionFromEXIF() {
	if m.Metadata.EXIF == nil || m.Metadata.Resolution.Unit > metadata.Aspect {
		return
	}
	if r := metadata.ResolutionOfEXIF(m.Metadata.EXIF); r.Known() {
		m.Metadata.Resolution = r
	}
}

// writeJPEGMetadata writes the segments that follow the start of the image.
func writeJPEGMetadata(w io.Writer, d *metadata.Metadata) error {
	s := segmentWriter{w: w}
	s.segment(markerAPP0, jfifMark, jfifHeader(d.Resolution))
	if d.EXIF != nil {
		s.segment(markerAPP1, metadata.EXIFMark, d.EXIF)
	}
	if d.XMP != nil {
		s.segment(markerAPP1, xmpMark, d.XMP)
	}
	pieces := (len(d.ICC) + maxProfilePiece - 1) / maxProfilePiece
	for i := range pieces {
		piece := d.ICC[i*maxProfilePiece : min((i+1)*maxProfilePiece, len(d.ICC))]
		s.segment(markerAPP2, profileMark+string([]byte{byte(i + 1), byte(pieces)}), piece)
	}
	if d.IPTC != nil && metadata.IPTCOfSegments(d.Segments) == nil {
		s.segment(metadata.MarkerAPP13, "", metadata.IPTCSegment(d.IPTC))
	}
	for _, kept := range d.Segments {
		s.segment(kept.Marker, "", kept.Data)
	}
	return s.err
}

// jfifHeader is version 1.02, the density in 16-bit numbers, and no thumbnail.
func jfifHeader(r metadata.Resolution) []byte {
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
	return append(h, 0, 0)
}

// segmentWriter writes segments, and nothing more after an error.
type segmentWriter struct {
	w   io.Writer
	err error
}

func (s *segmentWriter) segment(marker byte, mark string, data []byte) {
	if s.err != nil {
		return
	}
	head := []byte{0xff, marker}
	head = binary.BigEndian.AppendUint16(head, uint16(2+len(mark)+len(data)))
	if _, s.err = s.w.Write(append(head, mark...)); s.err == nil {
		_, s.err = s.w.Write(data)
	}
}

// writeUsualCodes writes the codes of annex K.
func (s *segmentWriter) writeUsualCodes() {
	for t := range jpegHuffman {
		for class, h := range jpegHuffman[t] {
			s.segment(markerDHT, "", append(append([]byte{byte(class<<4 | t)}, h.lengths[:]...), h.symbols...))
		}
	}
}
