package pnm

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
)

// The portable float map has no standard; the usual reference is the page of
// Paul Debevec. A header of text lines, "PF" (colour) or "Pf" (grey), "width
// height", and a scale whose sign is the byte order (negative: little endian),
// then rows of 32-bit floats from the bottom to the top. The amount of the scale
// has no agreed meaning: it must be a number other than 0 and is otherwise
// ignored, as most programs do.

// DecodePFM reads a portable float map. Its samples may be infinite or not a number.
func DecodePFM(src *source.Source) (*picture.Image, error) {
	h, err := readPFMHeader(src)
	if err != nil {
		return nil, err
	}
	if err := src.CheckSize(format.PFM, h.width, h.height); err != nil {
		return nil, err
	}
	rowBytes := int64(h.channels) * int64(h.width) * 4
	need := rowBytes * int64(h.height)
	if !src.Has(h.length + need) {
		have := src.Available() - h.length
		return nil, fmt.Errorf("%w: PFM of %d×%d needs %d bytes of samples and has %d (a truncated file?)", format.ErrMalformed, h.width, h.height, need, max(have, 0))
	}
	// A header that ends in CR LF has one byte more than one that ends in LF.
	if h.carriageReturn && src.Has(h.length+need+1) && !src.Has(h.length+need+2) {
		h.length++
	}
	m := picture.New(h.width, h.height, h.channels, 32, false)
	r := bufio.NewReaderSize(src.From(h.length), 1<<16)
	row := make([]byte, rowBytes)
	step := 4 * h.channels
	for y := h.height - 1; y >= 0; y-- {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, format.Foreign(format.PFM, err)
		}
		for c := range h.channels {
			dst := m.Plane(c)[y*h.width : (y+1)*h.width]
			if h.order == binary.ByteOrder(binary.LittleEndian) {
				for x, i := 0, 4*c; x < len(dst); x, i = x+1, i+step {
					dst[x] = math.Float32frombits(binary.LittleEndian.Uint32(row[i:]))
				}
			} else {
				for x, i := 0, 4*c; x < len(dst); x, i = x+1, i+step {
					dst[x] = math.Float32frombits(binary.BigEndian.Uint32(row[i:]))
				}
			}
		}
	}
	return m, nil
}

type pfmHeader struct {
	width, height, channels int
	order                   binary.ByteOrder
	length                  int64 // bytes before the samples
	carriageReturn          bool  // the header ends in one
}

func readPFMHeader(src *source.Source) (h pfmHeader, err error) {
	r := bufio.NewReaderSize(src.From(0), 256)
	word := func(what string) (string, error) {
		w, last, n, err := readHeaderWord(r)
		h.length += n
		h.carriageReturn = last == '\r'
		if err != nil {
			return "", fmt.Errorf("%w: the PFM header has no %s", format.ErrMalformed, what)
		}
		return w, nil
	}
	kind, err := word("mark")
	if err != nil {
		return h, err
	}
	switch kind {
	case "PF":
		h.channels = 3
	case "Pf":
		h.channels = 1
	default:
		return h, fmt.Errorf("%w: a PFM file begins with PF or Pf, not %q", format.ErrMalformed, kind)
	}
	for _, side := range []struct {
		name string
		to   *int
	}{{"width", &h.width}, {"height", &h.height}} {
		w, err := word(side.name)
		if err != nil {
			return h, err
		}
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil {
			return h, fmt.Errorf("%w: the PFM header has %q for the %s, not a number of pixels", format.ErrMalformed, w, side.name)
		}
		*side.to = int(n)
	}
	w, err := word("scale")
	if err != nil {
		return h, err
	}
	scale, err := strconv.ParseFloat(w, 64)
	if err != nil || scale == 0 || scale-scale != 0 {
		return h, fmt.Errorf("%w: the PFM header has %q for the scale, not a number below or above 0", format.ErrMalformed, w)
	}
	h.order = binary.BigEndian
	if scale < 0 {
		h.order = binary.LittleEndian
	}
	return h, nil
}

// EncodePFM writes little-endian samples, as they are.
func EncodePFM(w io.Writer, m *picture.Image) error {
	kind, order := "PF", picture.LayoutRGB
	if m.Channels == 1 {
		kind, order = "Pf", picture.LayoutGrey
	}
	if _, err := fmt.Fprintf(w, "%s\n%d %d\n-1.0\n", kind, m.Width, m.Height); err != nil {
		return err
	}
	row := make([]byte, 4*m.Channels*m.Width)
	for y := m.Height - 1; y >= 0; y-- {
		m.PackRow(row, y, 32, order, binary.LittleEndian)
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}
