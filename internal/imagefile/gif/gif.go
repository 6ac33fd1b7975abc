// Package gif reads the first picture of a GIF.
package gif

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	stdgif "image/gif"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
)

// Decode reads the first picture of a GIF (version 89a, CompuServe, 1990).
func Decode(src *source.Source) (*picture.Image, error) {
	config, err := stdgif.DecodeConfig(src.From(0))
	if err != nil {
		return nil, format.Foreign(format.GIF, err)
	}
	if err := src.CheckSize(format.GIF, config.Width, config.Height); err != nil {
		return nil, err
	}
	img, err := stdgif.Decode(src.From(0))
	if err != nil {
		return nil, format.Foreign(format.GIF, err)
	}
	var parts blocks
	// A file may end after its first picture.
	if err := parts.read(bufio.NewReader(src.From(0))); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	channels := 3
	if p, ok := img.(*image.Paletted); ok && parts.icc == nil && picture.GreyPalette(p) {
		channels = 1
	}
	screen := image.Rect(0, 0, config.Width, config.Height)
	if img.Bounds() != screen { // what the picture does not cover is transparent
		whole := image.NewNRGBA(screen)
		draw.Draw(whole, img.Bounds(), img, img.Bounds().Min, draw.Src)
		img = whole
	}
	m := picture.New(config.Width, config.Height, channels, 8, !picture.IsOpaque(img))
	m.Fill(img)
	m.Metadata.XMP = parts.xmp
	m.SetICC(parts.icc)
	if parts.comment {
		m.Warn("the comment in GIF is dropped")
	}
	if parts.pictures > 1 {
		m.Warn("the GIF is an animation: only its first picture is read")
	}
	return m, nil
}

// Blocks of a GIF and kinds of extensions (sections 20 to 27 of its specification).
const (
	extension    = 0x21
	pictureBlock = 0x2c
	comment      = 0xfe
	application  = 0xff
)

// blocks is what image/gif does not tell.
type blocks struct {
	icc, xmp []byte
	comment  bool
	pictures int // 2 if there are more
}

// read walks over the blocks as far as the second picture. The profile is where ICC.1, annex B, and XMP where part 3 of
// its specification says.
func (p *blocks) read(r *bufio.Reader) error {
	if err := skipHeader(r, 13, 10); err != nil {
		return err
	}
	for p.pictures < 2 {
		kind, err := r.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case pictureBlock:
			p.pictures++
			if err := skipHeader(r, 9, 8); err != nil {
				return err
			}
			if _, err := r.Discard(1); err != nil { // the length of codes
				return err
			}
			if err := subBlocks(r, nil); err != nil {
				return err
			}
		case extension:
			if err := p.readExtension(r); err != nil {
				return err
			}
		default:
			return nil // the end, or nothing of a GIF
		}
	}
	return nil
}

func (p *blocks) readExtension(r *bufio.Reader) error {
	label, err := r.ReadByte()
	if err != nil {
		return err
	}
	var all bytes.Buffer
	if err := subBlocks(r, &all); err != nil {
		return err
	}
	switch data := all.Bytes(); {
	case label == comment:
		p.comment = true
	case label == application && bytes.HasPrefix(data, []byte("\x0bICCRGBG1012")):
		for data = data[12:]; len(data) > 0; data = data[1+int(data[0]):] {
			p.icc = append(p.icc, data[1:1+int(data[0])]...)
		}
	case label == application && bytes.HasPrefix(data, []byte("\x0bXMP DataXMP")):
		// The packet is not cut into blocks. The bytes 1, 255, 254 to 0 lead those who take it for blocks to its end.
		p.xmp, _, _ = bytes.Cut(data[12:], []byte("\x01\xff"))
	}
	return nil
}

// skipHeader skips n bytes and the table of colours that may follow: the byte at fields tells.
func skipHeader(r *bufio.Reader, n, fields int) error {
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

// subBlocks reads blocks as far as the empty one that ends them. They go to kept, if it is not nil, each behind its
// length.
func subBlocks(r *bufio.Reader, kept *bytes.Buffer) error {
	for {
		length, err := r.ReadByte()
		switch {
		case err != nil || length == 0:
			return err
		case kept == nil:
			_, err = r.Discard(int(length))
		case kept.Len() > metadata.MaxSize:
			err = fmt.Errorf("%w: the metadata in GIF is larger than %d MB", format.ErrUnsupported, metadata.MaxSize>>20)
		default:
			kept.WriteByte(length)
			_, err = io.CopyN(kept, r, int64(length))
		}
		if err != nil {
			return err
		}
	}
}
