package imagefile

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// patched returns a copy of data with some bytes replaced.
func patched(data []byte, at int, b ...byte) []byte {
	c := bytes.Clone(data)
	copy(c[at:], b)
	return c
}

// bomb is more zeros than metadata may have, packed.
var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := io.CopyN(z, zeros{}, metadata.MaxSize+1)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
})

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func brokenFiles(t testing.TB) []struct {
	name string
	data []byte
	want error
	text string
} {
	file := func(name string) []byte { return imagetest.File(t, name) }
	small := encode(t, imagetest.Random(4, 4, 1, 8, false), WriteOptions{Format: PNG})
	profile := append([]byte("p\x00\x00"), bomb()...)
	webp := file("rgba8.webp")
	return []struct {
		name string
		data []byte
		want error
		text string
	}{
		{"empty", nil, ErrMalformed, "empty"},
		{"one byte", []byte("P"), ErrUnknownFormat, "not of a known kind (PNG, JPEG"},
		{"text", []byte("hello, this is text"), ErrUnknownFormat, "not of a known kind (PNG, JPEG"},
		{"zeros", make([]byte, 1000), ErrUnknownFormat, "not of a known kind (PNG, JPEG"},
		{"Radiance", []byte("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n"), ErrUnknownFormat, "a Radiance HDR image"},
		{"DPX", []byte("SDPX\x00\x00\x08\x00V1.0"), ErrUnknownFormat, "a DPX image"},
		{"ICO", []byte("\x00\x00\x01\x00\x01\x00\x10\x10"), ErrUnknownFormat, "an icon (ICO)"},
		{"GIF: header only", []byte("GIF89a\x01\x00\x01\x00"), ErrMalformed, "ends early"},
		{"GIF: half", file("pal.gif")[:900], ErrMalformed, "ends early"},
		{"GIF: no picture", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), ErrMalformed, "missing image data"},
		{"GIF: huge", patched(file("pal.gif"), 6, 0xff, 0xff, 0xff, 0xff), ErrTooManyPixels, "65535×65535"},
		{"GIF: no pixel", patched(file("pal.gif"), 6, 0), ErrMalformed, "0×17"},
		{"GIF: beyond the screen", patched(file("pal.gif"), 6, 22), ErrMalformed, "bounds"},
		{"PDF", []byte("%PDF-1.7"), ErrUnknownFormat, "a PDF"},
		{"HEIF", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), ErrUnknownFormat, "HEIF"},
		{"AVIF", []byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00"), ErrUnknownFormat, "AVIF"},
		{"CR3", []byte("\x00\x00\x00\x18ftypcrx \x00\x00\x00\x01"), ErrUnknownFormat, "camera's maker"},
		{"RAF", []byte("FUJIFILMCCD-RAW 0201"), ErrUnknownFormat, "camera's maker"},
		{"CRW", []byte("II\x1a\x00\x00\x00HEAPCCDR\x02\x00"), ErrUnknownFormat, "camera's maker"},
		{"CR2", join([]byte("II*\x00\x10\x00\x00\x00CR\x02\x00"), make([]byte, 30)), ErrUnsupported, "camera's maker"},
		{"IIQ", join([]byte("II*\x00\x10\x00\x00\x00IIIICwaR"), make([]byte, 30)), ErrUnsupported, "camera's maker"},
		{"web page", []byte("<!DOCTYPE html><html>"), ErrUnknownFormat, "web page"},
		{"PBM", []byte("P4\n1 1\n."), ErrUnknownFormat, "a Netpbm bitmap (PBM)"},
		{"PAM", []byte("P7\nWIDTH 1\n"), ErrUnknownFormat, "a Netpbm PAM"},

		{"PNG: signature only", []byte(png.Signature), ErrMalformed, "ends early"},
		{"PNG: no header", join([]byte(png.Signature), imagetest.Chunk("IDAT", nil)), ErrMalformed, "IHDR"},
		{"PNG: two headers", join(imagetest.PNGHeader(1, 1, 8, 0), imagetest.PNGHeader(9, 9, 8, 0)[8:]), ErrMalformed, "IHDR"},
		{"PNG: 0 wide", imagetest.PNGHeader(0, 5, 8, 0), ErrMalformed, "0×5"},
		{"PNG: negative", imagetest.PNGHeader(5, 1<<31, 8, 0), ErrMalformed, "5×-"},
		{"PNG: huge", imagetest.PNGHeader(1<<20, 1<<20, 8, 2), ErrTooManyPixels, fmt.Sprintf("limit of %d pixels", min(DefaultMaxPixels, source.Addressable))},
		{"PNG: chunk without a name", join(small[:33], make([]byte, 12), small[33:]), ErrMalformed, "four letters"},
		{"PNG: more data than pixels", join(small[:33], imagetest.Chunk("IDAT", make([]byte, 2<<20)), small[33:]), ErrMalformed, "more data"},
		{"PNG: bomb", join(imagetest.PNGHeader(10000, 10000, 8, 0), imagetest.Chunk("IDAT", make([]byte, 98000))), ErrTooManyPixels, "10000×10000"},
		{"PNG: claims more than it has", join(imagetest.PNGHeader(7000, 7000, 16, 6), imagetest.Chunk("IDAT", []byte("x"))), ErrMalformed, "ends early"},
		{"PNG: depth 3", join(imagetest.PNGHeader(1, 1, 3, 0), small[33:]), ErrMalformed, "bit depth 3"},
		{"PNG: colour type 5", join(imagetest.PNGHeader(1, 1, 8, 5), small[33:]), ErrMalformed, "color type 5"},
		{"PNG: checksum", patched(small, 30, 9), ErrMalformed, "checksum"},
		{"PNG: header only", small[:33], ErrMalformed, ""},
		{"PNG: profile bomb", join(small[:33], imagetest.Chunk("iCCP", profile), small[33:]), ErrMalformed, "colour profile in PNG is larger than 32 MB"},
		{"PNG: XMP bomb", join(small[:33], imagetest.Chunk("iTXt", append([]byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"), profile[3:]...)), small[33:]), ErrMalformed, "XMP in PNG"},
		{"PNG: chunk of 4 GB", join(small[:33], []byte("\xff\xff\xff\xffeXIf")), ErrUnsupported, "metadata in PNG"},
		{"PNG: chunk beyond the end", join(small[:33], []byte("\x00\x00\xff\xffeXIf")), ErrMalformed, "ends early"},

		{"JPEG: start only", []byte("\xff\xd8\xff"), ErrMalformed, "ends early"},
		{"JPEG: no scan", []byte("\xff\xd8\xff\xd9"), ErrMalformed, ""},
		{"JPEG: half", file("prog.jpg")[:300], ErrMalformed, "ends early"},
		{"JPEG: 12 bits", bytes.Replace(file("gray.jpg"), []byte("\xff\xc0\x00\x0b\x08"), []byte("\xff\xc0\x00\x0b\x0c"), 1), ErrUnsupported, "JPEG with more than 8 bits"},
		{"JPEG: 0 high", bytes.Replace(file("gray.jpg"), []byte("\xff\xc0\x00\x0b\x08\x00\x11"), []byte("\xff\xc0\x00\x0b\x08\x00\x00"), 1), ErrMalformed, "23×0"},
		{"JPEG: arithmetic", bytes.Replace(file("gray.jpg"), []byte("\xff\xc0"), []byte("\xff\xc9"), 1), ErrUnsupported, "JPEG with lossless, arithmetic or another unusual coding (save it"},

		{"TIFF: header only", []byte("II*\x00\x08\x00\x00\x00"), ErrMalformed, "truncated"},
		{"TIFF: short header", []byte("MM\x00*"), ErrMalformed, "shorter than its header"},
		{"TIFF: no fields", []byte("II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ErrMalformed, "0×0"},
		{"TIFF: huge", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagImageWidth: 1 << 31, tiffdir.TagImageLength: 1 << 31}), ErrTooManyPixels, "limit"},
		{"TIFF: claims more than it has", imagetest.TIFF(make([]byte, 8), map[uint16]uint32{tiffdir.TagImageWidth: 7000, tiffdir.TagImageLength: 7000, tiffdir.TagRowsPerStrip: 7000}), ErrMalformed, "ends early"},
		{"TIFF: short strip", imagetest.TIFF(make([]byte, 8), nil), ErrMalformed, "ends early"},
		{"TIFF: strip outside", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagStripOffsets: 1 << 30}), ErrMalformed, "ends early"},
		{"TIFF: strips of 0 rows", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagRowsPerStrip: 0}), ErrMalformed, "0 rows"},
		{"TIFF: tiles of 0", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagTileWidth: 0, tiffdir.TagTileLength: 16}), ErrMalformed, "tiles of 0×16"},
		{"TIFF: tiles of 4 G", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagTileWidth: 1<<32 - 1, tiffdir.TagTileLength: 16}), ErrMalformed, "tiles of"},
		{"TIFF: many strips", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagRowsPerStrip: 1}), ErrMalformed, "4 strips"},
		{"TIFF: 24 bits", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagBitsPerSample: 24}), ErrUnsupported, "24 bits"},
		{"TIFF: 9 samples", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagSamplesPerPixel: 9}), ErrUnsupported, "9 samples"},
		{"TIFF: Lab of floats", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagPhotometric: 8, tiffdir.TagSampleFormat: 3, tiffdir.TagBitsPerSample: 32}), ErrUnsupported, "CIELab of 32 bits"},
		{"TIFF: SGI luma", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagPhotometric: 32844, tiffdir.TagSampleFormat: 2}), ErrUnsupported, "(LogL) (save it as RGB)"},
		{"TIFF: old JPEG of nothing", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagCompression: 6}), ErrMalformed, "ends early"},
		{"TIFF: not JPEG", imagetest.TIFF(make([]byte, 16), map[uint16]uint32{tiffdir.TagCompression: 7}), ErrMalformed, "a strip or tile is not JPEG"},
		{"TIFF: JPEG of another size", imagetest.TIFF(file("gray.jpg"), map[uint16]uint32{tiffdir.TagCompression: 7, tiffdir.TagImageWidth: 24, tiffdir.TagImageLength: 17, tiffdir.TagRowsPerStrip: 17}), ErrMalformed, "JPEG of 23×17 in a strip or tile of 24×17"},
		{"TIFF: JPEG of other components", imagetest.TIFF(file("s420.jpg"), map[uint16]uint32{tiffdir.TagCompression: 7, tiffdir.TagImageWidth: 23, tiffdir.TagImageLength: 17, tiffdir.TagRowsPerStrip: 17}), ErrMalformed, "3 components where there are 1 samples"},
		{"TIFF: JPEG cut off", imagetest.TIFF(file("gray.jpg")[:300], map[uint16]uint32{tiffdir.TagCompression: 7, tiffdir.TagImageWidth: 23, tiffdir.TagImageLength: 17, tiffdir.TagRowsPerStrip: 17}), ErrMalformed, "ends early"},
		{"JPEG: chroma of three rows", bytes.Replace(file("s420.jpg"), []byte("\x03\x01\x22\x00"), []byte("\x03\x01\x13\x00"), 1), ErrUnsupported, "an unusual resolution of its colours (save it"},
		{"TIFF: JPEG with arithmetic coding", imagetest.TIFF(bytes.Replace(file("gray.jpg"), []byte("\xff\xc0"), []byte("\xff\xc9"), 1), map[uint16]uint32{tiffdir.TagCompression: 7, tiffdir.TagImageWidth: 23, tiffdir.TagImageLength: 17, tiffdir.TagRowsPerStrip: 17}), ErrUnsupported, "lossless, arithmetic"},
		{"TIFF: luma of 16 bits", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagPhotometric: 6, tiffdir.TagSamplesPerPixel: 3, tiffdir.TagBitsPerSample: 16}), ErrUnsupported, "luma and chroma as 3 samples of 16 bits"},
		{"TIFF: luma cut off", imagetest.TIFF(make([]byte, 23), map[uint16]uint32{tiffdir.TagPhotometric: 6, tiffdir.TagSamplesPerPixel: 3}), ErrMalformed, "ends early"},
		{"TIFF: BigTIFF of small offsets", []byte("II+\x00\x04\x00\x00\x00\x00\x00\x00\x00"), ErrMalformed, "eight bytes of BigTIFF"},
		{"TIFF: BigTIFF cut off", []byte("II+\x00\x08\x00\x00\x00"), ErrMalformed, "shorter than its header"},
		{"TIFF: BigTIFF with a far directory", []byte("MM\x00+\x00\x08\x00\x00\xff\xff\xff\xff\xff\xff\xff\xf0"), ErrMalformed, "points outside the data"},
		{"TIFF: zstd", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagCompression: 50000}), ErrUnsupported, "Zstandard"},
		{"TIFF: signed with alpha", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagSampleFormat: 2, tiffdir.TagSamplesPerPixel: 2}), ErrUnsupported, "signed integers or CIELab, and a sample for alpha"},
		{"TIFF: signed palette", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagSampleFormat: 2, tiffdir.TagPhotometric: 3}), ErrUnsupported, "signed integers in colour model 3"},
		{"TIFF: signed of 32 bits", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagSampleFormat: 2, tiffdir.TagBitsPerSample: 32}), ErrUnsupported, "signed integers of 32 bits"},
		{"TIFF: no palette", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagPhotometric: 3}), ErrMalformed, "colour map"},
		{"TIFF: predictor", imagetest.TIFF(nil, map[uint16]uint32{tiffdir.TagPredictor: 3}), ErrUnsupported, "predictor 3"},
		{"TIFF: not zlib", imagetest.TIFF(make([]byte, 16), map[uint16]uint32{tiffdir.TagCompression: 8}), ErrMalformed, "zlib"},
		{"TIFF: fax of 8 bits", imagetest.TIFF(make([]byte, 16), map[uint16]uint32{tiffdir.TagCompression: 4}), ErrMalformed, "fax"},
		{"TIFF: not a number", imagetest.TIFF(bytes.Repeat([]byte("\x00\x00\xc0\x7f"), 16), map[uint16]uint32{tiffdir.TagBitsPerSample: 32, tiffdir.TagSampleFormat: 3}), ErrNotFinite, "row 0, column 0, channel 0 is NaN"},

		{"BMP: header only", file("rgb8.bmp")[:14], ErrMalformed, "ends early"},
		{"BMP: half", file("rgb8.bmp")[:700], ErrMalformed, "ends early"},
		{"BMP: huge", patched(file("rgb8.bmp"), 18, 0, 0, 0, 0x70, 0, 0, 0, 0x70), ErrTooManyPixels, "limit"},
		{"BMP: negative width", patched(file("rgb8.bmp"), 18, 0xff, 0xff, 0xff, 0xff), ErrMalformed, "-1×17"},
		{"BMP: claims more than it has", patched(file("rgb8.bmp"), 18, 0, 0x18, 0, 0, 0, 0x18, 0, 0), ErrMalformed, "ends early"},
		{"BMP: lowest height", patched(file("rgb8.bmp"), 22, 0, 0, 0, 0x80), ErrTooManyPixels, ""},
		{"BMP: 5 bits", patched(file("rgb8.bmp"), 28, 5), ErrUnsupported, "5 bits"},
		{"BMP: JPEG inside", patched(file("rgb8.bmp"), 30, 4), ErrUnsupported, "compression 4"},
		{"BMP: header of 7 bytes", patched(file("rgb8.bmp"), 14, 7), ErrUnsupported, "7 bytes"},
		{"BMP: mask with a hole", patched(file("rgba8.bmp"), 54, 5), ErrMalformed, "mask"},
		{"BMP: runs cut off", file("rle8.bmp")[:1500], ErrMalformed, "ends early"},

		{"WebP: header only", webp[:12], ErrMalformed, ""},
		{"WebP: half", webp[:len(webp)/2], ErrMalformed, ""},
		{"WebP: animation", []byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ErrUnsupported, "animation (still images are read; save one of its pictures as PNG)"},
		{"WebP: huge", []byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x7f\x00\xff\x7f\x00"), ErrTooManyPixels, "32768×32768"},

		{"PGM: no size", []byte("P5\n"), ErrMalformed, "PGM header has no width"},
		{"PPM: no maximum", []byte("P6 1 1 "), ErrMalformed, "PPM header has no largest value"},
		{"PGM: words", []byte("P2\nwide high\n1\n"), ErrMalformed, `"wide" for the width`},
		{"PGM: negative", []byte("P5\n-3 3\n1\n"), ErrMalformed, "-3×3"},
		{"PGM: 0 high", []byte("P5\n3 0\n1\n"), ErrMalformed, "3×0"},
		{"PGM: maximum 0", []byte("P5\n1 1\n0\n1"), ErrMalformed, "0 for the largest value"},
		{"PPM: maximum 65536", []byte("P6\n1 1\n65536\n1"), ErrMalformed, "not 1 to 65535"},
		{"PPM: cut off", []byte("P6\n2 2\n256\n1234"), ErrMalformed, "needs 24 bytes of samples and has 4"},
		{"PGM: text cut off", []byte("P2\n2 2\n9\n1 2 3"), ErrMalformed, "needs 7 bytes"},
		{"PGM: text with long numbers cut off", []byte("P2\n2 2\n999\n111 222 333"), ErrMalformed, "ends early"},
		{"PGM: no number", []byte("P2\n1 1\n9\n x "), ErrMalformed, `a sample is "x"`},
		{"PGM: text above the maximum", []byte("P2\n1 1\n9\n10 "), ErrMalformed, "a sample is 10, above the largest value, 9"},
		{"PGM: above the maximum", []byte("P5\n1 1\n9\n\x0a"), ErrMalformed, "a sample is 10, above the largest value, 9"},
		{"PGM: huge", []byte("P5\n2000000000 2000000000\n255\n"), ErrTooManyPixels, "limit"},
		{"PPM: endless word", append([]byte("P6\n"), bytes.Repeat([]byte("1"), 1000)...), ErrMalformed, "no width"},
		{"PPM: endless comment", append([]byte("P6#"), bytes.Repeat([]byte("1"), 1000)...), ErrMalformed, "no width"},

		{"PFM: no size", []byte("PF\n"), ErrMalformed, "no width"},
		{"PFM: words", []byte("PF\nwide high\n-1\n"), ErrMalformed, `"wide"`},
		{"PFM: mark", []byte("PF3\n1 1\n-1\n"), ErrUnknownFormat, ""},
		{"PFM: negative", []byte("PF\n-3 3\n-1\n"), ErrMalformed, "-3×3"},
		{"PFM: scale 0", []byte("Pf\n1 1\n0\n1234"), ErrMalformed, "scale"},
		{"PFM: scale not a number", []byte("Pf\n1 1\nNaN\n1234"), ErrMalformed, "scale"},
		{"PFM: cut off", []byte("PF\n2 2\n-1.0\n1234"), ErrMalformed, "needs 48 bytes of samples and has 4"},
		{"PFM: huge", []byte("PF\n2000000000 2000000000\n-1.0\n"), ErrTooManyPixels, "limit"},
		{"PFM: beyond numbers", []byte("PF\n99999999999999999999 1\n-1.0\n"), ErrMalformed, "width"},
		{"PFM: endless word", append([]byte("PF\n"), bytes.Repeat([]byte("1"), 1000)...), ErrMalformed, "no width"},
		{"PFM: not a number", []byte("Pf\n1 1\n-1\n\x00\x00\xc0\x7f"), ErrNotFinite, "NaN"},
		{"PFM: infinite", []byte("Pf\n1 1\n1\n\x7f\x80\x00\x00"), ErrNotFinite, "+Inf"},
	}
}

func TestBrokenFilesGiveOneLine(t *testing.T) {
	for _, c := range brokenFiles(t) {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(t.Context(), bytes.NewReader(c.data), ReadOptions{})
			require.Nil(t, m)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "goroutine")
		})
	}
}

// Files are cut at even lengths, and odd bytes and those of headers are changed in
// two ways: the result is an image or an error, and an image is a sound one.
func TestTruncationsAndChangedBytes(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	for _, name := range []string{"g2.png", "palt.png", "gray.jpg", "cmyk.jpg", "rgb8p.tif", "g1.tif", "pal16.bmp", "lossya.webp", "rgba8.webp", "palt.gif"} {
		data := imagetest.File(t, name)
		for i := range data {
			variants := [][]byte{data[:i]}
			if i%2 == 1 || i < 64 {
				variants = [][]byte{patched(data, i, data[i]^0xff), patched(data, i, data[i]+1)}
			}
			for _, d := range variants {
				m, err := DecodeAt(context.Background(), bytes.NewReader(d), int64(len(d)), ReadOptions{MaxPixels: 4096})
				if err == nil {
					require.NoError(t, m.Validate(), "%s, byte %d", name, i)
				} else {
					require.NotContains(t, err.Error(), "decoder failed", "%s, byte %d", name, i)
				}
			}
		}
	}
}

func TestTrailingBytesAreIgnored(t *testing.T) {
	for _, name := range []string{"rgb8.png", "gray.jpg", "rgb8l.tif", "rgb8.bmp", "rle8.bmp", "rgba8.webp", "lossy.webp", "pal.gif", "g16.pfm"} {
		data := imagetest.File(t, name)
		require.Equal(t, decode(t, data).Pix, decode(t, append(bytes.Clone(data), "garbage\xff\xd8"...)).Pix, name)
	}
}

func TestPixelLimit(t *testing.T) {
	for _, name := range []string{"rgb8.png", "gray.jpg", "rgb8l.tif", "rgb8.bmp", "rgba8.webp", "pal.gif", "g16.pfm"} {
		data := imagetest.File(t, name)
		_, err := Decode(t.Context(), bytes.NewReader(data), ReadOptions{MaxPixels: 23*17 - 1})
		require.ErrorIs(t, err, ErrTooManyPixels, name)
		require.ErrorContains(t, err, "23×17, which is more than the limit of 390 pixels")
		for _, limit := range []int64{23 * 17, -1} {
			_, err = Decode(t.Context(), bytes.NewReader(data), ReadOptions{MaxPixels: limit})
			require.NoError(t, err, name)
		}
	}
}

func TestReadNamesTheFile(t *testing.T) {
	folder := t.TempDir()
	_, err := Read(t.Context(), folder, ReadOptions{})
	require.ErrorContains(t, err, folder)
	require.ErrorContains(t, err, "folder")
	missing := filepath.Join(folder, "missing.png")
	_, err = Read(t.Context(), missing, ReadOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, 1, strings.Count(err.Error(), missing), err)

	// The content counts, not the extension.
	wrong := filepath.Join(folder, "photo.jpg")
	require.NoError(t, os.WriteFile(wrong, imagetest.File(t, "rgb8.png"), 0o600))
	m, err := Read(t.Context(), wrong, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, PNG, m.Format)

	broken := filepath.Join(folder, "broken.png")
	require.NoError(t, os.WriteFile(broken, imagetest.File(t, "rgb8.png")[:500], 0o600))
	_, err = Read(t.Context(), broken, ReadOptions{})
	require.EqualError(t, err, fmt.Sprintf("%s: malformed image file: the PNG data ends early (a truncated file?)", broken))
}

// failingReader breaks off with an error of its own.
type failingReader struct{ data []byte }

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > int64(len(f.data)) {
		return 0, &os.PathError{Op: "read", Path: "disk", Err: os.ErrPermission}
	}
	return copy(p, f.data[off:]), nil
}

func TestErrorsOfTheReaderAreKept(t *testing.T) {
	for _, name := range []string{"rgb8.png", "gray.jpg", "rgb8l.tif", "rgb8.bmp", "pal.gif", "g16.pfm"} {
		data := imagetest.File(t, name)
		_, err := DecodeAt(context.Background(), failingReader{data[:len(data)-100]}, int64(len(data)), ReadOptions{})
		require.Error(t, err)
		require.ErrorIs(t, err, os.ErrPermission, name)
	}
}

func TestPanicsOfDecodersBecomeErrors(t *testing.T) {
	_, err := decodeFormat(PNG, source.File(context.Background(), nil, 100, 0), ReadOptions{}) // a nil reader panics
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorContains(t, err, "PNG decoder failed")
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{
		"a.png": PNG, "A.PNG": PNG, "b/c.jpeg": JPEG, "x.y.JpG": JPEG, "t.tif": TIFF, "t.tiff": TIFF, "b.bmp": BMP, "w.webp": WebP, "g.gif": GIF, "p.pfm": PFM,
		"p.pgm": PGM, "p.PPM": PPM, "p.pnm": PNM,
	} {
		got, err := FormatOf(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, want != WebP && want != GIF, want.CanWrite())
		require.Equal(t, want, extensions[want.Extension()])
		require.NotEqual(t, "unknown format", want.String())
	}
	for _, name := range []string{"", "a", "a.ico", "a.png.txt", "png"} {
		_, err := FormatOf(name)
		require.ErrorIs(t, err, ErrUnknownFormat)
		require.ErrorContains(t, err, ".png, .jpg, .tif, .bmp, .pfm, .pgm or .ppm")
	}
	require.False(t, Format(0).CanWrite())
	require.Empty(t, Format(99).Extension())
	require.Equal(t, "unknown format", Format(99).String())
}
