package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/samples"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/stretchr/testify/require"
)

// Every fuzz test starts from the files in testdata, from what the writers here
// make, and from the table of broken files.

func addSeeds(f *testing.F, format Format) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	require.NoError(f, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		if s := sniff(data); s != 0 && (format == 0 || s == format) {
			f.Add(data)
		}
	}
	for _, c := range brokenFiles(f) {
		if (format == 0 || strings.HasPrefix(c.name, format.String())) && len(c.data) < 10000 {
			f.Add(c.data)
		}
	}
	if format == 0 || format.CanWrite() && format != PGM {
		m := imagetest.Smooth(9, 5, 3)
		m.Metadata = metadata.Metadata{
			ICC:        imagetest.Profile("RGB ", 200),
			EXIF:       imagetest.EXIF(binary.BigEndian, 6, 9, 5),
			XMP:        []byte(imagetest.XMP),
			Resolution: metadata.Resolution{X: 72, Y: 72, Unit: metadata.Inch},
		}
		for w := PNG; w <= PPM; w++ {
			if w.CanWrite() && w != PGM && (format == 0 || w == format) {
				f.Add(encode(f, m, WriteOptions{Format: w}))
			}
		}
	}
}

// checkDecode decodes. What comes out must be sound, and must survive a lossless
// format unchanged.
func checkDecode(t *testing.T, data []byte) {
	m, err := DecodeAt(context.Background(), bytes.NewReader(data), int64(len(data)), ReadOptions{MaxPixels: 1 << 16})
	if err != nil {
		require.Nil(t, m)
		require.NotContains(t, err.Error(), "\n")
		// Guarded against, but to be known: other packages' panics are their bugs.
		if strings.Contains(err.Error(), "decoder failed") && !bytes.HasPrefix(data, []byte("RIFF")) && !bytes.HasPrefix(data, []byte("\xff\xd8")) {
			t.Fatal(err)
		}
		return
	}
	require.NoError(t, m.Validate())
	require.NoError(t, m.CheckFinite())
	format := PNG
	if m.Depth == 32 {
		format = TIFF
	}
	again := decode(t, encode(t, m, WriteOptions{Format: format}))
	require.Equal(t, [3]int{m.Width, m.Height, m.Channels}, [3]int{again.Width, again.Height, again.Channels})
	require.Equal(t, m.Depth, again.Depth)
	limit := float32(int(1)<<min(m.Depth, 16) - 1)
	for i, v := range m.Pix {
		switch {
		case m.Depth == 32 && v != again.Pix[i]:
			t.Fatalf("sample %d was %v and is %v", i, v, again.Pix[i])
		case m.Depth < 32 && samples.Quantise(v, limit) != samples.Quantise(again.Pix[i], limit):
			t.Fatalf("sample %d was %v and is %v", i, v, again.Pix[i])
		}
	}
}

func FuzzDecode(f *testing.F) {
	addSeeds(f, 0)
	f.Fuzz(checkDecode)
}

func FuzzPNG(f *testing.F) {
	addSeeds(f, PNG)
	f.Add(imagetest.MalformedPNG())
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums would keep nearly all changes from being read.
		checkDecode(t, repaired(data))
	})
}

// repaired returns a PNG with right checksums.
func repaired(data []byte) []byte {
	if len(data) < len(png.Signature) {
		return data
	}
	out := bytes.Clone(data[:len(png.Signature)])
	rest := data[len(png.Signature):]
	for len(rest) >= 12 {
		n := int64(binary.BigEndian.Uint32(rest))
		if n > int64(len(rest))-12 {
			break
		}
		out = append(out, imagetest.Chunk(string(rest[4:8]), rest[8:8+n])...)
		rest = rest[12+n:]
	}
	return append(out, rest...)
}

func FuzzJPEG(f *testing.F) {
	addSeeds(f, JPEG)
	f.Add(imagetest.WithoutCodes(imagetest.GoJPEG(f, imagetest.Smooth(9, 5, 3), 80)))
	f.Fuzz(checkDecode)
}

func FuzzTIFF(f *testing.F) {
	addSeeds(f, TIFF)
	for _, bits := range []int{8, 16} {
		f.Add(imagetest.LabTIFF(9, bits))
		f.Add(imagetest.LabTIFF(8, bits))
		signed, _ := imagetest.SignedTIFF(bits)
		f.Add(signed)
	}
	f.Add(imagetest.FiveSamplesTIFF())
	floats, _ := imagetest.DifferencesTIFF(64)
	f.Add(floats)
	_, old := imagetest.OldJPEGInTIFF(f)
	for _, file := range old {
		f.Add(file)
	}
	f.Fuzz(checkDecode)
}

func FuzzGIF(f *testing.F) {
	addSeeds(f, GIF)
	f.Add(imagetest.AnimatedGIF(f))
	f.Add(imagetest.DescribedGIF(f, imagetest.Profile("RGB ", 200)))
	f.Fuzz(checkDecode)
}

func FuzzBMP(f *testing.F)  { addSeeds(f, BMP); f.Fuzz(checkDecode) }
func FuzzWebP(f *testing.F) { addSeeds(f, WebP); f.Fuzz(checkDecode) }
func FuzzPFM(f *testing.F)  { addSeeds(f, PFM); f.Fuzz(checkDecode) }

func FuzzNetpbm(f *testing.F) {
	for _, data := range imagetest.NetpbmFiles {
		f.Add([]byte(data))
	}
	addSeeds(f, PGM)
	addSeeds(f, PPM)
	f.Fuzz(checkDecode)
}

func FuzzEXIF(f *testing.F) {
	f.Add(imagetest.EXIF(binary.LittleEndian, 6, 9, 5))
	f.Add(imagetest.EXIF(binary.BigEndian, 3, 9, 5))
	f.Add([]byte("II*\x00\x08\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m := imagetest.Smooth(3, 2, 1)
		m.Metadata.EXIF = data
		m.Orient(false, false)
		require.Equal(t, before, data, "the source's bytes are not changed")
		require.NoError(t, m.Validate())
		if m.Metadata.EXIF == nil {
			return
		}
		require.Zero(t, openEXIF(t, m.Metadata.EXIF).next)
		require.NoError(t, Encode(t.Context(), &bytes.Buffer{}, m, WriteOptions{Format: TIFF}))
	})
}
