package tiff

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/tiffdir"
)

// TIFF whose strips or tiles are JPEG as TIFF 6.0 had it (section 22). Tables and headers stand in tags, or in the
// beginning of a JPEG file that a tag points to. Blocks are scans, of which the first may have a header, or whole
// JPEG files. Each is made into a whole file.

const (
	tagJPEGFile     = 513
	tagJPEGRestarts = 515
	tagJPEGSteps    = 519
	tagJPEGDCCodes  = 520
	tagJPEGACCodes  = 521
)

// oldJPEG is what all blocks share, beside tables.
type oldJPEG struct {
	components []byte // of the frame: their number, and three bytes for each
	scan       []byte // the segment in front of the data
	markers    []byte // of tables that a file has
}

// readOldJPEG reads the beginning of the file that a tag points to, and tables from tags where it has none.
func (d *decoder) readOldJPEG() error {
	if err := d.readChromaShare(); err != nil {
		return err
	}
	n := byte(d.samplesPerBlock())
	d.old.components, d.old.scan = []byte{n}, []byte{n}
	for i := range n {
		sampling := byte(0x11)
		if i == 0 {
			sampling = byte(d.chroma.x<<4 | d.chroma.y)
		}
		d.old.components = append(d.old.components, i+1, sampling, i)
		d.old.scan = append(d.old.scan, i+1, i<<4|i)
	}
	d.old.scan = segment.Append(nil, segment.SOS, "", append(d.old.scan, 0, 63, 0))
	var tables []byte
	if at, err := d.Uint(d.fields, tagJPEGFile, 0); err != nil {
		return malformed("%v", err)
	} else if at > 0 {
		d.readOldJPEGFile(int64(at))
	}
	for _, t := range []struct {
		tag           uint16
		marker, class byte
		size          int64
	}{{tagJPEGSteps, segment.DQT, 0, 64}, {tagJPEGDCCodes, segment.DHT, 0, 16}, {tagJPEGACCodes, segment.DHT, 0x10, 16}} {
		f, ok := tiffdir.Find(d.fields, t.tag)
		if !ok || f.Count < uint32(n) || slices.Contains(d.old.markers, t.marker) {
			continue
		}
		places, err := d.Uints(f)
		if err != nil {
			return malformed("%v", err)
		}
		for i := range n {
			table, err := d.src.Bytes(places[i], t.size)
			if err == nil && t.marker == segment.DHT {
				words := int64(0)
				for _, length := range table {
					words += int64(length)
				}
				table, err = d.src.Bytes(places[i], t.size+words)
			}
			if err != nil {
				return malformed("a JPEG table lies outside the file (tag %d)", t.tag)
			}
			tables = segment.Append(tables, t.marker, string([]byte{t.class | i}), table)
		}
	}
	restarts, err := d.Uint(d.fields, tagJPEGRestarts, 0)
	if err == nil && restarts > 0 && !slices.Contains(d.old.markers, segment.DRI) {
		tables = segment.Append(tables, segment.DRI, "", binary.BigEndian.AppendUint16(nil, uint16(restarts)))
	}
	d.jpegTables = append(d.jpegTables, tables...)
	return nil
}

// readOldJPEGFile reads the segments in front of a scan of the file at an offset.
func (d *decoder) readOldJPEGFile(offset int64) {
	const most = 64
	offset += 2
	for range most {
		head, err := d.src.Bytes(offset, 4)
		if err != nil || head[0] != 0xff || head[1] == segment.EOI {
			return
		}
		piece, err := d.src.Bytes(offset, 2+int64(binary.BigEndian.Uint16(head[2:])))
		if err != nil || len(piece) < len(head) {
			return
		}
		offset += int64(len(piece))
		switch marker := head[1]; marker {
		case segment.DQT, segment.DHT, segment.DRI:
			d.jpegTables = append(d.jpegTables, piece...)
			d.old.markers = append(d.old.markers, marker)
		case segment.SOF0, segment.SOF1:
			const before = 9
			d.old.components = piece[min(before, len(piece)):]
		case segment.SOS:
			d.old.scan = piece
			if len(d.offsets) == 1 { // whose place some writers give wrongly
				d.offsets[0], d.counts = offset, nil
			}
			return
		}
	}
}

// openOldJPEG returns a block, whose first row is y, without the mark and the tables that a file begins with.
func (d *decoder) openOldJPEG(y int, block io.Reader) (io.Reader, error) {
	r := bufio.NewReader(block)
	start, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	switch {
	case start[0] != 0xff:
	case start[1] == segment.SOI:
		_, err = r.Discard(2)
		return r, err
	case start[1] == segment.SOS: // only the first block may have it
		length := 2 + int64(binary.BigEndian.Uint16(start[2:]))
		if d.old.scan, err = io.ReadAll(io.LimitReader(r, length)); err != nil {
			return nil, err
		}
	}
	height := d.blockH
	if !d.tiled {
		height = min(height, d.height-y)
	}
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, uint16(height)), uint16(d.blockW))
	head := segment.Append(nil, segment.SOF1, "", append(size, d.old.components...)) // whose tables may have higher numbers than those of SOF0
	head = append(head, d.old.scan...)
	return io.MultiReader(bytes.NewReader(head), r, bytes.NewReader([]byte{0xff, segment.EOI})), nil
}
