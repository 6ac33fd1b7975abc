package iccprofile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"

	"github.com/averaged/imaging/internal/matrix3"
)

// Space returns the colour space of a profile's samples, four characters such
// as "RGB ", "GRAY" or "CMYK" (ICC.1, section 7.2), or "" if it is no profile.
func Space(profile []byte) string {
	const headerSize = 128
	if len(profile) < headerSize || string(profile[36:40]) != "acsp" {
		return ""
	}
	return string(profile[16:20])
}

// IsSRGB tells whether a profile is called so: what programs assume where there is none.
func IsSRGB(profile []byte) bool {
	return bytes.Contains(profile, []byte("sRGB")) || bytes.Contains(profile, []byte("s\x00R\x00G\x00B"))
}

// title is the name of the profile.
func (s ColourSpace) title() string {
	if s.code != nil {
		return fmt.Sprintf("ITU-T H.273 primaries %d, transfer %d", s.code[0], s.code[1])
	}
	return fmt.Sprintf("Gamma %.4g, from PNG", s.g)
}

// Profile returns a colour profile that says the same of an image with so many channels, or false if none can: if the
// primaries are none.
func (s ColourSpace) Profile(channels int) ([]byte, bool) {
	toXYZ, ok := s.matrix()
	if !ok {
		return nil, false
	}
	adapt := adaptation(s.White)
	p := writer{}
	p.tag("desc", text(s.title()))
	p.tag("cprt", text("No copyright"))
	p.tag("wtpt", xyzValue(d50))
	p.tag("chad", matrixValue(adapt))
	curve := s.curve()
	space := "RGB "
	if channels == 1 {
		space = "GRAY"
		p.tag("kTRC", curve)
	} else {
		colorants := adapt.Times(toXYZ)
		for i, name := range []string{"rXYZ", "gXYZ", "bXYZ"} {
			p.tag(name, xyzValue([3]float64{colorants[i], colorants[3+i], colorants[6+i]}))
		}
		for _, name := range []string{"rTRC", "gTRC", "bTRC"} {
			p.tag(name, curve)
		}
		if s.code != nil {
			p.tag("cicp", append([]byte("cicp\x00\x00\x00\x00"), s.code...))
		}
	}
	return p.bytes(space), true
}

// d50 is the white of profiles (ICC.1, section 7.2.16), in XYZ.
var d50 = [3]float64{0.9642, 1, 0.8249}

// curve is the curve of a profile: parametric (ICC.1, section 10.18) or sampled (10.6).
func (t Transfer) curve() []byte {
	if t.sampled != nil {
		const samples = 4096
		b := binary.BigEndian.AppendUint32([]byte("curv\x00\x00\x00\x00"), samples)
		for i := range samples {
			b = binary.BigEndian.AppendUint16(b, uint16(math.Round(65535*min(t.sampled(float64(i)/(samples-1)), 1))))
		}
		return b
	}
	kind, parameters := uint16(0), []float64{t.g}
	if t.c != 0 {
		kind, parameters = 3, []float64{t.g, t.a, t.b, t.c, t.d}
	}
	b := binary.BigEndian.AppendUint16([]byte("para\x00\x00\x00\x00"), kind)
	b = append(b, 0, 0)
	for _, v := range parameters {
		b = appendFixed(b, v)
	}
	return b
}

// appendFixed appends a number as s15Fixed16.
func appendFixed(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
}

func xyzValue(v [3]float64) []byte {
	b := []byte("XYZ \x00\x00\x00\x00")
	for _, x := range v {
		b = appendFixed(b, x)
	}
	return b
}

func matrixValue(m matrix3.Matrix) []byte {
	b := []byte("sf32\x00\x00\x00\x00")
	for _, v := range m {
		b = appendFixed(b, v)
	}
	return b
}

// text is a text in English, in UTF-16.
func text(s string) []byte {
	units := utf16.Encode([]rune(s))
	const records, recordSize, offset = 1, 12, 28
	b := []byte("mluc\x00\x00\x00\x00")
	for _, v := range []uint32{records, recordSize} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = append(b, "enUS"...)
	b = binary.BigEndian.AppendUint32(b, uint32(2*len(units)))
	b = binary.BigEndian.AppendUint32(b, offset)
	for _, u := range units {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

// writer collects the tags of a profile. Equal neighbours share their data.
type writer struct {
	names []string
	data  [][]byte
}

func (p *writer) tag(name string, data []byte) {
	p.names, p.data = append(p.names, name), append(p.data, data)
}

// bytes returns the profile: a header of 128 bytes (ICC.1, section 7.2), the table of tags, and their data, each at a
// multiple of four.
func (p *writer) bytes(space string) []byte {
	const headerSize, entry = 128, 12
	tableEnd := headerSize + 4 + entry*len(p.names)
	var table, data []byte
	table = binary.BigEndian.AppendUint32(table, uint32(len(p.names)))
	at := 0
	for i, d := range p.data {
		if i == 0 || string(d) != string(p.data[i-1]) {
			at = tableEnd + len(data)
			data = append(append(data, d...), make([]byte, -len(d)&3)...)
		}
		table = append(table, p.names[i]...)
		table = binary.BigEndian.AppendUint32(table, uint32(at))
		table = binary.BigEndian.AppendUint32(table, uint32(len(d)))
	}
	header := make([]byte, headerSize)
	binary.BigEndian.PutUint32(header, uint32(tableEnd+len(data)))
	binary.BigEndian.PutUint32(header[8:], 0x04400000) // version 4.4
	copy(header[12:], "mntr"+space+"XYZ ")
	binary.BigEndian.PutUint16(header[24:], 2022) // any date: the same numbers make the same profile
	header[27], header[29] = 1, 1
	copy(header[36:], "acsp")
	copy(header[68:], xyzValue(d50)[8:])
	return append(append(header, table...), data...)
}
