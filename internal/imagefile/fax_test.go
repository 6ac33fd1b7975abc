package imagefile

import (
	"bytes"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/ccitt"
	"pgregory.net/rapid"
)

// faxBits writes bits, the highest first.
type faxBits struct {
	packed []byte
	n      int
}

func (w *faxBits) put(code string) {
	for _, bit := range code {
		if w.n%8 == 0 {
			w.packed = append(w.packed, 0)
		}
		w.packed[w.n/8] |= byte(bit-'0') << (7 - w.n%8)
		w.n++
	}
}

// align writes zeros up to a multiple of n bits, less some.
func (w *faxBits) align(n, less int) {
	for (w.n+less)%n != 0 {
		w.put("0")
	}
}

func (w *faxBits) run(colour, pixels int) {
	codes := [2][]string{whiteFaxCodes, blackFaxCodes}[colour]
	for ; pixels >= 2560; pixels -= 2560 {
		w.put(longFaxCodes[12])
	}
	if pixels >= 1792 {
		w.put(longFaxCodes[(pixels-1792)/64])
	} else if pixels >= 64 {
		w.put(codes[63+pixels/64])
	}
	w.put(codes[pixels%64])
}

// runs writes a row by its runs.
func (w *faxBits) runs(row []byte) {
	colour := 0
	for x := 0; x < len(row); colour ^= 1 {
		to := x
		for to < len(row) && int(row[to]) == colour {
			to++
		}
		w.run(colour, to-x)
		x = to
	}
}

// differences writes a row by how it differs from the row above, as figure 7 of T.4
// says.
func (w *faxBits) differences(above, row []byte) {
	change := func(line []byte, from int, colour byte) int {
		for x := max(from, 0); x < len(line); x++ {
			before := byte(0)
			if x > 0 {
				before = line[x-1]
			}
			if line[x] != before && line[x] != colour && x > from {
				return x
			}
		}
		return len(line)
	}
	end := func(line []byte, from int) int {
		for x := from + 1; x < len(line); x++ {
			if line[x] != line[from] {
				return x
			}
		}
		return len(line)
	}
	colour := byte(0)
	for a0 := -1; a0 < len(row); {
		a1 := max(a0, 0)
		for a1 < len(row) && row[a1] == colour {
			a1++
		}
		b1 := change(above, a0, colour)
		b2 := len(row)
		if b1 < len(row) {
			b2 = end(above, b1)
		}
		vertical := map[int]string{0: "1", 1: "011", 2: "000011", 3: "0000011", -1: "010", -2: "000010", -3: "0000010"}
		switch code, near := vertical[a1-b1]; {
		case b2 < a1:
			w.put("0001")
			a0 = b2
		case near:
			w.put(code)
			a0, colour = a1, colour^1
		default:
			a2 := len(row)
			if a1 < len(row) {
				a2 = end(row, a1)
			}
			w.put("001")
			w.run(int(colour), a1-max(a0, 0))
			w.run(int(colour^1), a2-a1)
			a0 = a2
		}
	}
}

const faxEndOfLine = "000000000001"

// encodeFax writes rows of pixels, 0 or 1, in a form. With fill, lines end on a byte.
func encodeFax(rows [][]byte, form faxForm, fill bool) []byte {
	w := &faxBits{}
	above := make([]byte, len(rows[0]))
	for y, row := range rows {
		switch form {
		case faxBytes:
			w.align(8, 0)
			w.runs(row)
		case faxWords:
			w.align(16, 0)
			w.runs(row)
		case faxGroup4:
			w.differences(above, row)
		default:
			if fill {
				w.align(8, 12)
			}
			w.put(faxEndOfLine)
			switch {
			case form == faxGroup3:
				w.runs(row)
			case y%4 == 0:
				w.put("1")
				w.runs(row)
			default:
				w.put("0")
				w.differences(above, row)
			}
		}
		above = row
	}
	return w.packed
}

func drawFax(rng *rand.Rand, width, height int) [][]byte {
	rows := make([][]byte, height)
	for y := range rows {
		rows[y] = make([]byte, width)
		if y > 0 && rng.IntN(3) > 0 {
			copy(rows[y], rows[y-1]) // so that much differs by little
		}
		for range rng.IntN(4) {
			from := rng.IntN(width)
			for x := from; x < min(width, from+1+rng.IntN(1+width/2)); x++ {
				rows[y][x] ^= 1
			}
		}
	}
	return rows
}

func packFax(rows [][]byte) []byte {
	var b []byte
	for _, row := range rows {
		w := &faxBits{}
		for _, v := range row {
			w.put(string('0' + rune(v)))
		}
		b = append(b, w.packed...)
	}
	return b
}

func TestFaxRowsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		width := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 9000)).Draw(t, "width")
		rows := drawFax(rng, width, rapid.IntRange(1, 12).Draw(t, "height"))
		form := faxForm(rapid.IntRange(int(faxBytes), int(faxGroup4)).Draw(t, "form"))
		packed := encodeFax(rows, form, rapid.Bool().Draw(t, "fill"))
		want := packFax(rows)
		got := make([]byte, len(want))
		_, err := io.ReadFull(newFaxReader(bytes.NewReader(packed), form, width), got)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if form == faxGroup4 { // x/image/ccitt reads it too.
			other := make([]byte, len(want))
			// Its 1 is white.
			r := ccitt.NewReader(bytes.NewReader(packed), ccitt.MSB, ccitt.Group4, width, len(rows), &ccitt.Options{Invert: true})
			_, err := io.ReadFull(r, other)
			require.NoError(t, err)
			require.Equal(t, want, other)
		}
		// A file that is cut off is an error.
		_, err = io.ReadFull(newFaxReader(bytes.NewReader(packed[:len(packed)-1]), form, width), got)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

// TestFaxCodes compares all codes with those of x/image/ccitt.
func TestFaxCodes(t *testing.T) {
	for pixels := 1; pixels < 3000; pixels++ {
		if pixels > 64 && pixels%64 != 0 {
			continue // the code of a multiple of 64, and one that has been seen
		}
		for _, row := range [][]byte{
			append(bytes.Repeat([]byte{0}, pixels), 1),
			append(bytes.Repeat([]byte{1}, pixels), 0),
		} {
			rows := [][]byte{row}
			packed := encodeFax(rows, faxGroup3, false)
			got := make([]byte, (len(row)+7)/8)
			r := ccitt.NewReader(bytes.NewReader(packed), ccitt.MSB, ccitt.Group3, len(row), 1, &ccitt.Options{Invert: true})
			_, err := io.ReadFull(r, got)
			require.NoError(t, err, pixels)
			require.Equal(t, packFax(rows), got, pixels)
		}
	}
}

// faxTIFF returns a TIFF of one strip, of one sample of one bit.
func faxTIFF(packed []byte, width, height int, compression, photometric, options uint32) []byte {
	return tiffOf(packed, map[uint16]uint32{
		tiffdir.TagImageWidth: uint32(width), tiffdir.TagImageLength: uint32(height), tiffdir.TagRowsPerStrip: uint32(height),
		tiffdir.TagBitsPerSample: 1, tiffdir.TagCompression: compression, tiffdir.TagPhotometric: photometric, tagT4Options: options,
	})
}

func TestFaxIsWhiteAsTheFileSays(t *testing.T) {
	rows := drawFax(rand.New(rand.NewPCG(1, 2)), 100, 30)
	for _, c := range []struct {
		form                 faxForm
		fill                 bool
		compression, options uint32
	}{
		{faxBytes, false, compressionHuffman, 0},
		{faxWords, false, compressionHuffmanWords, 0},
		{faxGroup3, false, compressionGroup3, 0},
		{faxGroup3, true, compressionGroup3, 4},
		{faxMixed, false, compressionGroup3, 1},
		{faxMixed, true, compressionGroup3, 5},
		{faxGroup4, false, compressionGroup4, 0},
	} {
		packed := encodeFax(rows, c.form, c.fill)
		for photometric := range uint32(2) {
			m := decode(t, faxTIFF(packed, 100, 30, c.compression, photometric, c.options))
			for i, v := range m.Pix {
				bit := float32(rows[i/100][i%100])
				if photometric == photometricWhiteIsZero {
					bit = 1 - bit
				}
				require.Equal(t, bit, v, "%v at %d", c, i)
			}
		}
	}
}

// TestFaxFilesOfReports: one picture as libtiff wrote it, mean 0.939 of white in
// libtiff's reading.
func TestFaxFilesOfReports(t *testing.T) {
	white := decode(t, testFile(t, "fax_white_is_zero.tif"))
	for _, name := range []string{"fax_black_is_zero.tif", "fax_g3_fillbits.tif"} {
		m, err := Read(t.Context(), filepath.Join("testdata", name), ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, white.Pix, m.Pix, name)
	}
	sum := 0.0
	for _, v := range white.Pix {
		sum += float64(v)
	}
	require.InDelta(t, 0.939, sum/float64(len(white.Pix)), 0.001)
}

func TestBrokenFaxIsNamed(t *testing.T) {
	for want, code := range map[string]string{
		"no run has the code":   "0000000010101010101010101010",
		"beyond the end":        "10010" + "00110101" + strings.Repeat("1", 40),
		"uncompressed rows":     "0000001111000000000000000000",
		"no difference has the": "00000000111111111111111111",
	} {
		w := &faxBits{}
		form := compressionHuffman
		if strings.Contains(want, "rows") || strings.Contains(want, "difference") {
			form = compressionGroup4
		}
		w.put(code)
		_, err := Decode(t.Context(), bytes.NewReader(faxTIFF(w.packed, 100, 1, uint32(form), 0, 0)), ReadOptions{})
		require.ErrorContains(t, err, want)
		require.LessOrEqual(t, strings.Count(err.Error(), "malformed"), 1, err)
	}
}
