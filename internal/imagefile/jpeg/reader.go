// Package jpeg reads and writes JPEG: what image/jpeg reads, with its metadata, its coding and the names of its other parts,
// also from a damaged file, and writes it with all of its chroma.
package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"io"

	"github.com/averaged/imaging/internal/imagefile/chroma"
	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
)

// What the segments of metadata begin with, and how much fits behind it.
const (
	profileMark = "ICC_PROFILE\x00"

	MaxXMP          = metadata.MaxSegment - len(metadata.XMPMark)
	maxProfilePiece = metadata.MaxSegment - len(profileMark) - 2
	MaxProfile      = 255 * maxProfilePiece
)

// open reads what comes before the samples, and refuses an image that is too large.
func open(src *source.Source) (image.Config, *segments, error) {
	config, err := stdjpeg.DecodeConfig(src.From(0))
	if err != nil {
		return config, nil, foreign(err)
	}
	if err := src.CheckSize(format.JPEG, config.Width, config.Height); err != nil {
		return config, nil, err
	}
	parts, err := readSegments(src)
	return config, parts, err
}

// Decode reads a JPEG, and the noise of its coding if asked, and finds the parts that it does not read.
func Decode(src *source.Source, noise bool) (*picture.Image, Others, error) {
	_, parts, err := open(src)
	if err != nil {
		return nil, Others{}, err
	}
	img, err := stdjpeg.Decode(parts.whole(src, 0))
	if err == stdjpeg.FormatError("uninitialized Huffman table") { // a frame of Motion JPEG
		img, err = stdjpeg.Decode(io.MultiReader(bytes.NewReader(usualCodes()), parts.whole(src, 2)))
	}
	if err != nil {
		return nil, Others{}, foreign(err)
	}
	return parts.image(img, src, noise)
}

// whole reads the file from an offset before the first scan on. Metadata may have the bytes that mark a scan.
func (parts *segments) whole(src *source.Source, offset int64) io.Reader {
	return io.MultiReader(io.NewSectionReader(src, offset, parts.scan-offset), LimitScans(src.From(parts.scan)))
}

// usualCodes is the beginning of a file: the codes of annex K, which frames of Motion JPEG leave out.
func usualCodes() []byte {
	var b bytes.Buffer // whose writing does not fail
	b.Write([]byte{0xff, segment.SOI})
	s := segmentWriter{w: &b}
	s.writeUsualCodes(len(annexK))
	return b.Bytes()
}

// image is what was decoded, with what the segments say of it.
func (parts *segments) image(img image.Image, src *source.Source, noise bool) (*picture.Image, Others, error) {
	b := img.Bounds()
	if err := src.CheckSize(format.JPEG, b.Dx(), b.Dy()); err != nil {
		return nil, Others{}, err
	}
	channels := 3
	if _, grey := img.(*image.Gray); grey {
		channels = 1
	}
	m := picture.New(b.Dx(), b.Dy(), channels, 8, false)
	if ycc, ok := img.(*image.YCbCr); ok {
		m.FillSmooth(ycc, chroma.JFIFToRGB)
	} else {
		m.Fill(img)
	}
	m.JPEG = parts.frame.coding(img, noise)
	m.Metadata = parts.metadata
	m.Metadata.IPTC = metadata.IPTCOfSegments(parts.metadata.Segments)
	m.Warnings = parts.warnings
	others := parts.others
	others.readBehind(src, parts.scan)
	if _, inks := img.(*image.CMYK); inks {
		m.WarnCMYK()
	}
	m.SetICC(parts.profile())
	m.Metadata.TakeResolution()
	return m, others, nil
}

// foreign tells what image/jpeg cannot read from what is broken.
func foreign(err error) error {
	if u, ok := err.(stdjpeg.UnsupportedError); ok {
		return fmt.Errorf("%w: JPEG with %s", format.ErrUnsupported, Unread(u))
	}
	return format.Foreign(format.JPEG, err)
}

// Unread says what a kind of JPEG has that image/jpeg does not read, and what helps.
func Unread(err stdjpeg.UnsupportedError) string {
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

// segments is what the segments before the first scan say.
type segments struct {
	frame    frameHeader
	metadata metadata.Metadata
	pieces   [][]byte // of the profile, by number
	count    int      // of pieces that there should be
	scan     int64    // offset of the first scan, or of what is broken
	others   Others
	warnings []string
}

// readSegments walks over the segments up to the first scan. What is broken
// there is image/jpeg's to report; here it ends the walk.
func readSegments(src *source.Source) (*segments, error) {
	p := &segments{}
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
		case marker == segment.SOS, marker == segment.EOI, length < 2:
			return p, nil
		case marker == segment.DQT, marker >= segment.SOF0 && marker <= segment.SOF2:
			// Of the coding, not metadata.
		case marker != segment.COM && marker != metadata.MarkerAPP13 && marker != segment.JUMBF && (marker < segment.APP0 || marker > segment.APP2):
			if start, err := src.Bytes(offset+4, min(length-2, segmentName)); err == nil {
				p.others.addSegment(marker, start)
			}
			offset += 2 + length
			continue
		}
		if budget -= length; budget < 0 {
			return nil, fmt.Errorf("%w: the metadata in JPEG is larger than %d MB", format.ErrUnsupported, metadata.MaxSize>>20)
		}
		data, err := src.Bytes(offset+4, length-2)
		if err != nil {
			return p, nil
		}
		p.keep(marker, data)
		if marker >= segment.APP0 && marker <= segment.JUMBF {
			p.others.readSegment(src, marker, data, offset+4)
		}
		offset += 2 + length
	}
}

func (p *segments) keep(marker byte, data []byte) {
	d := &p.metadata
	switch marker {
	case segment.DQT:
		p.frame.readTables(data)
	case segment.SOF0, segment.SOF1, segment.SOF2:
		p.frame.readComponents(data)
	case segment.APP0:
		// Version (2 bytes), units, densities.
		rest, ok := bytes.CutPrefix(data, []byte(segment.JFIF))
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
	case segment.APP1:
		if rest, ok := bytes.CutPrefix(data, []byte(metadata.EXIFMark)); ok && d.EXIF == nil {
			d.EXIF = rest
		}
		if rest, ok := bytes.CutPrefix(data, []byte(metadata.XMPMark)); ok && d.XMP == nil {
			d.XMP = rest
		}
	case segment.APP2:
		rest, ok := bytes.CutPrefix(data, []byte(profileMark))
		if !ok || len(rest) < 2 {
			return
		}
		if p.pieces == nil {
			p.pieces = make([][]byte, 256)
			p.count = int(rest[1])
		}
		p.pieces[rest[0]] = rest[2:]
	case segment.COM, metadata.MarkerAPP13:
		d.Segments = append(d.Segments, metadata.Segment{Marker: marker, Data: data})
	}
}

// profile joins the pieces of the colour profile, which are numbered from 1.
func (p *segments) profile() []byte {
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

// writeMetadata writes the segments that follow the start of the image.
func writeMetadata(w io.Writer, d *metadata.Metadata) error {
	s := segmentWriter{w: w}
	_, s.err = w.Write(segment.AppendJFIF(nil, d.Resolution))
	if d.EXIF != nil {
		s.segment(segment.APP1, metadata.EXIFMark, d.EXIF)
	}
	if d.XMP != nil {
		s.segment(segment.APP1, metadata.XMPMark, d.XMP)
	}
	pieces := (len(d.ICC) + maxProfilePiece - 1) / maxProfilePiece
	for i := range pieces {
		piece := d.ICC[i*maxProfilePiece : min((i+1)*maxProfilePiece, len(d.ICC))]
		s.segment(segment.APP2, profileMark+string([]byte{byte(i + 1), byte(pieces)}), piece)
	}
	if d.IPTC != nil && metadata.IPTCOfSegments(d.Segments) == nil {
		s.segment(metadata.MarkerAPP13, "", metadata.IPTCSegment(d.IPTC))
	}
	for _, kept := range d.Segments {
		s.segment(kept.Marker, "", kept.Data)
	}
	return s.err
}

// segmentWriter writes segments, and nothing more after an error.
type segmentWriter struct {
	w   io.Writer
	err error
}

func (s *segmentWriter) segment(marker byte, mark string, data []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(segment.Append(nil, marker, mark, data))
	}
}

// writeUsualCodes writes the codes of annex K: of luma, and of chroma if there are two tables.
func (s *segmentWriter) writeUsualCodes(tables int) {
	for t := range tables {
		for class, h := range annexK[t] {
			s.segment(segment.DHT, "", append(append([]byte{byte(class<<4 | t)}, h.lengths[:]...), h.symbols...))
		}
	}
}
