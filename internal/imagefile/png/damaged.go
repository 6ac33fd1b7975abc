package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	stdpng "image/png"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
)

// Salvage reads the rows of a damaged PNG that are before the damage. It unpacks
// them, and gives image/png, which returns all of an image or nothing, a whole file
// of them.
func Salvage(src *source.Source) (*picture.Image, error) {
	parts, _ := readChunks(src) // what is before an error will do
	h := parts.header
	if h.samples() == 0 || h.depth > 16 || h.width < 1 || h.height < 1 {
		return nil, damaged("its header cannot be read")
	}
	if err := src.CheckSize(format.PNG, h.width, h.height); err != nil {
		return nil, err
	}
	var file bytes.Buffer // whose writing does not fail
	file.WriteString(Signature)
	out := &writer{w: &file}
	walk := walker{src: src, offset: int64(len(Signature))}
	for walk.next() && walk.name != "IDAT" {
		switch walk.name {
		case "IHDR", "PLTE", "tRNS":
			b, err := src.Bytes(walk.offset+8, walk.length)
			if err != nil || !walk.intact(b) {
				return nil, damaged("its chunk %s, before the pixels, is broken", walk.name)
			}
			out.chunk(walk.name, b)
		}
	}
	whole, err := walk.copyRows(&idat{p: out}, h)
	if err != nil {
		return nil, err
	}
	if whole == 0 {
		return nil, damaged("no row of it can be read")
	}
	out.chunk("IEND", nil)
	img, err := stdpng.Decode(&file)
	if err != nil {
		return nil, format.Foreign(format.PNG, err)
	}
	m, err := parts.image(img)
	if err != nil {
		return nil, err
	}
	if h.laced != 0 {
		loseDetail(m, whole)
	} else {
		m.Lose(0, whole, 1)
	}
	if _, err := io.Copy(io.Discard, &walk); err != nil || walk.suspect {
		m.Warn("a checksum of the file is wrong, so pixels that were read may be wrong too")
	}
	return m, nil
}

func damaged(text string, args ...any) error {
	return fmt.Errorf("%w: the PNG is damaged, and "+text, append([]any{format.ErrMalformed}, args...)...)
}

// walker goes from chunk to chunk of a file that may be broken, and reads the data of
// those with pixels as one stream.
type walker struct {
	src     *source.Source
	offset  int64 // of the chunk
	length  int64 // of its data
	name    string
	begun   bool
	data    io.Reader // of a chunk with pixels
	sum     uint32    // of what has been read of it
	suspect bool      // a checksum is wrong
}

// next goes to the next chunk, if there is one.
func (w *walker) next() bool {
	if w.begun {
		w.offset += 8 + w.length + 4
	}
	w.begun = true
	head, err := w.src.Bytes(w.offset, 8)
	if err != nil || !isName(head[4:]) {
		return false
	}
	w.length, w.name = int64(binary.BigEndian.Uint32(head)), string(head[4:])
	w.data = io.LimitReader(w.src.From(w.offset+8), w.length)
	w.sum = crc32.ChecksumIEEE(head[4:])
	return true
}

// intact tells whether data has the checksum of the chunk.
func (w *walker) intact(data []byte) bool {
	sum, err := w.src.Bytes(w.offset+8+w.length, 4)
	return err == nil && binary.BigEndian.Uint32(sum) == crc32.Update(w.sum, crc32.IEEETable, data)
}

// Read reads the data of chunks with pixels, as far as there are any.
func (w *walker) Read(p []byte) (int, error) {
	for w.name == "IDAT" {
		n, err := w.data.Read(p)
		w.sum = crc32.Update(w.sum, crc32.IEEETable, p[:n])
		if n > 0 || err == nil {
			return n, nil
		}
		if err != io.EOF {
			return 0, err
		}
		if w.src.Has(w.offset+8+w.length+4) && !w.intact(nil) {
			w.suspect = true
		}
		if !w.next() {
			break
		}
	}
	return 0, io.EOF
}

// copyRows unpacks the rows, each behind the number of its filter, and writes as many
// as there should be: in place of those that cannot be read, zeros. It returns how
// many were read.
func (w *walker) copyRows(out *idat, h imageHeader) (whole int, err error) {
	packed, err := zlib.NewWriterLevel(out, zlib.NoCompression)
	if err != nil {
		return 0, err
	}
	rows, damage := zlib.NewReader(w)
	room := make([]byte, h.rowSize(h.width)+1)
	for y, width := range h.rows() {
		row := room[:h.rowSize(width)+1]
		if damage == nil {
			_, damage = io.ReadFull(rows, row)
		}
		const filters = 5
		if damage == nil && row[0] >= filters {
			damage = format.ErrMalformed
		}
		switch {
		case damage == nil:
			whole = y + 1
		case whole == 0:
			return 0, nil
		default:
			clear(row)
		}
		if _, err := packed.Write(row); err != nil {
			return 0, err
		}
	}
	if err := packed.Close(); err != nil {
		return 0, err
	}
	out.flush()
	return whole, out.p.err
}
