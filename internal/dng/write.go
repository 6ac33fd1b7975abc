package dng

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/tiffdir"
)

// span is bytes of a file, from one offset up to another.
type span struct{ from, to int64 }

// edit is bytes that a file has at an offset in place of its own; data is nil for zeros.
type edit struct {
	span
	data []byte
}

// Write writes the file with other samples, of the same size and order as Pix and up to Top. Everything
// but the raw image stays where it is, as the documentation of the package says.
//
// Its errors wrap imagefile.ErrInvalidImage if the samples are not of this image, imagefile.ErrMalformed
// or imagefile.ErrUnsupported if the file cannot take another image, or are those of the file or w.
func (m *Raw) Write(w io.Writer, pix []uint16) error {
	if len(pix) != len(m.Pix) {
		return invalid("%d samples for an image of %d", len(pix), len(m.Pix))
	}
	for i, v := range pix {
		if v > m.Top && v != m.Pix[i] {
			return invalid("sample %d, %d is the most", v, m.Top)
		}
	}
	if slices.Equal(pix, m.Pix) {
		_, err := io.Copy(w, io.NewSectionReader(m.file, 0, m.file.size))
		return err
	}
	blocks, err := m.encodeBlocks(pix)
	if err != nil {
		return err
	}
	edits, err := m.place(blocks)
	if err != nil {
		return err
	}
	return m.copyEdited(w, edits)
}

// encodeBlocks returns the bytes of all blocks: of those that do not change, their old ones.
func (m *Raw) encodeBlocks(pix []uint16) ([][]byte, error) {
	blocks := make([][]byte, len(m.layout.blocks))
	for i := range blocks {
		b := &m.layout.blocks[i]
		same := true
		n := min(b.width, m.Width-b.x) * m.Samples
		for y := b.y; y < min(b.y+b.height, m.Height) && same; y++ {
			at := m.at(b.x, y)
			same = slices.Equal(pix[at:at+n], m.Pix[at:at+n])
		}
		var err error
		if same {
			blocks[i], err = m.file.Bytes(b.offset, b.length)
		} else {
			blocks[i], err = m.encode(b, pix)
		}
		if err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// place puts the new blocks where the old ones were, in their order, and at the end of the file what
// does not fit there. It returns what changes in the file.
func (m *Raw) place(blocks [][]byte) ([]edit, error) {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(m.layout.blocks[a].offset, m.layout.blocks[b].offset)
	})
	free := m.free()
	end := m.file.size
	if n := len(free); n > 0 && free[n-1].to == m.file.size {
		end = free[n-1].from
		free = free[:n-1]
	}
	var edits []edit
	offsets := make([]uint32, len(blocks))
	put := func(data []byte) (int64, error) {
		size := int64(len(data))
		for i, s := range free {
			if from := s.from + s.from%2; from+size <= s.to {
				if from > s.from {
					edits = append(edits, edit{span{s.from, from}, nil})
				}
				edits = append(edits, edit{span{from, from + size}, data})
				free[i].from = from + size
				return from, nil
			}
		}
		if end%2 == 1 { // Values begin on a word boundary.
			edits = append(edits, edit{span{end, end + 1}, nil})
			end++
		}
		from := end
		if end += size; end > math.MaxUint32 {
			return 0, unsupported("more than 4 GiB")
		}
		edits = append(edits, edit{span{from, end}, data})
		return from, nil
	}
	lengths := make([]uint32, len(blocks))
	for _, i := range order {
		offset, err := put(blocks[i])
		if err != nil {
			return nil, err
		}
		offsets[i], lengths[i] = uint32(offset), uint32(len(blocks[i]))
	}
	for _, v := range []struct {
		f      tiffdir.Field
		values []uint32
	}{{m.layout.offsets, offsets}, {m.layout.lengths, lengths}} {
		if v.f.Tag == 0 {
			continue
		}
		if m.shares(v.f) {
			return nil, errOverlap
		}
		data, fits := m.values(v.f, v.values)
		if fits {
			edits = append(edits, edit{span{v.f.Value, v.f.Value + v.f.Size}, data})
			continue
		}
		// Numbers of 16 bits become numbers of 32, which stand elsewhere.
		v.f.Kind = tiffdir.Long
		data, _ = m.values(v.f, v.values)
		if len(data) > 4 {
			at, err := put(data)
			if err != nil {
				return nil, err
			}
			data = m.tiff.Order.AppendUint32(nil, uint32(at))
		}
		kind := m.tiff.Order.AppendUint16(nil, tiffdir.Long)
		edits = append(edits, edit{span{v.f.Entry + 2, v.f.Entry + 4}, kind}, edit{span{v.f.Entry + 8, v.f.Entry + tiffdir.EntrySize}, data})
	}
	for _, s := range free {
		edits = append(edits, edit{s, nil})
	}
	for _, tag := range []uint16{tagRawImageDigest, tagNewRawImageDigest} {
		if f, ok := m.first.find(tag); ok {
			if m.shares(f) {
				return nil, errOverlap
			}
			edits = append(edits, edit{span{f.Value, f.Value + f.Size}, nil})
		}
	}
	edits = slices.DeleteFunc(edits, func(e edit) bool { return e.from == e.to })
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	edits = append(edits, edit{span{end, end}, nil}) // where the file ends
	for i := range edits[1:] {
		if edits[i].to > edits[i+1].from {
			return nil, errOverlap
		}
	}
	return edits, nil
}

var errOverlap = malformed("parts of it overlap, so that they cannot be changed")

// shares tells whether bytes of the value of a field are part of anything else that the directories say.
func (m *Raw) shares(f tiffdir.Field) bool {
	value := span{f.Value, f.Value + f.Size}
	meets := func(s span) bool { return s.from < value.to && value.from < s.to }
	if meets(span{0, 8}) {
		return true
	}
	for _, d := range m.all {
		inside := false // the value is in its own entry of this directory
		for _, g := range d.fields {
			if g.Entry == f.Entry {
				inside = f.Value == f.Entry+8
			} else if meets(span{g.Value, g.Value + g.Size}) {
				return true
			}
		}
		if !inside && meets(span{d.at, d.end}) || slices.ContainsFunc(m.pictures(d), meets) {
			return true
		}
	}
	return false
}

// values returns the bytes of a field of integers, and whether they fit into its type.
func (m *Raw) values(f tiffdir.Field, v []uint32) ([]byte, bool) {
	var b []byte
	for _, n := range v {
		if f.Kind == tiffdir.Short {
			b = m.tiff.Order.AppendUint16(b, uint16(n))
		} else {
			b = m.tiff.Order.AppendUint32(b, n)
		}
	}
	return b, f.Kind != tiffdir.Short || slices.Max(v) <= math.MaxUint16
}

// free returns where the raw image stands, and nothing else does.
func (m *Raw) free() []span {
	var raw []span
	for _, b := range m.layout.blocks {
		raw = append(raw, span{b.offset, b.offset + b.length})
	}
	return subtract(merge(raw), merge(m.used()))
}

// used returns where the file has anything but the raw image.
func (m *Raw) used() []span {
	used := []span{{0, 8}}
	for _, d := range m.all {
		used = append(used, span{d.at, d.end})
		for _, f := range d.fields {
			used = append(used, span{f.Value, f.Value + f.Size})
		}
		used = append(used, m.pictures(d)...)
	}
	return used
}

// pictures returns where the strips, tiles and previews of a directory stand, other than the raw
// image. What is broken there is left out.
func (m *Raw) pictures(d *directory) []span {
	var spans []span
	for _, tags := range [][2]uint16{{tiffdir.TagStripOffsets, tiffdir.TagStripByteCounts}, {tiffdir.TagTileOffsets, tiffdir.TagTileByteCounts}, {tiffdir.TagThumbnailOffset, tiffdir.TagThumbnailLength}} {
		if d == m.image && tags[0] == m.layout.offsets.Tag {
			continue
		}
		offsets, err := m.integers(d, tags[0])
		if err != nil {
			continue
		}
		lengths, err := m.integers(d, tags[1])
		if err != nil {
			continue
		}
		for i := range min(len(offsets), len(lengths)) {
			spans = append(spans, span{int64(offsets[i]), int64(offsets[i]) + int64(lengths[i])})
		}
	}
	return spans
}

// merge sorts spans and joins those that touch.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, s := range spans {
		switch n := len(out); {
		case s.from == s.to:
		case n > 0 && s.from <= out[n-1].to:
			out[n-1].to = max(out[n-1].to, s.to)
		default:
			out = append(out, s)
		}
	}
	return out
}

// subtract returns the parts of merged spans that are not in others.
func subtract(spans, others []span) []span {
	var out []span
	for _, s := range spans {
		for _, o := range others {
			if o.to <= s.from || o.from >= s.to {
				continue
			}
			if o.from > s.from {
				out = append(out, span{s.from, o.from})
			}
			s.from = min(o.to, s.to)
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// copyEdited writes the file with the edits, which are in order; it ends where the last one does.
func (m *Raw) copyEdited(w io.Writer, edits []edit) error {
	at := int64(0)
	for _, e := range edits {
		if e.from > at {
			if _, err := io.Copy(w, io.NewSectionReader(m.file, at, e.from-at)); err != nil {
				return err
			}
		}
		var data io.Reader = bytes.NewReader(e.data)
		if e.data == nil {
			data = io.LimitReader(zeros{}, e.to-e.from)
		}
		if _, err := io.Copy(w, data); err != nil {
			return err
		}
		at = e.to
	}
	return nil
}

// zeros is a reader of zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
