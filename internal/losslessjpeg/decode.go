package losslessjpeg

import (
	"encoding/binary"
)

// The markers that are looked at (table B.1).
const (
	markerSOF0 = 0xC0
	markerSOF3 = 0xC3
	markerDHT  = 0xC4
	markerJPG  = 0xC8
	markerDAC  = 0xCC
	markerSOFF = 0xCF
	markerRST0 = 0xD0
	markerSOI  = 0xD8
	markerEOI  = 0xD9
	markerSOS  = 0xDA
	markerDRI  = 0xDD
)

// decoder reads one frame.
type decoder struct {
	data    []byte
	pos     int
	frame   Frame
	ids     []byte // of the components, in the order of the frame
	shift   int    // of the point transform
	restart int    // pixels between restarts, or 0
	tables  [4]*lookup
	scan    []*lookup // the table of each component
}

// Decode returns the samples of a frame in the order of the file: row by row, the components of
// a pixel beside each other. It fails before it makes room for them if there are more than limit,
// or more than the data can hold: each takes at least a bit.
func Decode(data []byte, limit int) (Frame, []uint16, error) {
	d := &decoder{data: data}
	if err := d.readHeaders(); err != nil {
		return Frame{}, nil, err
	}
	n := d.frame.samples()
	if n > int64(limit) {
		return Frame{}, nil, malformed("%d×%d pixels of %d samples, where %d samples are expected", d.frame.Width, d.frame.Height, d.frame.Components, limit)
	}
	if n > 8*int64(len(data)) {
		return Frame{}, nil, malformed("the data ends early")
	}
	samples := make([]uint16, n)
	if err := d.readScan(samples); err != nil {
		return Frame{}, nil, err
	}
	return d.frame, samples, nil
}

// readHeaders reads all segments up to the scan.
func (d *decoder) readHeaders() error {
	if len(d.data) < 2 || d.data[0] != 0xFF || d.data[1] != markerSOI {
		return malformed("it does not begin with a JPEG header")
	}
	d.pos = 2
	for {
		marker, segment, err := d.segment()
		if err != nil {
			return err
		}
		switch {
		case marker == markerDHT:
			err = d.readTables(segment)
		case marker == markerSOF3:
			err = d.readFrame(segment)
		case marker == markerDRI:
			if len(segment) != 2 {
				return malformed("a restart interval of %d bytes", len(segment))
			}
			d.restart = int(binary.BigEndian.Uint16(segment))
		case marker == markerSOS:
			return d.readScanHeader(segment)
		case marker >= markerSOF0 && marker < markerSOF3:
			return ErrLossy
		case marker > markerSOF3 && marker <= markerSOFF && marker != markerJPG && marker != markerDAC:
			return unsupported("frame type %d (3 is read)", marker-markerSOF0)
		}
		if err != nil {
			return err
		}
	}
}

// segment returns the next marker and what belongs to it.
func (d *decoder) segment() (marker byte, segment []byte, err error) {
	for d.pos+1 < len(d.data) && d.data[d.pos] == 0xFF && d.data[d.pos+1] == 0xFF {
		d.pos++ // Any marker may be preceded by fill bytes (B.1.1.2).
	}
	if d.pos+4 > len(d.data) {
		return 0, nil, malformed("the data ends early")
	}
	if d.data[d.pos] != 0xFF {
		return 0, nil, malformed("no marker where one must be")
	}
	marker = d.data[d.pos+1]
	if marker == markerEOI || marker == markerSOI {
		return 0, nil, malformed("no scan")
	}
	n := int(binary.BigEndian.Uint16(d.data[d.pos+2:]))
	if n < 2 || d.pos+2+n > len(d.data) {
		return 0, nil, malformed("the data ends early")
	}
	segment = d.data[d.pos+4 : d.pos+2+n]
	d.pos += 2 + n
	return marker, segment, nil
}

func (d *decoder) readTables(segment []byte) error {
	for len(segment) > 0 {
		if len(segment) < 1+longest {
			return malformed("a Huffman table that is cut off")
		}
		var t huffmanTable
		sum := 0
		for n := 1; n <= longest; n++ {
			t.counts[n] = int(segment[n])
			sum += t.counts[n]
		}
		class, number := segment[0]>>4, segment[0]&15
		if len(segment) < 1+longest+sum || class > 1 || number > 3 {
			return malformed("a Huffman table that is none")
		}
		t.symbols = segment[1+longest : 1+longest+sum]
		segment = segment[1+longest+sum:]
		if class == 1 {
			continue // Tables of AC coefficients have no use here.
		}
		l, err := t.lookup()
		if err != nil {
			return err
		}
		d.tables[number] = &l
	}
	return nil
}

func (d *decoder) readFrame(segment []byte) error {
	if d.ids != nil {
		return malformed("two frames")
	}
	if len(segment) < 6 || len(segment) != 6+3*int(segment[5]) {
		return malformed("a frame header of %d bytes", len(segment))
	}
	d.frame = Frame{
		Precision:  int(segment[0]),
		Height:     int(binary.BigEndian.Uint16(segment[1:])),
		Width:      int(binary.BigEndian.Uint16(segment[3:])),
		Components: int(segment[5]),
	}
	f := d.frame
	if f.Width == 0 || f.Height == 0 {
		return malformed("a frame of %d×%d pixels", f.Width, f.Height)
	}
	if f.Precision < 2 || f.Precision > 16 {
		return malformed("%d bits per sample, 2 to 16 are possible", f.Precision)
	}
	if f.Components < 1 || f.Components > 4 {
		return unsupported("%d components (1 to 4 are read)", f.Components)
	}
	for c := range f.Components {
		if factors := segment[6+3*c+1]; f.Components > 1 && factors != 0x11 {
			return unsupported("components of different sizes")
		}
		d.ids = append(d.ids, segment[6+3*c])
	}
	return nil
}

func (d *decoder) readScanHeader(segment []byte) error {
	n := d.frame.Components
	if d.ids == nil {
		return malformed("a scan without a frame")
	}
	if len(segment) < 1 || len(segment) != 4+2*int(segment[0]) {
		return malformed("a scan header of %d bytes", len(segment))
	}
	if int(segment[0]) != n {
		return unsupported("a scan of %d of %d components (scans of all are read)", segment[0], n)
	}
	for c := range n {
		if segment[1+2*c] != d.ids[c] {
			return malformed("a scan whose components are not those of the frame")
		}
		number := segment[2+2*c] >> 4
		if number > 3 || d.tables[number] == nil {
			return malformed("a scan without a Huffman table")
		}
		d.scan = append(d.scan, d.tables[number])
	}
	d.frame.Predictor = int(segment[1+2*n])
	d.shift = int(segment[3+2*n] & 15)
	if d.frame.Predictor < 1 || d.frame.Predictor > 7 {
		return malformed("predictor %d, 1 to 7 are possible", d.frame.Predictor)
	}
	if d.shift >= d.frame.Precision {
		return malformed("samples of %d bits without their last %d", d.frame.Precision, d.shift)
	}
	if d.restart%d.frame.Width != 0 {
		return malformed("a restart inside a row")
	}
	return nil
}

// readScan decodes all rows. Sums are modulo 2¹⁶ (H.1.2.1).
func (d *decoder) readScan(samples []uint16) error {
	f := d.frame
	n := f.Components
	row := f.Width * n
	bits := bitReader{data: d.data, pos: d.pos}
	start := 1 << (f.Precision - d.shift - 1)
	rowsPerInterval := f.Height
	if d.restart > 0 {
		rowsPerInterval = d.restart / f.Width
	}
	for y := range f.Height {
		line := samples[y*row : (y+1)*row]
		first := y%rowsPerInterval == 0
		if first && y > 0 {
			if err := bits.restart(y/rowsPerInterval - 1); err != nil {
				return err
			}
		}
		var above []uint16
		if !first {
			above = samples[(y-1)*row : y*row]
		}
		c := 0 // component of sample i
		for i := range line {
			var p int
			switch {
			case i >= n && !first:
				p = predict(f.Predictor, int(line[i-n]), int(above[i]), int(above[i-n]))
			case i >= n:
				p = int(line[i-n])
			case !first:
				p = int(above[i])
			default:
				p = start
			}
			difference, err := bits.difference(d.scan[c])
			if err != nil {
				return err
			}
			line[i] = uint16(p + difference)
			if c++; c == n {
				c = 0
			}
		}
	}
	if d.shift > 0 {
		for i, v := range samples {
			samples[i] = v << d.shift
		}
	}
	return nil
}

// bitReader reads the bits of a scan, in which a zero follows every byte of ones (B.1.1.5).
type bitReader struct {
	data []byte
	pos  int
	acc  uint64 // the next bits, beginning with the highest
	n    int    // how many of them there are; below 0 where more were read than there are
}

// fill makes sure of 32 bits, the most that a difference takes. Zeros stand for bits after the end.
func (b *bitReader) fill() {
	for b.n <= 56 {
		if b.pos >= len(b.data) {
			return
		}
		v := b.data[b.pos]
		if v == 0xFF {
			if b.pos+1 >= len(b.data) || b.data[b.pos+1] != 0 {
				return // a marker
			}
			b.pos++
		}
		b.pos++
		b.acc |= uint64(v) << (56 - b.n)
		b.n += 8
	}
}

// difference decodes a difference (H.2): its category, and then its bits.
func (b *bitReader) difference(l *lookup) (int, error) {
	if b.n < 32 {
		b.fill()
	}
	e := l.entries[b.acc>>(64-l.bits)]
	if e == noCode {
		return 0, malformed("a code that is in no Huffman table")
	}
	length, category := int(e&15)+1, int(e>>4)
	b.acc <<= length
	b.n -= length
	if category == 0 || category == 16 {
		if b.n < 0 {
			return 0, malformed("the data ends early")
		}
		return category << 11, nil // 16 stands for 32768, without bits
	}
	v := int(b.acc >> (64 - category))
	b.acc <<= category
	if b.n -= category; b.n < 0 {
		return 0, malformed("the data ends early")
	}
	if v < 1<<(category-1) {
		v += 1 - 1<<category
	}
	return v, nil
}

// restart passes over the marker between two intervals.
func (b *bitReader) restart(number int) error {
	b.fill()
	// What is left of a byte is padding.
	if b.n >= 8 || b.pos+2 > len(b.data) || b.data[b.pos] != 0xFF || b.data[b.pos+1] != byte(markerRST0+number%8) {
		return malformed("no restart marker where one must be")
	}
	b.pos += 2
	b.acc, b.n = 0, 0
	return nil
}
