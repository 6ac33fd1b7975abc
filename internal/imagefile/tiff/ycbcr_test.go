package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/chroma"
	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// TestJPEGInTIFF reads what is not compared with libtiff sample by sample.
func TestJPEGInTIFF(t *testing.T) {
	want, err := png.Decode(source.File(context.Background(), bytes.NewReader(imagetest.File(t, "rgb8.png")), math.MaxInt32, 0))
	require.NoError(t, err)
	for file, least := range map[string]float64{
		"jpeg.tif": 30, "jpegcmyk.tif": 36,
		// Chroma is interpolated across the borders of tiles. libtiff does not, and has 20.5 dB.
		"jpegycctiles.tif": 21.5,
	} {
		m := decode(t, imagetest.File(t, file))
		require.Equal(t, [4]int{23, 17, 3, 8}, [4]int{m.Width, m.Height, m.Channels, m.Depth}, file)
		require.Greater(t, imagetest.PSNR(want.Pix, m.Pix), least, file)
	}
	// Grey, of which the last strip ends where the image does.
	grey, _, err := jpeg.Decode(source.File(context.Background(), bytes.NewReader(imagetest.File(t, "gray.jpg")), math.MaxInt32, 0), false)
	require.NoError(t, err)
	m := decode(t, imagetest.TIFF(imagetest.File(t, "gray.jpg"), map[uint16]uint32{
		tiffdir.TagCompression: compressionJPEG, tiffdir.TagImageWidth: 23, tiffdir.TagImageLength: 17, tiffdir.TagRowsPerStrip: 17, tiffdir.TagPhotometric: photometricWhiteIsZero,
	}))
	for i, v := range m.Pix {
		require.InDelta(t, 1-grey.Pix[i], v, 1e-6)
	}
}

// packUnits writes luma and chroma as TIFF does, in strips of some rows, and returns where each begins.
func packUnits(s *image.YCbCr, share chromaShare, rows int) (raw []byte, offsets []uint32) {
	w, h := s.Rect.Dx(), s.Rect.Dy()
	for top := 0; top < h; top += rows {
		offsets = append(offsets, uint32(len(raw)))
		for y := top; y < min(top+rows, h); y += share.y {
			for x := 0; x < w; x += share.x {
				for i := range share.y {
					for k := range share.x {
						raw = append(raw, s.YCbCrAt(min(x+k, w-1), min(y+i, h-1)).Y)
					}
				}
				c := s.YCbCrAt(x, y)
				raw = append(raw, c.Cb, c.Cr)
			}
		}
	}
	return raw, offsets
}

// ycbcrTIFF is a file of them.
func ycbcrTIFF(s *image.YCbCr, share chromaShare, rows int) []byte {
	raw, offsets := packUnits(s, share, rows)
	order := binary.LittleEndian
	tags := tiffdir.Builder{Order: order}
	counts := make([]uint32, len(offsets))
	for i := range offsets {
		end := uint32(len(raw))
		if i+1 < len(offsets) {
			end = offsets[i+1]
		}
		counts[i] = end - offsets[i]
		offsets[i] += 8
	}
	tags.Longs(tiffdir.TagImageWidth, uint32(s.Rect.Dx()))
	tags.Longs(tiffdir.TagImageLength, uint32(s.Rect.Dy()))
	tags.Shorts(tiffdir.TagBitsPerSample, 8, 8, 8)
	tags.Shorts(tiffdir.TagPhotometric, photometricYCbCr)
	tags.Shorts(tiffdir.TagSamplesPerPixel, 3)
	tags.Longs(tiffdir.TagStripOffsets, offsets...)
	tags.Longs(tiffdir.TagStripByteCounts, counts...)
	tags.Longs(tiffdir.TagRowsPerStrip, uint32(rows))
	tags.Shorts(tagYCbCrSubsampling, share.x, share.y)
	head := []byte("II*\x00\x00\x00\x00\x00")
	order.PutUint32(head[4:], uint32(8+len(raw)))
	return append(append(head, raw...), tiffdir.AppendDirectory(nil, uint32(8+len(raw)), order, tags.Nodes)...)
}

// TestLumaAndChromaInTIFF reads every ratio of chroma in strips of any number of rows, and sees what
// image.YCbCr sees, with chroma interpolated.
func TestLumaAndChromaInTIFF(t *testing.T) {
	for share, ratio := range ratios {
		for _, size := range [][2]int{{1, 1}, {7, 5}, {16, 16}, {23, 17}} {
			s := image.NewYCbCr(image.Rect(0, 0, size[0], size[1]), ratio)
			for i := range s.Y {
				s.Y[i] = byte(40 + i*7%150)
			}
			for i := range s.Cb {
				s.Cb[i], s.Cr[i] = byte(100+i*11%60), byte(90+i*13%70)
			}
			want := picture.New(size[0], size[1], 3, 8, false)
			want.FillSmooth(s, chroma.JFIFToRGB)
			for _, rows := range []int{1, 3, 4, 8, 100} {
				m := decode(t, ycbcrTIFF(s, share, min(rows, size[1])))
				require.Equal(t, 3, m.Channels)
				if rows%share.y == 0 || rows >= size[1] {
					require.InDeltaSlice(t, want.Pix, m.Pix, 1.01/255, fmt.Sprint(share, size, rows))
				}
			}
		}
	}
}

// TestChromaOfSixteenPixels has one sample for 4×4 pixels, which image.YCbCr cannot say.
func TestChromaOfSixteenPixels(t *testing.T) {
	s := image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio444)
	for i := range s.Y {
		s.Y[i] = 128
		s.Cb[i], s.Cr[i] = byte(100+10*(i%8/4)), byte(120+20*(i/32))
	}
	m := decode(t, ycbcrTIFF(s, chromaShare{4, 4}, 8))
	want := picture.New(8, 8, 3, 8, false)
	want.FillSmooth(s, chroma.JFIFToRGB)
	require.InDeltaSlice(t, want.Pix, m.Pix, 1.01/255)
}

// TestWeightsAndReferencesOfLuma gives black and white of video and weights of BT.709.
func TestWeightsAndReferencesOfLuma(t *testing.T) {
	s := image.NewYCbCr(image.Rect(0, 0, 2, 1), image.YCbCrSubsampleRatio444)
	copy(s.Y, []byte{16, 235})
	for i := range s.Cb {
		s.Cb[i], s.Cr[i] = 128, 128
	}
	file := ycbcrTIFF(s, chromaShare{1, 1}, 1)
	tree, first, err := tiffdir.Open(tiffdir.Memory(file))
	require.NoError(t, err)
	fields, _, err := tree.Directory(first)
	require.NoError(t, err)
	budget := int64(1000)
	nodes := tree.Collect(fields, func(uint16) bool { return true }, 1, &budget)
	fractions := func(tag uint16, v ...uint32) {
		n := tiffdir.Node{Tag: tag, Kind: tiffdir.Rational, Count: uint32(len(v))}
		for _, x := range v {
			n.Value = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(n.Value, x), 10000)
		}
		nodes = append(nodes, n)
	}
	fractions(tagYCbCrCoefficients, 2126, 7152, 722)
	fractions(tagReferenceBlackWhite, 160000, 2350000, 1280000, 2400000, 1280000, 2400000)
	file = append(file[:first:first], tiffdir.AppendDirectory(nil, uint32(first), binary.LittleEndian, nodes)...)
	require.Equal(t, []float32{0, 1, 0, 1, 0, 1}, decode(t, file).Pix)
}
