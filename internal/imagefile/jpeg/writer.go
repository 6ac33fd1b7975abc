package jpeg

import (
	"encoding/binary"
	"io"

	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/jpegblock"
)

// Encode writes baseline JPEG, grey or YCbCr, with as many samples of chroma
// as of luma. The encoder of image/jpeg keeps a quarter of the chroma and rounds
// colours to 8 bits before it transforms them; a restored picture deserves
// better. steps are the quantisation steps of luma and chroma, in rows.
func Encode(w io.Writer, m *picture.Image, steps [2][64]int) error {
	e := &encoder{w: w, steps: steps}
	e.prepare()
	e.write([]byte{0xff, segment.SOI})
	if e.err == nil {
		e.err = writeMetadata(w, &m.Metadata)
	}
	e.tables(m)
	e.scan(m)
	e.write([]byte{0xff, segment.EOI})
	return e.err
}

// encoder writes one image, and nothing more after an error.
type encoder struct {
	w   io.Writer
	err error

	steps   [2][64]int     // quantisation of luma and chroma, in rows
	inverse [2][64]float32 // 1/step
	codes   [2][2][256]huffmanCode

	bits  uint64 // waiting to be written, the last n of them
	n     uint
	out   []byte
	block [64]float32
}

func (e *encoder) prepare() {
	for t := range e.steps {
		for i, s := range e.steps[t] {
			e.inverse[t][i] = 1 / float32(s)
		}
		for class := range e.codes[t] {
			e.codes[t][class] = annexK[t][class].codes()
		}
	}
}

func (e *encoder) write(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

// tables writes quantisation, frame header, codes and scan header. Component 1
// uses table 0, components 2 and 3 use table 1.
func (e *encoder) tables(m *picture.Image) {
	s := segmentWriter{w: e.w, err: e.err}
	tables := min(m.Channels, 2)
	for t := range tables {
		q := []byte{byte(t)}
		for _, i := range zigzag {
			q = append(q, byte(e.steps[t][i]))
		}
		s.segment(segment.DQT, "", q)
	}
	frame := []byte{8}
	frame = binary.BigEndian.AppendUint16(frame, uint16(m.Height))
	frame = binary.BigEndian.AppendUint16(frame, uint16(m.Width))
	frame = append(frame, byte(m.Channels))
	scan := []byte{byte(m.Channels)}
	for c := range m.Channels {
		t := byte(min(c, 1))
		frame = append(frame, byte(c+1), 0x11, t)
		scan = append(scan, byte(c+1), t<<4|t)
	}
	s.segment(segment.SOF0, "", frame)
	s.writeUsualCodes(tables)
	s.segment(segment.SOS, "", append(scan, 0, 63, 0))
	e.err = s.err
}

// scan writes the blocks of 8×8 samples, interleaved.
func (e *encoder) scan(m *picture.Image) {
	var previous [3]int // DC coefficients
	width := (m.Width + 7) / 8 * 8
	bands := make([][]float32, m.Channels) // eight rows of each component
	for c := range bands {
		bands[c] = make([]float32, 8*width)
	}
	for y := 0; y < m.Height; y += 8 {
		for k := range 8 {
			// Beyond the edges the last samples are repeated.
			componentRow(m, bands, k*width, width, min(y+k, m.Height-1))
		}
		for x := 0; x < width; x += 8 {
			for c, band := range bands {
				for k := range 8 {
					copy(e.block[8*k:8*k+8], band[k*width+x:])
				}
				previous[c] = e.encodeBlock(min(c, 1), previous[c])
			}
		}
		e.write(e.out)
		e.out = e.out[:0]
		if e.err != nil {
			return
		}
	}
	e.fillByte()
	e.write(e.out)
}

// fillByte fills the last byte up with ones.
func (e *encoder) fillByte() {
	if e.n > 0 {
		e.emit(0x7f, 7)
		e.n = 0
	}
}

// componentRow writes row y in the components of JFIF, from −128 to 127, at offset at
// of the bands.
func componentRow(m *picture.Image, bands [][]float32, at, width, y int) {
	clipped := func(v float32) float32 { return min(max(v, 0), 1) * 255 }
	row := func(c int) []float32 { return m.Plane(c)[y*m.Width : (y+1)*m.Width] }
	if m.Channels == 1 {
		out := bands[0][at : at+width]
		for x, v := range row(0) {
			out[x] = clipped(v) - 128
		}
	} else {
		luma, cb, cr := bands[0][at:at+width], bands[1][at:at+width], bands[2][at:at+width]
		red, green, blue := row(0), row(1), row(2)
		for x := range red {
			r, g, b := clipped(red[x]), clipped(green[x]), clipped(blue[x])
			// The conversions keep a compiler from fusing, for the same bytes everywhere.
			l := float32(0.299*r) + float32(0.587*g) + float32(0.114*b)
			luma[x] = l - 128
			cb[x] = (b - l) / 1.772
			cr[x] = (r - l) / 1.402
		}
	}
	for _, band := range bands {
		out := band[at : at+width]
		for x := m.Width; x < width; x++ {
			out[x] = out[m.Width-1]
		}
	}
}

// encodeBlock transforms, quantises and codes e.block, and returns its DC
// coefficient.
func (e *encoder) encodeBlock(table, previousDC int) int {
	jpegblock.Forward(&e.block)
	inverse := &e.inverse[table]
	quantised := func(i, limit int) int {
		v := e.block[i] * inverse[i]
		if v < 0 {
			return max(-int(0.5-v), -limit)
		}
		return min(int(v+0.5), limit)
	}
	dc := quantised(0, 1023)
	e.coefficient(&e.codes[table][0], 0, dc-previousDC)
	ac := &e.codes[table][1]
	run := 0
	for _, i := range zigzag[1:] {
		v := quantised(i, 1023)
		if v == 0 {
			run++
			continue
		}
		for ; run > 15; run -= 16 {
			e.emit(ac[zeros16].bits, uint(ac[zeros16].length))
		}
		e.coefficient(ac, run, v)
		run = 0
	}
	if run > 0 {
		e.emit(ac[endOfBlock].bits, uint(ac[endOfBlock].length))
	}
	return dc
}

// The symbols of AC coefficients that are not a number.
const (
	endOfBlock = 0x00
	zeros16    = 0xf0
)

// coefficient writes the code of a run of zeros and the size of v, then the bits
// of v; those of a negative number are the ones of v − 1.
func (e *encoder) coefficient(codes *[256]huffmanCode, run, v int) {
	size := uint(0)
	for a := max(v, -v); a > 0; a >>= 1 {
		size++
	}
	c := codes[run<<4|int(size)]
	e.emit(c.bits, uint(c.length))
	if v < 0 {
		v--
	}
	e.emit(uint32(v)&(1<<size-1), size)
}

// emit writes the lowest n bits, and a zero after each byte of ones.
func (e *encoder) emit(bits uint32, n uint) {
	e.bits = e.bits<<n | uint64(bits)
	for e.n += n; e.n >= 8; e.n -= 8 {
		b := byte(e.bits >> (e.n - 8))
		e.out = append(e.out, b)
		if b == 0xff {
			e.out = append(e.out, 0)
		}
	}
}
