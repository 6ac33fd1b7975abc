package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Strippable tells whether an image, with its samples and its size as they were read, can be
// written without metadata by leaving chunks out of its file: a PNG that is not turned.
func Strippable(m *Image, opt WriteOptions) bool {
	if !opt.DropMetadata || m.turned {
		return false
	}
	opt.DropMetadata = false
	return m.Format == PNG && Recoding(m, opt) == ""
}

// Stripped reads a PNG file without the chunks that samples do not need to look right, and
// without what follows its end. A palette and the coding of pixels stay.
func Stripped(r io.Reader) io.Reader {
	return &pngStripper{r: r, out: io.LimitReader(r, int64(len(pngSignature)))}
}

// pngStripper reads chunk by chunk.
type pngStripper struct {
	r    io.Reader
	out  io.Reader // the rest of a part that is kept
	last bool      // it is the last one
}

func (s *pngStripper) Read(p []byte) (int, error) {
	for {
		n, err := s.out.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if s.last {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
}

// next goes to the next chunk that is kept.
func (s *pngStripper) next() error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(s.r, head[:]); err != nil {
			return fmt.Errorf("the PNG ends early: %w", io.ErrUnexpectedEOF)
		}
		name, rest := string(head[4:]), int64(binary.BigEndian.Uint32(head[:]))+4 // and a checksum
		switch {
		case name == "IHDR", name == "PLTE", name == "tRNS", name == "IDAT", name == "IEND", name == "iCCP", slices.Contains(pngColourChunks, name):
			s.out, s.last = io.MultiReader(bytes.NewReader(head[:]), io.LimitReader(s.r, rest)), name == "IEND"
			return nil
		}
		if _, err := io.CopyN(io.Discard, s.r, rest); err != nil {
			return fmt.Errorf("the PNG ends early: %w", io.ErrUnexpectedEOF)
		}
	}
}
