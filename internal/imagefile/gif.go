package imagefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"io"

	"github.com/averaged/imaging/internal/metadata"
)

// decodeGIF reads the first picture of a GIF (version 89a, CompuServe, 1990).
func decodeGIF(src source, opt ReadOptions) (*Image, error) {
	config, err := gif.DecodeConfig(src.from(0))
	if err != nil {
		return nil, foreignError(GIF, err)
	}
	if err := opt.checkSize(src, GIF, config.Width, config.Height); err != nil {
		return nil, err
	}
	img, err := gif.Decode(src.from(0))
	if err != nil {
		return nil, foreignError(GIF, err)
	}
	var parts gifParts
	// A file may end after its first picture.
	if err := parts.read(bufio.NewReader(src.from(0))); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	channels := 3
	if p, ok := img.(*image.Paletted); ok && parts.icc == nil && greyPalette(p) {
		channels = 1
	}
	screen := image.Rect(0, 0, config.Width, config.Height)
	if img.Bounds() != screen { // what the picture does not cover is transparent
		whole := image.NewNRGBA(screen)
		draw.Draw(whole, img.Bounds(), img, img.Bounds().Min, draw.Src)
		img = whole
	}
	m := newImage(config.Width, config.Height, channels, 8, !isOpaque(img))
	m.fill(img)
	m.Metadata.XMP = parts.xmp
	m.setICC(parts.icc)
	if parts.comment {
		m.warn("the comment in GIF is dropped")
	}
	if parts.pictures > 1 {
		m.warn("the GIF is an animation: only its first picture is read")
	}
	return m, nil
}

// Blocks of a GIF and kinds of extensions (sections 20 to 27 of its specification).
const (
	gifExtension   = 0x21
	gifPicture     = 0x2c
	gifComment     = 0xfe
	gifApplication = 0xff
)

// gifParts is what image/gif does not tell.
type gifParts struct {
	icc, xmp []byte
	comment  bool
	pictures int // 2 if there are more
}

// read walks over the blocks as far as the second picture. The profile is where ICC.1, annex B, and XMP where part 3 of
// its specification says.
func (p *gifParts) read(r *bufio.Reader) error {
	if err := skipGIFHeader(r, 13, 10); err != nil {
		return err
	}
	for p.pictures < 2 {
		kind, err := r.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case gifPicture:
			p.pictures++
			if err := skipGIFHeader(r, 9, 8); err != nil {
				return err
			}
			if _, err := r.Discard(1); err != nil { // the length of codes
				return err
			}
			if err := gifSubBlocks(r, nil); err != nil {
				return err
			}
		case gifExtension:
			if err := p.readExtension(r); err != nil {
				return err
			}
		default:
			return nil // the end, or nothing of a GIF
		}
	}
	return nil
}

func (p *gifParts) readExtension(r *bufio.Reader) error {
	label, err := r.ReadByte()
	if err != nil {
		return err
	}
	var all bytes.Buffer
	if err := gifSubBlocks(r, &all); err != nil {
		return err
	}
	switch data := all.Bytes(); {
	case label == gifComment:
		p.comment = true
	case label == gifApplication && bytes.HasPrefix(data, []byte("\x0bICCRGBG1012")):
		for data = data[12:]; len(data) > 0; data = data[1+int(data[0]):] {
			p.icc = append(p.icc, data[1:1+int(data[0])]...)
		}
	case label == gifApplication && bytes.HasPrefix(data, []byte("\x0bXMP DataXMP")):
		// The packet is not cut into blocks. The bytes 1, 255, 254 to 0 lead those who take it for blocks to its end.
		p.xmp, _, _ = bytes.Cut(data[12:], []byte("\x01\xff"))
	}
	return nil
}

// skipGIFHeader skips n bytes and the table of colours that may follow: the byte at fields tells.
func skipGIFHeader(r *bufio.Reader, n, fields int) error {
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	if head[fields]&0x80 == 0 {
		return nil
	}
	_, err := r.Discard(3 << (head[fields]&7 + 1))
	return err
}

// gifSubBlocks reads blocks as far as the empty one that ends them. They go to kept, if it is not nil, each behind its
// length.
func gifSubBlocks(r *bufio.Reader, kept *bytes.Buffer) error {
	for {
		length, err := r.ReadByte()
		switch {
		case err != nil || length == 0:
			return err
		case kept == nil:
			_, err = r.Discard(int(length))
		case kept.Len() > metadata.MaxSize:
			err = fmt.Errorf("%w: the metadata in GIF is larger than %d MB", ErrUnsupported, metadata.MaxSize>>20)
		default:
			kept.WriteByte(length)
			_, err = io.CopyN(kept, r, int64(length))
		}
		if err != nil {
			return err
		}
	}
}
