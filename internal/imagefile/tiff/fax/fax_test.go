package fax

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/ccitt"
	"pgregory.net/rapid"
)

// Bits writes bits, the highest first.
type Bits struct {
	Packed []byte
	n      int
}

// Put writes zeros and ones.
func (w *Bits) Put(code string) {
	for _, bit := range code {
		if w.n%8 == 0 {
			w.Packed = append(w.Packed, 0)
		}
		w.Packed[w.n/8] |= byte(bit-'0') << (7 - w.n%8)
		w.n++
	}
}

// align writes zeros up to a multiple of n bits, less some.
func (w *Bits) align(n, less int) {
	for (w.n+less)%n != 0 {
		w.Put("0")
	}
}

func (w *Bits) run(colour, pixels int) {
	codes := [2][]string{white, black}[colour]
	for ; pixels >= 2560; pixels -= 2560 {
		w.Put(long[12])
	}
	if pixels >= 1792 {
		w.Put(long[(pixels-1792)/64])
	} else if pixels >= 64 {
		w.Put(codes[63+pixels/64])
	}
	w.Put(codes[pixels%64])
}

// runs writes a row by its runs.
func (w *Bits) runs(row []byte) {
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
func (w *Bits) differences(above, row []byte) {
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
			w.Put("0001")
			a0 = b2
		case near:
			w.Put(code)
			a0, colour = a1, colour^1
		default:
			a2 := len(row)
			if a1 < len(row) {
				a2 = end(row, a1)
			}
			w.Put("001")
			w.run(int(colour), a1-max(a0, 0))
			w.run(int(colour^1), a2-a1)
			a0 = a2
		}
	}
}

const faxEndOfLine = "000000000001"

// EncodeRows writes rows of pixels, 0 or 1, in a form. With fill, lines end on a byte.
func EncodeRows(rows [][]byte, form Form, fill bool) []byte {
	w := &Bits{}
	above := make([]byte, len(rows[0]))
	for y, row := range rows {
		switch form {
		case Bytes:
			w.align(8, 0)
			w.runs(row)
		case Words:
			w.align(16, 0)
			w.runs(row)
		case Group4:
			w.differences(above, row)
		default:
			if fill {
				w.align(8, 12)
			}
			w.Put(faxEndOfLine)
			switch {
			case form == Group3:
				w.runs(row)
			case y%4 == 0:
				w.Put("1")
				w.runs(row)
			default:
				w.Put("0")
				w.differences(above, row)
			}
		}
		above = row
	}
	return w.Packed
}

// DrawRows draws rows that differ by little from those above.
func DrawRows(rng *rand.Rand, width, height int) [][]byte {
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
		w := &Bits{}
		for _, v := range row {
			w.Put(string('0' + rune(v)))
		}
		b = append(b, w.Packed...)
	}
	return b
}

func TestFaxRowsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		width := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 9000)).Draw(t, "width")
		rows := DrawRows(rng, width, rapid.IntRange(1, 12).Draw(t, "height"))
		form := Form(rapid.IntRange(int(Bytes), int(Group4)).Draw(t, "form"))
		packed := EncodeRows(rows, form, rapid.Bool().Draw(t, "fill"))
		want := packFax(rows)
		got := make([]byte, len(want))
		_, err := io.ReadFull(NewReader(bytes.NewReader(packed), form, width), got)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if form == Group4 { // x/image/ccitt reads it too.
			other := make([]byte, len(want))
			// Its 1 is white.
			r := ccitt.NewReader(bytes.NewReader(packed), ccitt.MSB, ccitt.Group4, width, len(rows), &ccitt.Options{Invert: true})
			_, err := io.ReadFull(r, other)
			require.NoError(t, err)
			require.Equal(t, want, other)
		}
		// A file that is cut off is an error.
		_, err = io.ReadFull(NewReader(bytes.NewReader(packed[:len(packed)-1]), form, width), got)
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
			packed := EncodeRows(rows, Group3, false)
			got := make([]byte, (len(row)+7)/8)
			r := ccitt.NewReader(bytes.NewReader(packed), ccitt.MSB, ccitt.Group3, len(row), 1, &ccitt.Options{Invert: true})
			_, err := io.ReadFull(r, got)
			require.NoError(t, err, pixels)
			require.Equal(t, packFax(rows), got, pixels)
		}
	}
}
