package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/tiffdir"
)

// Encode writes one page in strips, compressed with deflate, with the
// horizontal predictor for integers: grey or RGB, with or without unassociated
// alpha, 8, 16 or 32 (float) bits. It uses so many threads, all for 0. The encoder of x/image/tiff writes neither
// float samples nor grey with alpha nor any tag of metadata.
func Encode(ctx context.Context, w io.Writer, m *picture.Image, depth, threads int) error {
	const headerSize = 8
	order := tiffdir.ByteOrder(binary.LittleEndian)
	var nodes []tiffdir.Node
	var front []byte // between the header and the pixels
	if m.Metadata.EXIF != nil {
		// Values of EXIF are copied as they are, so the file takes their byte order.
		described, exifOrder, err := metadata.DescriptiveNodes(m.Metadata.EXIF)
		if err != nil {
			return fmt.Errorf("%w: its EXIF cannot be read: %v", picture.ErrInvalid, err)
		}
		nodes, order = described, exifOrder
		if note := metadata.MakerNote(nodes); note != nil {
			note.InPlace = true
			front = m.Metadata.EXIF[headerSize:]
		}
	}
	// The offsets of strips stand before them or behind, and their sizes are known
	// only afterwards: the packed strips wait in memory, so that any writer will do.
	strips, rows, err := packStrips(ctx, m, depth, threads, order)
	if err != nil {
		return err
	}
	offset := int64(headerSize + len(front) + len(front)%2)
	var offsets, counts []uint32
	for _, s := range strips {
		offsets = append(offsets, uint32(offset))
		counts = append(counts, uint32(len(s)))
		offset += int64(len(s) + len(s)%2)
		if offset > math.MaxUint32 {
			break
		}
	}
	t := tiffdir.Builder{Order: order, Nodes: nodes}
	addPixels(&t, m, depth, rows, offsets, counts)
	addMetadata(&t, &m.Metadata)
	directory := tiffdir.AppendDirectory(nil, uint32(offset), order, t.Nodes)
	if offset+int64(len(directory)) > math.MaxUint32 {
		return fmt.Errorf("%w: TIFF of %d×%d would be larger than 4 GiB (use PNG)", format.ErrUnsupported, m.Width, m.Height)
	}
	header := []byte("II*\x00")
	if order == tiffdir.ByteOrder(binary.BigEndian) {
		header = []byte("MM\x00*")
	}
	header = append(header, make([]byte, 4)...)
	order.PutUint32(header[4:], uint32(offset))
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, s := range append([][]byte{front}, strips...) {
		if _, err := w.Write(s); err != nil {
			return err
		}
		if len(s)%2 == 1 { // Strips begin on a word boundary, as old readers want.
			if _, err := w.Write([]byte{0}); err != nil {
				return err
			}
		}
	}
	_, err = w.Write(directory)
	return err
}

// deflateLevel is that of PNG. It takes 0.84, 0.54 and 0.38 of the processor time of compress/zlib for a photograph of 8, 16
// and 32 bits, whose file is up to 1.5 % larger.
const deflateLevel = 7

// packStrips packs the image in strips of about 256 KiB, each by itself, and returns how many
// rows each has. The bytes do not depend on the number of threads.
func packStrips(ctx context.Context, m *picture.Image, depth, threads int, order binary.ByteOrder) (strips [][]byte, rows int, err error) {
	samples := m.Layout()
	bytesOfRow := m.Width * len(samples) * depth / 8
	rows = min(max(1, (256<<10)/bytesOfRow), m.Height)
	writers := sync.Pool{New: func() any {
		z, _ := zlib.NewWriterLevel(nil, deflateLevel) // a level that there is
		return z
	}}
	strips = make([][]byte, (m.Height+rows-1)/rows)
	workers := parallel.New(threads)
	defer workers.Close()
	workers.For(len(strips), func(i int) {
		if ctx.Err() != nil {
			return
		}
		var packed bytes.Buffer
		z := writers.Get().(*zlib.Writer)
		z.Reset(&packed)
		row := make([]byte, bytesOfRow)
		for y := i * rows; y < min((i+1)*rows, m.Height); y++ {
			m.PackRow(row, y, depth, samples, order)
			predict(row, depth, len(samples), order)
			z.Write(row) // into memory, which does not fail
		}
		z.Close()
		writers.Put(z)
		strips[i] = bytes.Clone(packed.Bytes()) // without the room to grow
	})
	return strips, rows, ctx.Err()
}

// predict takes from each integer sample its left neighbour.
func predict(row []byte, depth, samples int, order binary.ByteOrder) {
	switch depth {
	case 8:
		for i := len(row) - 1; i >= samples; i-- {
			row[i] -= row[i-samples]
		}
	case 16:
		for i := len(row) - 2; i >= 2*samples; i -= 2 {
			order.PutUint16(row[i:], order.Uint16(row[i:])-order.Uint16(row[i-2*samples:]))
		}
	}
}

func addPixels(t *tiffdir.Builder, m *picture.Image, depth, rows int, offsets, counts []uint32) {
	samples := len(m.Layout())
	repeat := func(v int) []int {
		all := make([]int, samples)
		for i := range all {
			all[i] = v
		}
		return all
	}
	t.Longs(tiffdir.TagImageWidth, uint32(m.Width))
	t.Longs(tiffdir.TagImageLength, uint32(m.Height))
	t.Shorts(tiffdir.TagBitsPerSample, repeat(depth)...)
	t.Shorts(tiffdir.TagCompression, compressionDeflate)
	if m.Channels == 1 {
		t.Shorts(tiffdir.TagPhotometric, photometricBlackIsZero)
	} else {
		t.Shorts(tiffdir.TagPhotometric, photometricRGB)
	}
	t.Longs(tiffdir.TagStripOffsets, offsets...)
	t.Shorts(tiffdir.TagSamplesPerPixel, samples)
	t.Longs(tiffdir.TagRowsPerStrip, uint32(rows))
	t.Longs(tiffdir.TagStripByteCounts, counts...)
	t.Shorts(tiffdir.TagPlanar, 1)
	if m.Alpha != nil {
		t.Shorts(tagExtraSamples, extraUnassociated)
	}
	if depth == 32 {
		t.Shorts(tiffdir.TagSampleFormat, repeat(formatFloat)...)
	} else {
		t.Shorts(tiffdir.TagPredictor, predictorHorizontal)
	}
}

func addMetadata(t *tiffdir.Builder, d *metadata.Metadata) {
	unit := 1
	r := d.Resolution
	if r.Unit == metadata.Inch {
		unit = 2
	} else if cm, ok := r.In(metadata.Centimetre); ok {
		r, unit = cm, 3
	}
	if r.Known() {
		t.Rationals(tiffdir.TagXResolution, r.X)
		t.Rationals(tiffdir.TagYResolution, r.Y)
		t.Shorts(tiffdir.TagResolutionUnit, unit)
	}
	t.Blob(tagICC, tiffdir.Undefined, d.ICC)
	t.Blob(tagXMP, tiffdir.Byte, d.XMP)
	t.Blob(tiffdir.TagIPTC, tiffdir.Undefined, d.IPTC)
}
