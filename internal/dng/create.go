package dng

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/averaged/imaging/internal/losslessjpeg"
)

// Mosaic is what Create makes a file of.
type Mosaic struct {
	Width, Height int
	// Pix has Height rows of Width samples, from 0 to White.
	Pix     []uint16
	Pattern [2][2]Colour // [row][column]
	// Black and White are the samples of no light and of saturation.
	Black, White uint16
	// Neutral, Matrix and Exposure are those of Raw, and Noise is the variance for light x, Noise[0]·x + Noise[1].
	Neutral  [3]float64
	Matrix   [9]float64
	Exposure float64
	Noise    [2]float64
	Model    string // of the camera
}

// Create writes a DNG file, version 1.4: one strip of 16 bits in lossless JPEG. Its errors wrap imagefile.ErrInvalidImage, or
// are those of w.
func Create(w io.Writer, m Mosaic) error {
	if m.Width < 2 || m.Height < 1 || m.Width > math.MaxUint16 || m.Height > math.MaxUint16 || len(m.Pix) != m.Width*m.Height || m.White <= m.Black {
		return invalid("%d samples for %d×%d pixels, from %d to %d", len(m.Pix), m.Width, m.Height, m.Black, m.White)
	}
	frame := losslessjpeg.Frame{Width: m.Width, Height: m.Height, Components: 1, Precision: max(precision(m.Pix, 2), bits.Len16(m.White)), Predictor: 1}
	if m.Width%2 == 0 { // The two colours of a row are two components.
		frame.Width, frame.Components = m.Width/2, 2
	}
	data, err := losslessjpeg.Encode(frame, m.Pix)
	if err != nil {
		return jpegError(err)
	}
	order := binary.LittleEndian
	longs := func(v ...uint32) []byte {
		var b []byte
		for _, n := range v {
			b = order.AppendUint32(b, n)
		}
		return b
	}
	shorts := func(v ...uint16) []byte {
		var b []byte
		for _, n := range v {
			b = order.AppendUint16(b, n)
		}
		return b
	}
	fractions := func(v ...float64) []byte {
		const denominator = 1_000_000
		var b []byte
		for _, x := range v {
			b = append(b, longs(uint32(int32(math.Round(x*denominator))), denominator)...)
		}
		return b
	}
	doubles := func(v ...float64) []byte {
		var b []byte
		for _, x := range v {
			b = order.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	const ascii = 2
	colours := []byte{byte(m.Pattern[0][0]), byte(m.Pattern[0][1]), byte(m.Pattern[1][0]), byte(m.Pattern[1][1])}
	model := append([]byte(m.Model), 0)
	const header = 8
	fields := []struct {
		tag, kind uint16
		value     []byte
	}{ // in the order of their numbers
		{tagNewSubFileType, typeLong, longs(0)},
		{tagImageWidth, typeLong, longs(uint32(m.Width))},
		{tagImageLength, typeLong, longs(uint32(m.Height))},
		{tagBitsPerSample, typeShort, shorts(16)},
		{tagCompression, typeShort, shorts(compressionJPEG)},
		{tagPhotometric, typeShort, shorts(photometricCFA)},
		{271, ascii, model}, // Make
		{272, ascii, model}, // Model
		{tagStripOffsets, typeLong, longs(header)},
		{tagOrientation, typeShort, shorts(1)},
		{tagSamplesPerPixel, typeShort, shorts(1)},
		{tagRowsPerStrip, typeLong, longs(uint32(m.Height))},
		{tagStripByteCounts, typeLong, longs(uint32(len(data)))},
		{tagPlanar, typeShort, shorts(1)},
		{tagCFARepeatPatternDim, typeShort, shorts(2, 2)},
		{tagCFAPattern, typeByte, colours},
		{tagDNGVersion, typeByte, []byte{1, 4, 0, 0}},
		{50707, typeByte, []byte{1, 1, 0, 0}}, // DNGBackwardVersion
		{50708, ascii, model},                 // UniqueCameraModel
		{tagBlackLevel, typeShort, shorts(m.Black)},
		{tagWhiteLevel, typeShort, shorts(m.White)},
		{tagColorMatrix1, typeSRational, fractions(m.Matrix[:]...)},
		{tagAsShotNeutral, typeRational, fractions(m.Neutral[:]...)},
		{tagBaselineExposure, typeSRational, fractions(m.Exposure)},
		{50778, typeShort, shorts(21)}, // CalibrationIlluminant1: D65
		{tagNoiseProfile, typeDouble, doubles(m.Noise[:]...)},
	}
	out := bytes.NewBuffer(append([]byte("II*\x00"), 0, 0, 0, 0))
	out.Write(data)
	if out.Len()%2 == 1 {
		out.WriteByte(0)
	}
	at := out.Len()
	entries := shorts(uint16(len(fields)))
	var values []byte
	beyond := at + 2 + len(fields)*entrySize + 4
	for _, f := range fields {
		entries = append(entries, shorts(f.tag, f.kind)...)
		size := 1
		if int(f.kind) != ascii {
			size = int(typeSizes[f.kind])
		}
		entries = append(entries, longs(uint32(len(f.value)/size))...)
		if len(f.value) <= 4 {
			entries = append(entries, append(f.value, make([]byte, 4-len(f.value))...)...)
			continue
		}
		entries = append(entries, longs(uint32(beyond+len(values)))...)
		values = append(values, f.value...)
		if len(values)%2 == 1 {
			values = append(values, 0)
		}
	}
	out.Write(entries)
	out.Write(longs(0))
	out.Write(values)
	b := out.Bytes()
	order.PutUint32(b[4:], uint32(at))
	_, err = w.Write(b)
	return err
}
