package dng

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/averaged/imaging/internal/losslessjpeg"
	"github.com/averaged/imaging/internal/tiffdir"
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
	const header = 8
	order := binary.LittleEndian
	model := append([]byte(m.Model), 0)
	t := tiffdir.Builder{Order: order}
	t.Longs(tagNewSubFileType, 0)
	t.Longs(tiffdir.TagImageWidth, uint32(m.Width))
	t.Longs(tiffdir.TagImageLength, uint32(m.Height))
	t.Shorts(tiffdir.TagBitsPerSample, 16)
	t.Shorts(tiffdir.TagCompression, compressionJPEG)
	t.Shorts(tiffdir.TagPhotometric, photometricCFA)
	t.Blob(tiffdir.TagMake, tiffdir.ASCII, model)
	t.Blob(tiffdir.TagModel, tiffdir.ASCII, model)
	t.Longs(tiffdir.TagStripOffsets, header)
	t.Shorts(tiffdir.TagOrientation, 1)
	t.Shorts(tiffdir.TagSamplesPerPixel, 1)
	t.Longs(tiffdir.TagRowsPerStrip, uint32(m.Height))
	t.Longs(tiffdir.TagStripByteCounts, uint32(len(data)))
	t.Shorts(tiffdir.TagPlanar, 1)
	t.Shorts(tagCFARepeatPatternDim, 2, 2)
	t.Blob(tagCFAPattern, tiffdir.Byte, []byte{byte(m.Pattern[0][0]), byte(m.Pattern[0][1]), byte(m.Pattern[1][0]), byte(m.Pattern[1][1])})
	t.Blob(tiffdir.TagDNGVersion, tiffdir.Byte, []byte{1, 4, 0, 0})
	t.Blob(tagDNGBackwardVersion, tiffdir.Byte, []byte{1, 1, 0, 0})
	t.Blob(tagUniqueCameraModel, tiffdir.ASCII, model)
	t.Shorts(tagBlackLevel, int(m.Black))
	t.Shorts(tagWhiteLevel, int(m.White))
	t.SRationals(tagColorMatrix1, m.Matrix[:]...)
	t.Rationals(tagAsShotNeutral, m.Neutral[:]...)
	t.SRationals(tagBaselineExposure, m.Exposure)
	const d65 = 21
	t.Shorts(tagCalibrationIlluminant1, d65)
	t.Doubles(tagNoiseProfile, m.Noise[:]...)
	out := append([]byte("II*\x00"), 0, 0, 0, 0)
	out = append(out, data...)
	out = append(out, make([]byte, len(out)%2)...)
	order.PutUint32(out[4:], uint32(len(out)))
	_, err = w.Write(tiffdir.AppendDirectory(out, 0, order, t.Nodes))
	return err
}
