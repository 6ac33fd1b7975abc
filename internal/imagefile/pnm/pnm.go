// Package pnm reads and writes the maps of Netpbm, PGM and PPM, and the portable float map, PFM.
package pnm

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
)

// The grey and colour maps of Netpbm (pgm(5), ppm(5)): "P5" (grey) or "P6" (colour), "width height
// maxval" as text, one space, then rows of samples from 0 to maxval from the top, of one byte or,
// if maxval is above 255, of two, the high one first. In "P2" and "P3" the samples are text, too.

// largest is the largest maxval.
const largest = 65535

// IsSpace tells whether a byte separates words in the header of a Netpbm file or a PFM.
func IsSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// maxHeaderWord bounds a number in such a header, in bytes.
const maxHeaderWord = 40

// readHeaderWord returns the next word, the one space after it, which may be missing at the end
// of the file, and the bytes read. What is from # to the end of the line is a comment, and counts
// as that end.
func readHeaderWord(r *bufio.Reader) (word string, last byte, n int64, err error) {
	var w []byte
	for comment := false; ; {
		b, err := r.ReadByte()
		if err == io.EOF && len(w) > 0 {
			return string(w), 0, n, nil
		}
		if err != nil {
			return "", 0, n, err
		}
		n++
		if comment = (comment || b == '#') && b != '\n' && b != '\r'; comment {
			continue
		}
		switch {
		case IsSpace(b) && len(w) > 0:
			return string(w), b, n, nil
		case IsSpace(b):
		case len(w) == maxHeaderWord:
			return "", 0, n, io.ErrUnexpectedEOF
		default:
			w = append(w, b)
		}
	}
}

// header is the header of a file.
type header struct {
	format        format.Format
	width, height int
	channels      int
	maximum       int
	text          bool
	length        int64 // bytes before the samples

	carriageReturn bool // the header ends in one
}

// size is the bytes of a sample that is no text.
func (h *header) size() int { return (bits.Len(uint(h.maximum)) + 7) / 8 }

func readHeader(src *source.Source, f format.Format) (*header, error) {
	h := &header{format: f, channels: 1}
	if f == format.PPM {
		h.channels = 3
	}
	r := bufio.NewReaderSize(src.From(0), 256)
	kind, _, n, err := readHeaderWord(r)
	if err != nil || len(kind) != 2 {
		return nil, fmt.Errorf("%w: the %s header does not begin with P2, P3, P5 or P6 alone", format.ErrMalformed, f)
	}
	h.length = n
	h.text = kind[1] <= '3'
	for _, word := range []struct {
		name string
		to   *int
	}{{"width", &h.width}, {"height", &h.height}, {"largest value", &h.maximum}} {
		w, last, n, err := readHeaderWord(r)
		if err != nil {
			return nil, fmt.Errorf("%w: the %s header has no %s", format.ErrMalformed, f, word.name)
		}
		h.length += n
		v, err := strconv.ParseInt(w, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: the %s header has %q for the %s, not a number", format.ErrMalformed, f, w, word.name)
		}
		*word.to = int(v)
		h.carriageReturn = last == '\r'
	}
	if h.maximum < 1 || h.maximum > largest {
		return nil, fmt.Errorf("%w: the %s header has %d for the largest value, not 1 to %d", format.ErrMalformed, f, h.maximum, largest)
	}
	return h, nil
}

// Decode reads a PGM or PPM.
func Decode(src *source.Source, f format.Format) (*picture.Image, error) {
	h, err := readHeader(src, f)
	if err != nil {
		return nil, err
	}
	if err := src.CheckSize(f, h.width, h.height); err != nil {
		return nil, err
	}
	samples := int64(h.channels) * int64(h.width) * int64(h.height)
	need := samples * int64(h.size())
	if h.text {
		need = 2*samples - 1 // digits with a space between each two
	}
	if !src.Has(h.length + need) {
		have := src.Available() - h.length
		return nil, fmt.Errorf("%w: %s of %d×%d needs %d bytes of samples and has %d (a truncated file?)", format.ErrMalformed, f, h.width, h.height, need, max(have, 0))
	}
	// A header that ends in CR LF has one byte more than one that ends in LF.
	if h.carriageReturn && !h.text && src.Has(h.length+need+1) && !src.Has(h.length+need+2) {
		h.length++
	}
	depth := 8
	if h.size() > 1 {
		depth = 16
	}
	m := picture.New(h.width, h.height, h.channels, depth, false)
	m.SourceDepth = bits.Len(uint(h.maximum))
	r := bufio.NewReaderSize(src.From(h.length), 1<<16)
	if err := h.readSamples(m, r); err != nil {
		return nil, err
	}
	// Several pictures may follow each other in one file.
	if next, err := r.Peek(2); err == nil && next[0] == 'P' && next[1] >= '1' && next[1] <= '7' {
		m.Warn("only the first picture in the file is read")
	}
	return m, nil
}

// readSamples fills m, whose samples are interleaved in the file.
func (h *header) readSamples(m *picture.Image, r *bufio.Reader) error {
	row := make([]byte, h.size()*h.channels*h.width)
	for y := range h.height {
		if !h.text {
			if _, err := io.ReadFull(r, row); err != nil {
				return format.Foreign(h.format, err)
			}
		}
		for i := range h.channels * h.width {
			v := 0
			switch {
			case h.text:
				w, _, _, err := readHeaderWord(r)
				if err != nil {
					return format.Truncated(h.format)
				}
				n, err := strconv.ParseUint(w, 10, 31)
				if err != nil {
					return fmt.Errorf("%w: %s: a sample is %q, not a number", format.ErrMalformed, h.format, w)
				}
				v = int(n)
			case h.size() == 1:
				v = int(row[i])
			default:
				v = int(binary.BigEndian.Uint16(row[2*i:]))
			}
			if v > h.maximum {
				return fmt.Errorf("%w: %s: a sample is %d, above the largest value, %d", format.ErrMalformed, h.format, v, h.maximum)
			}
			m.Plane(i % h.channels)[y*h.width+i/h.channels] = float32(v) / float32(h.maximum)
		}
	}
	return nil
}

// Encode writes P5, or P6 if colour: of a grey image then three equal channels.
func Encode(w io.Writer, m *picture.Image, depth int, colour bool) error {
	kind, order := "P5", picture.LayoutGrey
	switch {
	case m.Channels == 3:
		kind, order = "P6", picture.LayoutRGB
	case colour:
		kind, order = "P6", picture.Layout{0, 0, 0}
	}
	if _, err := fmt.Fprintf(w, "%s\n%d %d\n%d\n", kind, m.Width, m.Height, 1<<depth-1); err != nil {
		return err
	}
	row := make([]byte, depth/8*len(order)*m.Width)
	for y := range m.Height {
		m.PackRow(row, y, depth, order, binary.BigEndian)
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}
