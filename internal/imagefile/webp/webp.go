// Package webp reads WebP.
package webp

import (
	"encoding/binary"
	"fmt"
	"image"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
	xwebp "golang.org/x/image/webp"
)

// Flags of the extended header of WebP (RFC 9649, section 2.7.1).
const (
	animation = 1 << 1
)

// Decode reads a still picture.
func Decode(src *source.Source) (*picture.Image, error) {
	config, err := xwebp.DecodeConfig(src.From(0))
	if err != nil {
		return nil, format.Foreign(format.WebP, err)
	}
	if err := src.CheckSize(format.WebP, config.Width, config.Height); err != nil {
		return nil, err
	}
	parts, err := readChunks(src)
	if err != nil {
		return nil, err
	}
	img, err := xwebp.Decode(src.From(0))
	if err != nil {
		return nil, format.Foreign(format.WebP, err)
	}
	b := img.Bounds()
	m := picture.New(b.Dx(), b.Dy(), 3, 8, !picture.IsOpaque(img))
	switch s := img.(type) {
	case *image.YCbCr:
		m.FillSmooth(s, toRGB)
	case *image.NYCbCrA:
		m.FillSmooth(&s.YCbCr, toRGB)
		for y := range m.Height {
			if m.Alpha != nil {
				samples.Alpha8(m.Alpha[y*m.Width:(y+1)*m.Width], s.A[s.AOffset(b.Min.X, b.Min.Y+y):], 1)
			}
		}
	default:
		m.Fill(img)
	}
	m.Metadata = parts.metadata
	m.SetICC(parts.icc)
	m.Metadata.TakeResolution()
	return m, nil
}

type chunks struct {
	metadata metadata.Metadata
	icc      []byte
}

// readChunks walks over the chunks of the container.
func readChunks(src *source.Source) (*chunks, error) {
	p := &chunks{}
	budget := int64(metadata.MaxSize)
	for offset := int64(12); ; {
		head, err := src.Bytes(offset, 8)
		if err != nil {
			return p, nil
		}
		name, length := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		switch name {
		case "VP8X":
			if flags, err := src.Bytes(offset+8, 1); err == nil && flags[0]&animation != 0 {
				return nil, fmt.Errorf("%w: the WebP is an animation (still images are read; save one of its pictures as PNG)", format.ErrUnsupported)
			}
		case "VP8 ", "VP8L": // the picture, whose size need not be that of the canvas
			if width, height, ok := frameSize(src, name, offset+8); ok {
				if err := src.CheckSize(format.WebP, width, height); err != nil {
					return nil, err
				}
			}
		case "ICCP", "EXIF", "XMP ":
			if budget -= length; budget < 0 {
				return nil, fmt.Errorf("%w: the metadata in WebP is larger than %d MB", format.ErrUnsupported, metadata.MaxSize>>20)
			}
			data, err := src.Bytes(offset+8, length)
			if err != nil {
				return nil, format.Truncated(format.WebP)
			}
			switch name {
			case "ICCP":
				p.icc = data
			case "EXIF":
				p.metadata.EXIF = metadata.TrimEXIF(data)
			case "XMP ":
				p.metadata.XMP = data
			}
		}
		offset += 8 + length + length%2
	}
}

// frameSize reads the size in the header of a frame (RFC 6386, section 9.1; RFC 9649, section 3.4). A header that is not there
// is x/image/webp's to report.
func frameSize(src *source.Source, name string, offset int64) (width, height int, ok bool) {
	const side = 1<<14 - 1
	if name == "VP8L" {
		b, err := src.Bytes(offset+1, 4)
		if err != nil {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(b)
		return int(bits&side) + 1, int(bits>>14&side) + 1, true
	}
	b, err := src.Bytes(offset+6, 4)
	if err != nil {
		return 0, 0, false
	}
	return int(binary.LittleEndian.Uint16(b) & side), int(binary.LittleEndian.Uint16(b[2:]) & side), true
}

// toRGB converts the components of a VP8 frame. They are in the limited range
// of ITU-R BT.601 (luma from 16 to 235), unlike those of JPEG, which the methods
// of image.YCbCr assume: with those, black would be 16. The fixed-point numbers
// are the ones of the reference decoder, in units of 1/64.
func toRGB(luma, cb, cr byte) (r, g, b byte) {
	y, u, v := int32(luma)*19077>>8, int32(cb), int32(cr)
	return clip((y + v*26149>>8 - 14234) >> 6),
		clip((y - u*6419>>8 - v*13320>>8 + 8708) >> 6),
		clip((y + u*33050>>8 - 17685) >> 6)
}

func clip(v int32) byte { return byte(min(max(v, 0), 255)) }
