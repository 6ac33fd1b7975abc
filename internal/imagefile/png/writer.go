package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/metadata"
)

// Encode writes grey, grey with alpha, RGB or RGBA with 8 or 16 bits, row by
// row, on so many threads, all for 0. The encoder of image/png would turn grey with alpha into RGBA, and takes
// an interface call per pixel at 16 bits.
func Encode(w io.Writer, m *picture.Image, depth, threads int) error {
	p := &writer{w: w}
	_, p.err = io.WriteString(w, Signature)
	order := m.Layout()
	colour := map[int]byte{1: grey, 2: greyAlpha, 3: rgb, 4: rgba}[len(order)]
	header := binary.BigEndian.AppendUint32(nil, uint32(m.Width))
	header = binary.BigEndian.AppendUint32(header, uint32(m.Height))
	p.chunk("IHDR", append(header, byte(depth), colour, 0, 0, 0))
	p.metadata(&m.Metadata)
	p.pixels(m, depth, order, threads)
	p.chunk("IEND", nil)
	return p.err
}

// writer writes chunks, and nothing more after an error.
type writer struct {
	w   io.Writer
	err error
}

func (p *writer) chunk(name string, data []byte) {
	if p.err != nil {
		return
	}
	head := binary.BigEndian.AppendUint32(make([]byte, 0, 8), uint32(len(data)))
	head = append(head, name...)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, data)
	for _, b := range [][]byte{head, data, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, p.err = p.w.Write(b); p.err != nil {
			return
		}
	}
}

func (p *writer) metadata(d *metadata.Metadata) {
	for _, c := range d.Chunks {
		// A profile and sRGB exclude each other; the profile says more.
		if c.Name == "sRGB" && d.ICC != nil {
			continue
		}
		p.chunk(c.Name, c.Data)
	}
	if d.ICC != nil {
		p.chunk("iCCP", append([]byte("ICC profile\x00\x00"), deflate(d.ICC)...))
	}
	p.resolution(d.Resolution)
	if d.EXIF != nil {
		p.chunk("eXIf", d.EXIF)
	}
	if d.XMP != nil {
		p.chunk("iTXt", append([]byte(xmpKeyword+"\x00\x00\x00\x00\x00"), d.XMP...))
	}
	hasIPTC := func(c metadata.Chunk) bool {
		k := c.Keyword()
		return c.IsText() && (k == rawProfileKeyword+iptcProfile || k == rawProfileKeyword+"8bim")
	}
	if d.IPTC != nil && !slices.ContainsFunc(d.Chunks, hasIPTC) {
		p.chunk("zTXt", iptcText(d.IPTC))
	}
}

func (p *writer) resolution(r metadata.Resolution) {
	unit := byte(0)
	if perMetre, ok := r.In(metadata.Metre); ok {
		r, unit = perMetre, 1
	}
	if !r.Known() {
		return
	}
	data := binary.BigEndian.AppendUint32(nil, uint32(max(1, math.Round(r.X))))
	data = binary.BigEndian.AppendUint32(data, uint32(max(1, math.Round(r.Y))))
	p.chunk("pHYs", append(data, unit))
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	// Writing into memory does not fail.
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// idat cuts what is written to it into chunks of pixels.
type idat struct {
	p   *writer
	buf []byte
}

func (c *idat) Write(b []byte) (int, error) {
	const chunkSize = 1 << 16
	c.buf = append(c.buf, b...)
	if len(c.buf) >= chunkSize {
		c.flush()
	}
	return len(b), c.p.err
}

func (c *idat) flush() {
	if len(c.buf) > 0 {
		c.p.chunk("IDAT", c.buf)
		c.buf = c.buf[:0]
	}
}

func (p *writer) pixels(m *picture.Image, depth int, order picture.Layout, threads int) {
	if p.err != nil {
		return
	}
	bpp := len(order) * depth / 8
	f := newFilter(m.Width*bpp, bpp)
	out := &idat{p: p}
	z := newDeflater(out, threads)
	for y := range m.Height {
		m.PackRow(f.row, y, depth, order, binary.BigEndian)
		if _, err := z.Write(f.best()); err != nil {
			p.err = err
			return
		}
		f.row, f.above = f.above, f.row
	}
	if p.err = z.Close(); p.err == nil {
		out.flush()
	}
}

// filter chooses, per row, the filter whose output has the smallest sum of
// absolute differences (PNG specification, section 12.7).
type filter struct {
	bpp        int // bytes per pixel
	row, above []byte
	filtered   [5][]byte // the filter's number, then the row
}

func newFilter(rowBytes, bpp int) *filter {
	f := &filter{bpp: bpp, row: make([]byte, rowBytes), above: make([]byte, rowBytes)}
	for k := range f.filtered {
		f.filtered[k] = make([]byte, 1+rowBytes)
		f.filtered[k][0] = byte(k)
	}
	return f
}

func (f *filter) best() []byte {
	n := f.bpp
	row, above := f.row, f.above[:len(f.row)]
	none, sub, up, average, paeth := f.filtered[0][1:], f.filtered[1][1:], f.filtered[2][1:], f.filtered[3][1:], f.filtered[4][1:]
	copy(none, row)
	for i := range min(n, len(row)) {
		sub[i] = row[i]
		up[i] = row[i] - above[i]
		average[i] = row[i] - above[i]/2
		paeth[i] = row[i] - above[i]
	}
	for i := n; i < len(row); i++ {
		v, left, top, corner := row[i], row[i-n], above[i], above[i-n]
		sub[i] = v - left
		up[i] = v - top
		average[i] = v - byte((int(left)+int(top))/2)
		paeth[i] = v - paethPredictor(left, top, corner)
	}
	best, least := 0, math.MaxInt
	for k := range f.filtered {
		if s := sumAbsolute(f.filtered[k][1:]); s < least {
			best, least = k, s
		}
	}
	return f.filtered[best]
}

// paethPredictor returns which of left, top and corner is nearest to left + top
// − corner, in that order where several are.
func paethPredictor(left, top, corner byte) byte {
	a, b, c := int(left), int(top), int(corner)
	pa, pb, pc := b-c, a-c, a+b-2*c
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	switch {
	case pa <= pb && pa <= pc:
		return left
	case pb <= pc:
		return top
	}
	return corner
}

func sumAbsolute(p []byte) int {
	s := 0
	for _, v := range p {
		d := int(int8(v))
		s += max(d, -d)
	}
	return s
}
