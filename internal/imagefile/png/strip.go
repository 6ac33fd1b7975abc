package png

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Stripped reads a PNG file without the chunks that samples do not need to look right, and
// without what follows its end. A palette and the coding of pixels stay.
func Stripped(r io.Reader) io.Reader {
	return &stripper{r: r, out: io.LimitReader(r, int64(len(Signature)))}
}

// stripper reads chunk by chunk.
type stripper struct {
	r    io.Reader
	out  io.Reader // the rest of a part that is kept
	last bool      // it is the last one
}

func (s *stripper) Read(p []byte) (int, error) {
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
func (s *stripper) next() error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(s.r, head[:]); err != nil {
			return fmt.Errorf("the PNG ends early: %w", io.ErrUnexpectedEOF)
		}
		name, rest := string(head[4:]), int64(binary.BigEndian.Uint32(head[:]))+4 // and a checksum
		switch {
		case name == "IHDR", name == "PLTE", name == "tRNS", name == "IDAT", name == "IEND", name == "iCCP", slices.Contains(colourChunks, name):
			s.out, s.last = io.MultiReader(bytes.NewReader(head[:]), io.LimitReader(s.r, rest)), name == "IEND"
			return nil
		}
		if _, err := io.CopyN(io.Discard, s.r, rest); err != nil {
			return fmt.Errorf("the PNG ends early: %w", io.ErrUnexpectedEOF)
		}
	}
}
