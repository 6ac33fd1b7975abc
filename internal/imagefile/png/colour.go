package png

import (
	"encoding/binary"

	"github.com/averaged/imaging/internal/iccprofile"
	"github.com/averaged/imaging/internal/metadata"
)

// ColourSpace returns what PNG's chunks say the samples mean, in the order of the specification (third edition, section
// 4.3): cICP, sRGB, gAMA and cHRM; and the name of what says so. known is false for what no profile can say.
func ColourSpace(d *metadata.Metadata) (s iccprofile.ColourSpace, name string, known bool) {
	if code, ok := d.Chunk("cICP"); ok {
		s, known = iccprofile.Coded(code)
		return s, "PNG's code points (cICP)", known
	}
	s, name = iccprofile.SRGB, "PNG's gamma and chromaticities"
	if _, ok := d.Chunk("sRGB"); ok {
		return s, name, true
	}
	const unit = 100000
	known = true
	if b, ok := d.Chunk("gAMA"); ok {
		if len(b) != 4 || binary.BigEndian.Uint32(b) == 0 {
			return s, name, false
		}
		gamma := unit / float64(binary.BigEndian.Uint32(b))
		s.Transfer = iccprofile.Gamma(gamma)
		known = gamma >= 0.1 && gamma <= 10
	}
	if b, ok := d.Chunk("cHRM"); ok {
		if len(b) != 32 {
			return s, name, false
		}
		at := func(i int) iccprofile.Chromaticity {
			return iccprofile.Chromaticity{X: float64(binary.BigEndian.Uint32(b[8*i:])) / unit, Y: float64(binary.BigEndian.Uint32(b[8*i+4:])) / unit}
		}
		s.Primaries = iccprofile.Primaries{Red: at(1), Green: at(2), Blue: at(3), White: at(0)}
	}
	return s, name, known
}
