// Package iccprofile makes colour profiles (ICC.1:2022, version 4.4) of primaries and a transfer curve, and tells what
// samples a profile is for. PNG says in numbers what most other formats can only say by a profile.
package iccprofile

import "math"

// Chromaticity is a colour without its brightness, in CIE 1931 x and y.
type Chromaticity struct{ X, Y float64 }

// Primaries are the colours of the three channels and of white.
type Primaries struct{ Red, Green, Blue, White Chromaticity }

var whiteD65 = Chromaticity{0.3127, 0.3290}

var sRGBPrimaries = Primaries{Chromaticity{0.64, 0.33}, Chromaticity{0.30, 0.60}, Chromaticity{0.15, 0.06}, whiteD65}

// Left out are primaries 10 (XYZ), curves 9 to 12 (logarithmic, and wider than 0 to 1) and 17, and what is unspecified.

// codedPrimaries are the colour primaries of ITU-T H.273, table 2, by their code points.
var codedPrimaries = map[byte]Primaries{
	1:  sRGBPrimaries, // BT.709
	4:  {Chromaticity{0.67, 0.33}, Chromaticity{0.21, 0.71}, Chromaticity{0.14, 0.08}, Chromaticity{0.310, 0.316}},
	5:  {Chromaticity{0.64, 0.33}, Chromaticity{0.29, 0.60}, Chromaticity{0.15, 0.06}, whiteD65}, // BT.601, 625 lines
	6:  {Chromaticity{0.630, 0.340}, Chromaticity{0.310, 0.595}, Chromaticity{0.155, 0.070}, whiteD65},
	7:  {Chromaticity{0.630, 0.340}, Chromaticity{0.310, 0.595}, Chromaticity{0.155, 0.070}, whiteD65},
	8:  {Chromaticity{0.681, 0.319}, Chromaticity{0.243, 0.692}, Chromaticity{0.145, 0.049}, Chromaticity{0.310, 0.316}},
	9:  {Chromaticity{0.708, 0.292}, Chromaticity{0.170, 0.797}, Chromaticity{0.131, 0.046}, whiteD65}, // BT.2020, BT.2100
	11: {Chromaticity{0.680, 0.320}, Chromaticity{0.265, 0.690}, Chromaticity{0.150, 0.060}, Chromaticity{0.314, 0.351}},
	12: {Chromaticity{0.680, 0.320}, Chromaticity{0.265, 0.690}, Chromaticity{0.150, 0.060}, whiteD65}, // Display P3
	22: {Chromaticity{0.630, 0.340}, Chromaticity{0.295, 0.605}, Chromaticity{0.155, 0.077}, whiteD65},
}

// Transfer is how the light of a channel, from 0 to 1, follows from a sample v: a·v+b to the power of g where v is at
// least d, else c·v; or sampled, if that is not nil.
type Transfer struct {
	g, a, b, c, d float64
	sampled       func(v float64) float64
}

// Gamma is the curve v to the power of g.
func Gamma(g float64) Transfer { return Transfer{g: g, a: 1} }

var sRGBTransfer = Transfer{g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045}

// television is the inverse of BT.709's curve, with the constants of H.273.
var television = Transfer{g: 1 / 0.45, a: 1 / 1.099296826809442, b: 0.099296826809442 / 1.099296826809442, c: 1 / 4.5, d: 4.5 * 0.018053968510807}

// codedTransfers are the transfer characteristics of ITU-T H.273, table 3, by their code points.
var codedTransfers = map[byte]Transfer{
	1: television, 6: television, 14: television, 15: television,
	4: Gamma(2.2), 5: Gamma(2.8),
	7:  {g: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 1 / 4.0, d: 4 * 0.0228}, // SMPTE ST 240
	8:  Gamma(1),
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

// ColourSpace is what the samples of an image mean.
type ColourSpace struct {
	Primaries
	Transfer
	code []byte // of ITU-T H.273, or nil
}

// SRGB is what programs take for granted.
var SRGB = ColourSpace{Primaries: sRGBPrimaries, Transfer: sRGBTransfer}

// Coded returns the colour space of code points as PNG's cICP has them: primaries, transfer, matrix and range. known is
// false for those that no profile of this package can say.
func Coded(code []byte) (s ColourSpace, known bool) {
	if len(code) != 4 {
		return s, false
	}
	p, okPrimaries := codedPrimaries[code[0]]
	t, okTransfer := codedTransfers[code[1]]
	const fullRange = 1
	return ColourSpace{p, t, code}, okPrimaries && okTransfer && code[2] == 0 && code[3] == fullRange
}

// HighRange tells whether the samples are of a high dynamic range, which is dark where programs do not know of it.
func (s ColourSpace) HighRange() bool { return s.sampled != nil }

// LikeSRGB tells whether the colour space is sRGB, or cannot be told from it.
func (s ColourSpace) LikeSRGB() bool {
	near := func(a, b Chromaticity) bool { return math.Abs(a.X-b.X) < 0.002 && math.Abs(a.Y-b.Y) < 0.002 }
	p, q := s.Primaries, sRGBPrimaries
	return near(p.Red, q.Red) && near(p.Green, q.Green) && near(p.Blue, q.Blue) && near(p.White, q.White) &&
		s.sampled == nil && (s.g == sRGBTransfer.g && s.c == sRGBTransfer.c || s.a == 1 && math.Abs(s.g-2.2) < 0.02)
}
