package imagefile

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// What PNG says in numbers about the meaning of its samples, most other formats can only say by a
// colour profile: here is one made of the numbers (ICC.1:2022, version 4.4).

// chromaticity is a colour without its brightness, in CIE 1931 x and y.
type chromaticity struct{ x, y float64 }

// primaries are the colours of the three channels and of white.
type primaries struct{ red, green, blue, white chromaticity }

var whiteD65 = chromaticity{0.3127, 0.3290}

var sRGBPrimaries = primaries{chromaticity{0.64, 0.33}, chromaticity{0.30, 0.60}, chromaticity{0.15, 0.06}, whiteD65}

// Left out are primaries 10 (XYZ), curves 9 to 12 (logarithmic, and wider than 0 to 1) and 17, and what is unspecified.

// codedPrimaries are the colour primaries of ITU-T H.273, table 2, by their code points.
var codedPrimaries = map[byte]primaries{
	1:  sRGBPrimaries, // BT.709
	4:  {chromaticity{0.67, 0.33}, chromaticity{0.21, 0.71}, chromaticity{0.14, 0.08}, chromaticity{0.310, 0.316}},
	5:  {chromaticity{0.64, 0.33}, chromaticity{0.29, 0.60}, chromaticity{0.15, 0.06}, whiteD65}, // BT.601, 625 lines
	6:  {chromaticity{0.630, 0.340}, chromaticity{0.310, 0.595}, chromaticity{0.155, 0.070}, whiteD65},
	7:  {chromaticity{0.630, 0.340}, chromaticity{0.310, 0.595}, chromaticity{0.155, 0.070}, whiteD65},
	8:  {chromaticity{0.681, 0.319}, chromaticity{0.243, 0.692}, chromaticity{0.145, 0.049}, chromaticity{0.310, 0.316}},
	9:  {chromaticity{0.708, 0.292}, chromaticity{0.170, 0.797}, chromaticity{0.131, 0.046}, whiteD65}, // BT.2020, BT.2100
	11: {chromaticity{0.680, 0.320}, chromaticity{0.265, 0.690}, chromaticity{0.150, 0.060}, chromaticity{0.314, 0.351}},
	12: {chromaticity{0.680, 0.320}, chromaticity{0.265, 0.690}, chromaticity{0.150, 0.060}, whiteD65}, // Display P3
	22: {chromaticity{0.630, 0.340}, chromaticity{0.295, 0.605}, chromaticity{0.155, 0.077}, whiteD65},
}

// transfer is how the light of a channel, from 0 to 1, follows from a sample v: a·v+b to the power of g where v is at
// least d, else c·v; or sampled, if that is not nil.
type transfer struct {
	g, a, b, c, d float64
	sampled       func(v float64) float64
}

func gamma(g float64) transfer { return transfer{g: g, a: 1} }

var sRGBTransfer = transfer{g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045}

// television is the inverse of BT.709's curve, with the constants of H.273.
var television = transfer{g: 1 / 0.45, a: 1 / 1.099296826809442, b: 0.099296826809442 / 1.099296826809442, c: 1 / 4.5, d: 4.5 * 0.018053968510807}

// codedTransfers are the transfer characteristics of ITU-T H.273, table 3, by their code points.
var codedTransfers = map[byte]transfer{
	1: television, 6: television, 14: television, 15: television,
	4: gamma(2.2), 5: gamma(2.8),
	7:  {g: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 1 / 4.0, d: 4 * 0.0228}, // SMPTE ST 240
	8:  gamma(1),
	13: sRGBTransfer,
	16: {sampled: perceptualQuantiser},
	18: {sampled: hybridLogGamma},
}

// perceptualQuantiser is the curve of SMPTE ST 2084 (PQ), with 10000 cd/m² as 1.
func perceptualQuantiser(v float64) float64 {
	const m1, m2 = 2610.0 / 16384, 2523.0 / 4096 * 128
	const c1, c2, c3 = 3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32
	e := math.Pow(v, 1/m2)
	return math.Pow(max(e-c1, 0)/(c2-c3*e), 1/m1)
}

// hybridLogGamma is the light of the scene by BT.2100's curve of that name (HLG).
func hybridLogGamma(v float64) float64 {
	const a, b, c = 0.17883277, 0.28466892, 0.55991073
	if v <= 0.5 {
		return v * v / 3
	}
	return (math.Exp((v-c)/a) + b) / 12
}

// meaning is what the samples of an image mean.
type meaning struct {
	primaries
	transfer
	code []byte // cICP, or nil
	name string
}

// highRange tells whether the samples are of a high dynamic range, which is dark where programs do not know of it.
func (m meaning) highRange() bool { return m.sampled != nil }

// usual tells whether that is what programs take for granted: sRGB, or what is not to be told from it.
func (m meaning) usual() bool {
	near := func(a, b chromaticity) bool { return math.Abs(a.x-b.x) < 0.002 && math.Abs(a.y-b.y) < 0.002 }
	p, s := m.primaries, sRGBPrimaries
	return near(p.red, s.red) && near(p.green, s.green) && near(p.blue, s.blue) && near(p.white, s.white) &&
		m.sampled == nil && (m.g == sRGBTransfer.g && m.c == sRGBTransfer.c || m.a == 1 && math.Abs(m.g-2.2) < 0.02)
}

// pngMeaning returns what PNG's chunks say the samples mean, in the order of the specification (third edition, section
// 4.3): cICP, sRGB, gAMA and cHRM. known is false if they say what is not known here.
func (d *Metadata) pngMeaning() (m meaning, known bool) {
	m.name = "PNG's code points (cICP)"
	if code, ok := d.block(PNG, "cICP"); ok {
		if len(code) != 4 {
			return m, false
		}
		p, okPrimaries := codedPrimaries[code[0]]
		t, okTransfer := codedTransfers[code[1]]
		const fullRange = 1
		return meaning{p, t, code, m.name}, okPrimaries && okTransfer && code[2] == 0 && code[3] == fullRange
	}
	m = meaning{sRGBPrimaries, sRGBTransfer, nil, "PNG's gamma and chromaticities"}
	if _, ok := d.block(PNG, "sRGB"); ok {
		return m, true
	}
	const unit = 100000
	if b, ok := d.block(PNG, "gAMA"); ok {
		if len(b) != 4 || binary.BigEndian.Uint32(b) == 0 {
			return m, false
		}
		m.transfer = gamma(unit / float64(binary.BigEndian.Uint32(b)))
	}
	if b, ok := d.block(PNG, "cHRM"); ok {
		if len(b) != 32 {
			return m, false
		}
		at := func(i int) chromaticity {
			return chromaticity{float64(binary.BigEndian.Uint32(b[8*i:])) / unit, float64(binary.BigEndian.Uint32(b[8*i+4:])) / unit}
		}
		m.primaries = primaries{red: at(1), green: at(2), blue: at(3), white: at(0)}
	}
	return m, m.g >= 0.1 && m.g <= 10
}

// title is the name of the profile.
func (m meaning) title() string {
	if m.code != nil {
		return fmt.Sprintf("ITU-T H.273 primaries %d, transfer %d", m.code[0], m.code[1])
	}
	return fmt.Sprintf("Gamma %.4g, from PNG", m.g)
}

// profile returns a colour profile that says the same of an image with so many channels, or false if none can: if the
// primaries are none.
func (m meaning) profile(channels int) ([]byte, bool) {
	toXYZ, ok := m.matrix()
	if !ok {
		return nil, false
	}
	adapt := adaptation(m.white)
	p := iccWriter{}
	p.tag("desc", iccText(m.title()))
	p.tag("cprt", iccText("No copyright"))
	p.tag("wtpt", iccXYZ(d50))
	p.tag("chad", iccMatrix(adapt))
	curve := m.curve()
	space := "RGB "
	if channels == 1 {
		space = "GRAY"
		p.tag("kTRC", curve)
	} else {
		colorants := adapt.times(toXYZ)
		for i, name := range []string{"rXYZ", "gXYZ", "bXYZ"} {
			p.tag(name, iccXYZ([3]float64{colorants[0][i], colorants[1][i], colorants[2][i]}))
		}
		for _, name := range []string{"rTRC", "gTRC", "bTRC"} {
			p.tag(name, curve)
		}
		if m.code != nil {
			p.tag("cicp", append([]byte("cicp\x00\x00\x00\x00"), m.code...))
		}
	}
	return p.bytes(space), true
}

// d50 is the white of profiles (ICC.1, section 7.2.16), in XYZ.
var d50 = [3]float64{0.9642, 1, 0.8249}

type matrix3 [3][3]float64

func (a matrix3) times(b matrix3) (c matrix3) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func (a matrix3) of(v [3]float64) (w [3]float64) {
	for i := range 3 {
		for k := range 3 {
			w[i] += a[i][k] * v[k]
		}
	}
	return w
}

// inverse is false for a matrix that is singular, or nearly.
func (a matrix3) inverse() (inv matrix3, ok bool) {
	minor := func(i, j int) float64 {
		r, s, u, v := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return a[r][u]*a[s][v] - a[r][v]*a[s][u]
	}
	determinant := a[0][0]*minor(0, 0) + a[0][1]*minor(0, 1) + a[0][2]*minor(0, 2)
	if !(math.Abs(determinant) > 1e-6) {
		return inv, false
	}
	for i := range 3 {
		for j := range 3 {
			inv[j][i] = minor(i, j) / determinant
		}
	}
	return inv, true
}

// xyz is the colour with a brightness of 1.
func (c chromaticity) xyz() [3]float64 { return [3]float64{c.x / c.y, 1, (1 - c.x - c.y) / c.y} }

// matrix returns the map from linear RGB to XYZ in which (1,1,1) is white.
func (p primaries) matrix() (m matrix3, ok bool) {
	for i, c := range []chromaticity{p.red, p.green, p.blue, p.white} {
		if !(c.y > 0.001 && c.y <= 1 && c.x >= 0 && c.x <= 1) {
			return m, false
		}
		if v := c.xyz(); i < 3 {
			m[0][i], m[1][i], m[2][i] = v[0], v[1], v[2]
		}
	}
	inverse, ok := m.inverse()
	if !ok {
		return m, false
	}
	scale := inverse.of(p.white.xyz())
	for i := range 3 {
		for j := range 3 {
			m[i][j] *= scale[j]
		}
	}
	return m, true
}

// adaptation is the linear Bradford transform from a white to that of profiles (ICC.1, annex E).
func adaptation(white chromaticity) matrix3 {
	bradford := matrix3{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}
	back, _ := bradford.inverse() // it has one
	from, to := bradford.of(white.xyz()), bradford.of(d50)
	var gain matrix3
	for i := range 3 {
		gain[i][i] = to[i] / from[i]
	}
	return back.times(gain).times(bradford)
}

// curve is a curve of a profile: parametric (ICC.1, section 10.18) or sampled (10.6).
func (t transfer) curve() []byte {
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

func iccXYZ(v [3]float64) []byte {
	b := []byte("XYZ \x00\x00\x00\x00")
	for _, x := range v {
		b = appendFixed(b, x)
	}
	return b
}

func iccMatrix(m matrix3) []byte {
	b := []byte("sf32\x00\x00\x00\x00")
	for _, row := range m {
		for _, v := range row {
			b = appendFixed(b, v)
		}
	}
	return b
}

// iccText is a text in English, in UTF-16.
func iccText(s string) []byte {
	text := utf16.Encode([]rune(s))
	const records, recordSize, offset = 1, 12, 28
	b := []byte("mluc\x00\x00\x00\x00")
	for _, v := range []uint32{records, recordSize} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = append(b, "enUS"...)
	b = binary.BigEndian.AppendUint32(b, uint32(2*len(text)))
	b = binary.BigEndian.AppendUint32(b, offset)
	for _, u := range text {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

// iccWriter collects the tags of a profile. Equal neighbours share their data.
type iccWriter struct {
	names []string
	data  [][]byte
}

func (p *iccWriter) tag(name string, data []byte) {
	p.names, p.data = append(p.names, name), append(p.data, data)
}

// bytes returns the profile: a header of 128 bytes (ICC.1, section 7.2), the table of tags, and their data, each at a
// multiple of four.
func (p *iccWriter) bytes(space string) []byte {
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
	copy(header[68:], iccXYZ(d50)[8:])
	return append(append(header, table...), data...)
}
