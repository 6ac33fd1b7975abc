package imagefile

import (
	"encoding/binary"
	"fmt"
	"image"

	"github.com/averaged/imaging/internal/metadata"
	"golang.org/x/image/webp"
)

// Flags of the extended header of WebP (RFC 9649, section 2.7.1).
const (
	webpAnimation = 1 << 1
)

func decodeWebP(src source, opt ReadOptions) (*Image, error) {
	config, err := webp.DecodeConfig(src.from(0))
	if err != nil {
		return nil, foreignError(WebP, err)
	}
	if err := opt.checkSize(src, WebP, config.Width, config.Height); err != nil {
		return nil, err
	}
	parts, err := readWebPChunks(src)
	if err != nil {
		return nil, err
	}
	img, err := webp.Decode(src.from(0))
	if err != nil {
		return nil, foreignError(WebP, err)
	}
	b := img.Bounds()
	// The extended header gives the size of the canvas; the picture has its own.
	if err := opt.checkSize(src, WebP, b.Dx(), b.Dy()); err != nil {
		return nil, err
	}
	m := newImage(b.Dx(), b.Dy(), 3, 8, !isOpaque(img))
	switch s := img.(type) {
	case *image.YCbCr:
		m.fillSmooth(s, vp8ToRGB)
	case *image.NYCbCrA:
		m.fillSmooth(&s.YCbCr, vp8ToRGB)
		for y := range m.Height {
			if m.Alpha != nil {
				alpha8(m.Alpha[y*m.Width:(y+1)*m.Width], s.A[s.AOffset(b.Min.X, b.Min.Y+y):], 1)
			}
		}
	default:
		m.fill(img)
	}
	m.Metadata = parts.metadata
	m.setICC(parts.icc)
	m.resolutionFromEXIF()
	return m, nil
}

type webpParts struct {
	metadata metadata.Metadata
	icc      []byte
}

// readWebPChunks walks over the chunks of the container.
func readWebPChunks(src source) (*webpParts, error) {
	p := &webpParts{}
	budget := int64(metadata.MaxSize)
	for offset := int64(12); ; {
		head, err := src.Bytes(offset, 8)
		if err != nil {
			return p, nil
		}
		name, length := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		switch name {
		case "VP8X":
			if flags, err := src.Bytes(offset+8, 1); err == nil && flags[0]&webpAnimation != 0 {
				return nil, fmt.Errorf("%w: the WebP is an animation (still images are read; save one of its pictures as PNG)", ErrUnsupported)
			}
		case "ICCP", "EXIF", "XMP ":
			if budget -= length; budget < 0 {
				return nil, fmt.Errorf("%w: the metadata in WebP is larger than %d MB", ErrUnsupported, metadata.MaxSize>>20)
			}
			data, err := src.Bytes(offset+8, length)
			if err != nil {
				return nil, truncated(WebP)
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
