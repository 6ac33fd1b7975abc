package jpeg

import (
	"bytes"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
)

// maxScans is how many scans are read: one for each coefficient of four components. Real files have ten or so. A scan goes
// over all blocks and may take ten bytes, so that a small file with many would take hours.
const maxScans = 256

// LimitScans returns a reader of a JPEG file, or of the rest of one, that fails where there are too many scans.
func LimitScans(r io.Reader) io.Reader { return &scanCounter{r: r} }

// scanCounter counts the markers of scans. The coding keeps their bytes out of the data.
type scanCounter struct {
	r      io.Reader
	scans  int
	marker bool // the last byte was that in front of a marker's name
}

func (s *scanCounter) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if n == 0 {
		return n, err
	}
	if s.marker && p[0] == segment.SOS {
		s.scans++
	}
	s.scans += bytes.Count(p[:n], []byte{0xff, segment.SOS})
	s.marker = p[n-1] == 0xff
	if s.scans > maxScans {
		return 0, format.Malformed(format.JPEG, "it has more than %d scans", maxScans)
	}
	return n, err
}
