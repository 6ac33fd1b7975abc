package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
)

// Salvage reads what is before the damage of a JPEG file: of a baseline one the
// blocks, of a progressive one the scans. image/jpeg returns all of an image or
// nothing, so it is given a file that has been completed.
func Salvage(src *source.Source, noise bool) (*picture.Image, Others, error) {
	config, parts, err := open(src)
	if err != nil {
		return nil, Others{}, err
	}
	data, err := io.ReadAll(src.From(0))
	if err != nil && len(data) == 0 {
		return nil, Others{}, err // else the damage is that it cannot be read to its end
	}
	r := repair{src: src, data: data, width: config.Width, height: config.Height}
	if err := r.readSegments(); err != nil {
		return nil, Others{}, err
	}
	var img image.Image
	if r.progressive {
		img, err = r.decodeScans()
	} else {
		img, err = r.decodeBlocks()
	}
	if err != nil {
		return nil, Others{}, err
	}
	m, others, err := parts.image(img, src, noise)
	if err != nil {
		return nil, Others{}, err
	}
	if r.progressive {
		m.Warn("the progressive JPEG is damaged: detail is missing that its later scans add")
		return m, others, nil
	}
	across, _ := r.units()
	w, h := 8*r.across, 8*r.down
	m.Lose(r.found%across*w, r.found/across*h, h)
	return m, others, nil
}

func damaged(text string) error {
	return fmt.Errorf("%w: the JPEG is damaged, and %s", format.ErrMalformed, text)
}

// repair makes a whole file of a damaged one.
type repair struct {
	src           io.ReaderAt
	data          []byte
	width, height int
	progressive   bool
	scans         []int   // offsets of their headers
	kept          []byte  // the segments before the first scan, without codes
	components    []plane // in the order of the scan
	across, down  int     // blocks of the largest component in a unit
	interval      int     // units between restarts, or 0
	tables        [2][4]huffmanTable

	// Of the first scan, when it is read.
	at    int // the next byte of data
	bits  byte
	n     int // how many of its bits have not been used
	found int // units that could be read
}

// plane is a component: its number, blocks in a unit, and codes.
type plane struct {
	id     byte
	blocks int
	tables [2]byte // of DC and AC coefficients
}

// readSegments reads the headers, and finds the scans.
func (r *repair) readSegments() error {
	var frame []byte
	at := 2
	for at+4 <= len(r.data) {
		if r.data[at] != 0xff {
			// Of a scan, or of what is broken.
			at++
			continue
		}
		marker := r.data[at+1]
		length := int(binary.BigEndian.Uint16(r.data[at+2:]))
		const rst0, rst7 = 0xd0, 0xd7
		switch {
		case marker == 0xff:
			at++
			continue
		case marker == 0, marker >= rst0 && marker <= rst7, marker == segment.SOI:
			at += 2
			continue
		case marker == segment.EOI || length < 2 || at+2+length > len(r.data):
			at = len(r.data)
			continue
		}
		data := r.data[at+4 : at+2+length]
		if len(r.scans) == 0 {
			switch marker {
			case segment.DHT:
				if err := r.readCodes(data); err != nil {
					return err
				}
			case segment.SOS:
				if err := r.readComponents(frame, data); err != nil {
					return err
				}
				r.at = at + 2 + length
			default:
				if marker >= segment.SOF0 && marker <= segment.SOF2 {
					frame, r.progressive = data, marker == segment.SOF2
				}
				if marker == segment.DRI && len(data) == 2 {
					r.interval = int(binary.BigEndian.Uint16(data))
				}
				r.kept = append(r.kept, r.data[at:at+2+length]...)
			}
		}
		if marker == segment.SOS {
			r.scans = append(r.scans, at)
		}
		at += 2 + length
	}
	if len(r.scans) == 0 {
		return damaged("ends before its pixels begin")
	}
	return nil
}

// readCodes reads the data of a DHT segment.
func (r *repair) readCodes(data []byte) error {
	for len(data) > 0 {
		const header = 17
		if len(data) < header {
			return damaged("its codes are broken")
		}
		class, number, count := data[0]>>4, data[0]&15, 0
		var t huffmanTable
		copy(t.lengths[:], data[1:])
		for _, n := range t.lengths {
			count += int(n)
		}
		data = data[header:]
		if class > 1 || number > 3 || count > 256 || count > len(data) {
			return damaged("its codes are broken")
		}
		t.symbols = string(data[:count])
		r.tables[class][number] = t
		data = data[count:]
	}
	return nil
}

// readComponents joins the headers of the frame and the first scan.
func (r *repair) readComponents(frame, scan []byte) error {
	const before, each = 6, 3
	if len(frame) < before || len(frame) < before+each*int(frame[before-1]) || len(scan) < 1 || len(scan) < 1+2*int(scan[0]) {
		return damaged("its headers are broken")
	}
	count := int(frame[before-1])
	if !r.progressive && int(scan[0]) != count {
		return damaged("its colours follow each other; only files with one scan, and progressive ones, are read in part")
	}
	for i := range min(count, int(scan[0])) {
		f, s := frame[before+each*i:], scan[1+2*i:]
		across, down := int(f[1]>>4), int(f[1]&15)
		if f[0] != s[0] && !r.progressive || across < 1 || down < 1 || across > 4 || down > 4 {
			return damaged("its headers are broken")
		}
		if count == 1 {
			across, down = 1, 1 // A single component has a block in a unit.
		}
		r.across, r.down = max(r.across, across), max(r.down, down)
		r.components = append(r.components, plane{id: s[0], blocks: across * down, tables: [2]byte{s[1] >> 4 & 3, s[1] & 3}})
	}
	return nil
}

// units is how many units of blocks there are in a row and in a column.
func (r *repair) units() (across, down int) {
	w, h := 8*r.across, 8*r.down
	return (r.width + w - 1) / w, (r.height + h - 1) / h
}

// decodeScans decodes as many whole scans as possible.
func (r *repair) decodeScans() (image.Image, error) {
	const most = 32 // real files have ten or so
	for i := min(len(r.scans), most); i > 0; i-- {
		end := len(r.data)
		if i < len(r.scans) {
			end = r.scans[i]
		}
		file := io.MultiReader(io.NewSectionReader(r.src, 0, int64(end)), bytes.NewReader([]byte{0xff, segment.EOI}))
		if img, err := stdjpeg.Decode(file); err == nil {
			return img, nil
		}
	}
	return nil, damaged("it is progressive and lacks its first scan, without which nothing can be seen")
}

// decodeBlocks reads the blocks of the only scan and writes them anew, with the codes of annex K,
// which have one for everything, and with empty blocks for those that are missing.
func (r *repair) decodeBlocks() (image.Image, error) {
	e := &encoder{}
	e.prepare()
	across, down := r.units()
	whole := true
	for unit := range across * down {
		if r.interval > 0 && unit > 0 && unit%r.interval == 0 {
			number := byte(unit/r.interval-1) % 8
			whole = whole && r.restart(number)
			e.fillByte()
			e.out = append(e.out, 0xff, 0xd0+number)
		}
		if whole {
			before, bits, n := len(e.out), e.bits, e.n
			if whole = r.copyUnit(e); !whole {
				e.out, e.bits, e.n = e.out[:before], bits, n
			} else {
				r.found++
			}
		}
		if !whole {
			for c, p := range r.components {
				codes := &e.codes[min(c, 1)]
				for range p.blocks {
					e.coefficient(&codes[0], 0, 0)
					e.emit(codes[1][endOfBlock].bits, uint(codes[1][endOfBlock].length))
				}
			}
		}
	}
	if r.found == 0 {
		return nil, damaged("no block of its pixels can be read")
	}
	e.fillByte()

	var file bytes.Buffer
	s := segmentWriter{w: &file}
	file.Write([]byte{0xff, segment.SOI})
	file.Write(r.kept)
	s.writeUsualCodes(len(annexK))
	scan := []byte{byte(len(r.components))}
	for c, p := range r.components {
		t := byte(min(c, 1))
		scan = append(scan, p.id, t<<4|t)
	}
	s.segment(segment.SOS, "", append(scan, 0, 63, 0))
	if s.err != nil {
		return nil, s.err
	}
	img, err := stdjpeg.Decode(io.MultiReader(&file, bytes.NewReader(e.out), bytes.NewReader([]byte{0xff, segment.EOI})))
	if err != nil {
		return nil, foreign(err)
	}
	return img, nil
}

// restart goes to the marker of a restart, which must come next.
func (r *repair) restart(number byte) bool {
	r.n = 0
	for r.at+1 < len(r.data) && r.data[r.at] == 0xff && r.data[r.at+1] == 0xff {
		r.at++ // a fill byte
	}
	if r.at+1 >= len(r.data) || r.data[r.at] != 0xff || r.data[r.at+1] != 0xd0+number {
		return false
	}
	r.at += 2
	return true
}

// copyUnit reads the blocks of one unit, and writes them to e. It tells whether they are there.
func (r *repair) copyUnit(e *encoder) bool {
	for c, p := range r.components {
		out := &e.codes[min(c, 1)]
		for range p.blocks {
			size, ok := r.symbol(&r.tables[0][p.tables[0]])
			if !ok || size > 11 {
				return false
			}
			v, ok := r.value(int(size))
			if !ok {
				return false
			}
			e.coefficient(&out[0], 0, v)
			for k := 1; k < 64; k++ {
				s, ok := r.symbol(&r.tables[1][p.tables[1]])
				if !ok {
					return false
				}
				run, size := int(s>>4), int(s&15)
				if size == 0 {
					if run != 0 && run != 15 || run == 15 && k+15 > 63 {
						return false
					}
					e.emit(out[1][s].bits, uint(out[1][s].length))
					if run == 0 {
						break
					}
					k += 15
					continue
				}
				k += run
				v, ok := r.value(size)
				if !ok || size > 10 || k > 63 {
					return false
				}
				e.coefficient(&out[1], run, v)
			}
		}
	}
	return true
}

// bit reads a bit of the scan, which ends at a marker.
func (r *repair) bit() (byte, bool) {
	if r.n == 0 {
		if r.at >= len(r.data) {
			return 0, false
		}
		r.bits = r.data[r.at]
		step := 1
		if r.bits == 0xff {
			if r.at+1 >= len(r.data) || r.data[r.at+1] != 0 {
				return 0, false
			}
			step = 2
		}
		r.at += step
		r.n = 8
	}
	r.n--
	return r.bits >> r.n & 1, true
}

// symbol reads a code word (annex F.2.2.3).
func (r *repair) symbol(t *huffmanTable) (byte, bool) {
	word, first, before := 0, 0, 0
	for _, n := range t.lengths {
		b, ok := r.bit()
		if !ok {
			return 0, false
		}
		word = word<<1 | int(b)
		if word-first < int(n) {
			return t.symbols[before+word-first], true
		}
		before += int(n)
		first = (first + int(n)) << 1
	}
	return 0, false
}

// value reads a number of so many bits.
func (r *repair) value(size int) (int, bool) {
	v := 0
	for range size {
		b, ok := r.bit()
		if !ok {
			return 0, false
		}
		v = v<<1 | int(b)
	}
	if size > 0 && v < 1<<(size-1) {
		v -= 1<<size - 1
	}
	return v, true
}
