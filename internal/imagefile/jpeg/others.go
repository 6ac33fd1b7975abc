package jpeg

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
)

// A JPEG file can have more than its picture: in segments of its own, and behind its end. What is
// there is not read, but named. Ways in which a file says what there is:
//
//   - a multi-picture file (CIPA DC-007) has an index of all its pictures in a segment: the other eye of a stereo pair,
//     the parts of a panorama, a map of depths or of highlights, or a larger preview;
//   - XMP lists what stands behind the picture, or says that it is a motion photo (see xmpDependent);
//   - each further picture has metadata of its own;
//   - Samsung's cameras write a directory at the end of the file;
//   - a film begins with a box "ftyp" (ISO/IEC 14496-12).

const (
	multiPictureMark = "MPF\x00"
	tagPictures      = 0xb002 // 16 bytes for each picture: kind, size, offset from the mark's end, dependents
	pictureEntry     = 16
	pictureKind      = 0xffffff
	// Previews of the first picture, as the thumbnail in EXIF is one: from VGA to 16K.
	kindFirstPreview = 0x010001
	kindLastPreview  = 0x01ffff
	kindOriginal     = 0x040000
	kindGainMap      = 0x050000

	gainMapMark     = "urn:iso:std:iso:ts:21496:-1\x00"
	extendedXMPMark = "http://ns.adobe.com/xmp/extension/\x00"
	thermalMark     = "FLIR\x00"
)

// Names of parts, for messages; metadata has those that XMP announces.
const (
	partMatte    = "the portrait matte"
	partExtended = "XMP that did not fit into one segment"
	partThermal  = "the thermal picture (FLIR)"
	partSamsung  = "what a Samsung camera has written behind the picture"
)

// Others are the parts of a file that are not read.
type Others struct {
	found    bool           // there are some, beside segments of programs
	indexed  bool           // by a multi-picture index
	pictures int            // that are none of the named ones
	names    metadata.Names // without what XMP tells
	segments int            // of programs, that are named
}

func (o *Others) add(name string) {
	o.found = true
	o.names.Add(name)
}

// segmentName is how many bytes of a segment are looked at for its name.
const segmentName = 32

// addSegment names a segment with what a program or a camera has written, by its place and the word that it begins with.
// Some are no loss: those that describe how the file was compressed.
func (o *Others) addSegment(marker byte, start []byte) {
	const most = 4
	last := byte(0xef)
	if marker < segment.APP0 || marker > last {
		return
	}
	end := 0
	for end < len(start) && start[end] > ' ' && start[end] <= '~' {
		end++
	}
	word := string(start[:end])
	if marker == segment.APP14 && word == "Adobe" || word == "Ducky" {
		return
	}
	name := fmt.Sprintf("the segment APP%d", marker-segment.APP0)
	if len(word) > 1 {
		name += fmt.Sprintf(" (%s)", word)
	}
	if slices.Contains(o.names, name) {
		return
	}
	if o.segments++; o.segments > most {
		name = "what is in further segments"
	}
	o.names.Add(name)
}

// readSegment looks at the data, at an offset of the file, of a segment APP0, APP1, APP2 or APP11.
func (o *Others) readSegment(src *source.Source, marker byte, data []byte, offset int64) {
	has := func(mark string) bool { return bytes.HasPrefix(data, []byte(mark)) }
	switch {
	case has(multiPictureMark):
		o.readIndex(src, data[len(multiPictureMark):], offset+int64(len(multiPictureMark)))
	case has(gainMapMark):
		o.add(metadata.PartGainMap)
	case has(extendedXMPMark):
		o.add(partExtended)
	case has(thermalMark):
		o.add(partThermal)
	case has("JP") && bytes.Contains(data, []byte("c2pa")):
		o.add(metadata.PartClaims)
	case has(metadata.EXIFMark), has(metadata.XMPMark), has(profileMark), has(segment.JFIF):
	case has("JFXX"), has("AVI1"): // a thumbnail, the field of a video
	default:
		o.addSegment(marker, data[:min(len(data), segmentName)])
	}
}

// readIndex reads the index of a multi-picture file. Previews do not count. An index that cannot be read says nothing.
func (o *Others) readIndex(src *source.Source, index []byte, offset int64) {
	tree, first, err := tiffdir.Open(tiffdir.Memory(index))
	if err != nil {
		return
	}
	fields, _, err := tree.Directory(first)
	if err != nil {
		return
	}
	f, ok := tiffdir.Find(fields, tagPictures)
	if !ok {
		return
	}
	entries, err := tree.Bytes(f)
	if err != nil {
		return
	}
	o.indexed = true
	for first := true; len(entries) >= pictureEntry; entries = entries[pictureEntry:] {
		kind, at := tree.Order.Uint32(entries)&pictureKind, tree.Order.Uint32(entries[8:])
		switch {
		case first:
			first = false // it is the one that is read
		case kind >= kindFirstPreview && kind <= kindLastPreview:
		case kind == kindGainMap:
			o.add(metadata.PartGainMap)
		case kind == kindOriginal:
			o.add(metadata.PartOriginal)
		default:
			o.addPicture(src, offset+int64(at))
		}
	}
}

// addPicture adds a further picture, by the name that its metadata give it. In a stream it has not been read yet. Only the
// first ones of a long index are looked at.
func (o *Others) addPicture(src *source.Source, offset int64) {
	o.found = true
	const looks = 16
	if src.IsStream() || o.pictures >= looks {
		o.pictures++
	} else if name := pictureName(src, offset); name != "" {
		o.add(name)
	} else {
		o.pictures++
	}
}

// pictureName tells from the metadata of a picture at an offset what it is beside the first one, or returns "".
func pictureName(src *source.Source, offset int64) string {
	const looks = 30 // at segments
	if start, err := src.Bytes(offset, 2); err != nil || start[0] != 0xff || start[1] != segment.SOI {
		return ""
	}
	offset += 2
	for range looks {
		head, err := src.Bytes(offset, 4)
		if err != nil || head[0] != 0xff || head[1] == segment.SOS {
			return ""
		}
		length := int64(binary.BigEndian.Uint16(head[2:]))
		if head[1] == segment.APP1 || head[1] == segment.APP2 {
			data, err := src.Bytes(offset+4, max(length-2, 0))
			if err != nil {
				return ""
			}
			for _, m := range []struct{ mark, name string }{
				{gainMapMark, metadata.PartGainMap},
				{"http://ns.adobe.com/hdr-gain-map/1.0/", metadata.PartGainMap},
				{"aux:hdrgainmap", metadata.PartGainMap},
				{"aux:portraiteffectsmatte", partMatte}, {"aux:semantic", partMatte},
				{"aux:depth", metadata.PartDepth}, {"aux:disparity", metadata.PartDepth},
			} {
				if bytes.Contains(data, []byte(m.mark)) {
					return m.name
				}
			}
		}
		offset += 2 + length
	}
	return ""
}

// readBehind looks behind the end of the picture whose first scan is at an offset.
func (o *Others) readBehind(src *source.Source, scan int64) {
	const most = 32 // pictures one behind the other
	for range most {
		end, ok := pictureEnd(src, scan)
		if !ok {
			return
		}
		head, err := src.Bytes(end, 12)
		switch {
		case err != nil:
			return
		case string(head[4:8]) == "ftyp":
			o.add(metadata.PartFilm)
			return
		case head[0] == 0xff && head[1] == segment.SOI:
			if !o.indexed {
				o.addPicture(src, end)
			}
			scan = end + 2
			continue
		case o.readSamsung(src), bytes.Equal(head, make([]byte, len(head))):
			return // or it is filled up with zeros
		case !o.indexed:
			o.add("what another program has written behind the picture")
		}
		return
	}
}

// pictureEnd returns where the picture ends that has a segment at an offset. In a stream it looks at what has been read, the
// picture.
func pictureEnd(src *source.Source, offset int64) (int64, bool) {
	r := bufio.NewReaderSize(io.NewSectionReader(src, offset, max(src.Available()-offset, 0)), 1<<16)
	for {
		// Up to a marker: not a byte of ones that a zero follows in a scan, nor one that restarts decoding.
		piece, err := r.ReadSlice(0xff)
		offset += int64(len(piece))
		if err == bufio.ErrBufferFull {
			continue
		}
		marker := byte(0xff)
		for err == nil && marker == 0xff {
			marker, err = r.ReadByte()
			offset++
		}
		const firstRestart, lastRestart = 0xd0, 0xd7
		switch {
		case err != nil:
			return 0, false
		case marker == segment.EOI:
			return offset, true
		case marker == 0, marker == segment.SOI, marker >= firstRestart && marker <= lastRestart:
			continue
		}
		var length [2]byte
		if _, err := r.Read(length[:1]); err != nil {
			return 0, false
		}
		if length[1], err = r.ReadByte(); err != nil {
			return 0, false
		}
		n := int(binary.BigEndian.Uint16(length[:]))
		skipped, err := r.Discard(max(n-2, 0))
		offset += int64(2 + skipped)
		if err != nil {
			return 0, false
		}
	}
}

// readSamsung reads the directory at the end of the file that cameras of Samsung write: its entries, of 12 bytes, begin
// with two zeros and a kind; the directory's size and "SEFT" are the last thing. The end of a stream is not known.
func (o *Others) readSamsung(src *source.Source) bool {
	const tail, head, entry, maxSize = 8, 12, 12, 1 << 16
	if src.IsStream() {
		return false
	}
	end, err := src.Bytes(src.Available()-tail, tail)
	if err != nil || string(end[4:]) != "SEFT" {
		return false
	}
	size := int64(binary.LittleEndian.Uint32(end))
	o.found = true
	before := len(o.names)
	if size <= maxSize {
		directory, err := src.Bytes(src.Available()-tail-size, size)
		if err == nil && bytes.HasPrefix(directory, []byte("SEFH")) && size >= head {
			for rest := directory[head:]; len(rest) >= entry; rest = rest[entry:] {
				switch binary.LittleEndian.Uint16(rest[2:]) {
				case 0x0a30:
					o.add(metadata.PartFilm)
				case 0x0ab1:
					o.add(metadata.PartDepth)
				case 0x0100:
					o.add(metadata.PartSound)
				}
			}
		}
	}
	if len(o.names) == before {
		o.add(partSamsung)
	}
	return true
}

// Dropped names what is dropped of the file, a warning each. What XMP announces counts if there is something else in the file: it may
// have gone long before.
func (o *Others) Dropped(f *metadata.Followed) (warnings []string) {
	pictures := o.pictures
	named := slices.Clone(o.names)
	for _, name := range f.Contained {
		named.Add(name)
	}
	if o.found {
		for _, name := range f.Announced {
			if !slices.Contains(named, name) {
				named.Add(name)
				if name != metadata.PartFilm {
					pictures--
				}
			}
		}
	}
	if pictures > 0 {
		warnings = append(warnings, fmt.Sprintf("only the first of %d pictures in the file (MPO) is read, the rest is dropped", pictures+1))
	}
	if len(named) > 0 {
		verb := "is"
		if len(named) > 1 {
			verb = "are"
		}
		warnings = append(warnings, fmt.Sprintf("%s %s dropped: only the picture itself is read", listOf(named), verb))
	}
	return warnings
}

// Found tells whether there are some, beside segments of programs.
func (o *Others) Found() bool { return o.found }

// listOf writes words as a list.
func listOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + fmt.Sprintf(" and %s", words[len(words)-1])
}
