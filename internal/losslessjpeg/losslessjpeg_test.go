package losslessjpeg

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawFrame draws a frame and samples: smooth ones, noise, and ones at the ends of the range.
func drawFrame(t *rapid.T) (Frame, []uint16) {
	f := Frame{
		Width:      rapid.IntRange(1, 9).Draw(t, "width"),
		Height:     rapid.IntRange(1, 7).Draw(t, "height"),
		Components: rapid.IntRange(1, 4).Draw(t, "components"),
		Precision:  rapid.IntRange(2, 16).Draw(t, "precision"),
		Predictor:  rapid.IntRange(1, 7).Draw(t, "predictor"),
	}
	top := 1<<f.Precision - 1
	spread := rapid.IntRange(0, top).Draw(t, "spread")
	base := rapid.IntRange(0, top-spread).Draw(t, "base")
	samples := make([]uint16, f.samples())
	for i := range samples {
		samples[i] = uint16(base + rapid.IntRange(0, spread).Draw(t, "sample"))
	}
	return f, samples
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, samples := drawFrame(t)
		data, err := Encode(f, samples)
		require.NoError(t, err)
		g, decoded, err := Decode(data, len(samples))
		require.NoError(t, err)
		require.Equal(t, f, g)
		require.Equal(t, samples, decoded)
		_, _, err = Decode(data, len(samples)-1)
		require.ErrorIs(t, err, ErrMalformed)
		_, _, err = Decode(data[:len(data)-3], len(samples))
		require.ErrorIs(t, err, ErrMalformed, "a byte of the scan is missing")
	})
}

// The predictors are those of table H.1, and the first row and column are predicted as H.1.2.1
// says: worked out by hand for 2×2 pixels of 8 bits.
func TestPredictors(t *testing.T) {
	c, b, a, x := 200, 100, 53, 60
	for predictor, want := range map[int]int{
		1: a, 2: b, 3: c, 4: a + b - c, 5: a - 50, 6: b - 74, 7: 76,
	} {
		f := Frame{Width: 2, Height: 2, Components: 1, Precision: 8, Predictor: predictor}
		differences := make([]int16, 2)
		samples := []uint16{uint16(c), uint16(b), uint16(a), uint16(x)}
		f.predictRow(samples, 0, differences)
		require.Equal(t, []int16{int16(c - 128), int16(b - c)}, differences)
		f.predictRow(samples, 1, differences)
		require.Equal(t, []int16{int16(a - c), int16(x - want)}, differences, predictor)
	}
}

// stream writes a JPEG file by hand, with code words of five bits for all categories.
func stream(f Frame, restart, shift int, scan []byte) []byte {
	table := huffmanTable{}
	table.counts[5] = categories
	for s := range categories {
		table.symbols = append(table.symbols, byte(s))
	}
	b := appendHeaders(nil, f)
	b = append(b, 0xFF, markerDRI, 0, 4)
	b = binary.BigEndian.AppendUint16(b, uint16(restart))
	for c := range f.Components {
		b = table.append(b, c)
	}
	b = appendScanHeader(b, f)
	b[len(b)-1] = byte(shift)
	return append(append(b, scan...), 0xFF, markerEOI)
}

// scanOf codes differences as stream expects them.
func scanOf(differences ...int16) []byte {
	var w bitWriter
	for _, v := range differences {
		k := category(v)
		w.put(code{uint32(k), 5})
		if k > 0 && k < 16 {
			extra := int(v)
			if extra < 0 {
				extra += 1<<k - 1
			}
			w.put(code{uint32(extra), uint(k)})
		}
	}
	return w.end()
}

// After a restart the first row is predicted like the first of all.
func TestRestart(t *testing.T) {
	f := Frame{Width: 2, Height: 3, Components: 1, Precision: 8, Predictor: 2}
	scan := scanOf(1, 2)
	scan = append(append(scan, 0xFF, markerRST0), scanOf(3, 4)...)
	scan = append(append(scan, 0xFF, markerRST0+1), scanOf(-5, -6)...)
	_, samples, err := Decode(stream(f, 2, 0, scan), 6)
	require.NoError(t, err)
	require.Equal(t, []uint16{129, 131, 131, 135, 123, 117}, samples)

	for name, data := range map[string][]byte{
		"inside a row":    stream(f, 1, 0, scan),
		"no marker":       stream(f, 2, 0, scanOf(1, 2, 3, 4, -5, -6)),
		"the wrong one":   stream(f, 2, 0, bytes.Replace(scan, []byte{0xFF, markerRST0 + 1}, []byte{0xFF, markerRST0 + 2}, 1)),
		"another segment": stream(f, 2, 0, bytes.Replace(scan, []byte{0xFF, markerRST0}, []byte{0xFF, markerDHT}, 1)),
	} {
		_, _, err := Decode(data, 6)
		require.ErrorIs(t, err, ErrMalformed, name)
	}
}

// Sums wrap around at 2¹⁶, a difference of 32768 has no bits of its own, and a point transform
// shifts the results.
func TestArithmetic(t *testing.T) {
	f := Frame{Width: 4, Height: 1, Components: 1, Precision: 16, Predictor: 1}
	_, samples, err := Decode(stream(f, 0, 0, scanOf(-32768, -1, 1, -32768)), 4)
	require.NoError(t, err)
	require.Equal(t, []uint16{0, 65535, 0, 32768}, samples)

	f.Precision = 12
	_, samples, err = Decode(stream(f, 0, 3, scanOf(0, 1, 2, 3)), 4)
	require.NoError(t, err)
	require.Equal(t, []uint16{256 << 3, 257 << 3, 259 << 3, 262 << 3}, samples)
}

// No code word is all ones or longer than 16 bits, and those of frequent symbols are not longer.
func TestHuffmanTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var frequency [categories]int
		fibonacci := rapid.Bool().Draw(t, "fibonacci") // of which the longest codes follow
		a, b := 1, 1
		used := false
		for s := range frequency {
			if fibonacci {
				frequency[s], a, b = a, b, a+b
			} else {
				frequency[s] = rapid.SampledFrom([]int{0, 1, 2, 1000, math.MaxInt >> 23}).Draw(t, "frequency")
			}
			used = used || frequency[s] > 0
		}
		if !used {
			frequency[3] = 1
		}
		table := newHuffmanTable(&frequency)
		_, err := table.lookup()
		require.NoError(t, err)
		codes := table.codes()
		for s, c := range codes {
			require.Equal(t, frequency[s] > 0, c.length > 0)
			require.LessOrEqual(t, c.length, uint(longest))
			if c.length == 0 {
				continue
			}
			require.NotEqual(t, uint32(1)<<c.length-1, c.word)
			for r, other := range codes {
				if frequency[r] > frequency[s] {
					require.LessOrEqual(t, other.length, c.length)
				}
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	f := Frame{Width: 2, Height: 2, Components: 1, Precision: 8, Predictor: 1}
	good := stream(f, 0, 0, scanOf(1, 2, 3, 4))
	change := func(marker byte, offset int, value byte) []byte {
		data := bytes.Clone(good)
		at := bytes.Index(data, []byte{0xFF, marker})
		require.GreaterOrEqual(t, at, 0)
		data[at+offset] = value
		return data
	}
	for _, c := range []struct {
		name string
		data []byte
		err  error
		text string
	}{
		{"empty", nil, ErrMalformed, "does not begin"},
		{"baseline", change(markerSOF3, 1, 0xC0), ErrLossy, "lossy"},
		{"progressive", change(markerSOF3, 1, 0xC2), ErrLossy, "lossy"},
		{"arithmetic", change(markerSOF3, 1, 0xCB), ErrUnsupported, "frame type 11"},
		{"no rows", change(markerSOF3, 6, 0), ErrMalformed, "2×0 pixels"},
		{"17 bits", change(markerSOF3, 4, 17), ErrMalformed, "17 bits"},
		{"predictor 0", change(markerSOS, 7, 0), ErrMalformed, "predictor 0"},
		{"predictor 8", change(markerSOS, 7, 8), ErrMalformed, "predictor 8"},
		{"table 1", change(markerSOS, 6, 0x10), ErrMalformed, "without a Huffman table"},
		{"component 9", change(markerSOS, 5, 9), ErrMalformed, "not those of the frame"},
		{"no table", change(markerDHT, 1, 0xE0), ErrMalformed, "without a Huffman table"},
		{"category 17", change(markerDHT, 5+longest, 17), ErrMalformed, "17 bits"},
		{"too many codes", change(markerDHT, 5, 3), ErrMalformed, "Huffman table"},
		{"cut off", good[:len(good)-5], ErrMalformed, "ends early"},
	} {
		_, _, err := Decode(c.data, 1<<20)
		require.ErrorIs(t, err, c.err, c.name)
		require.ErrorContains(t, err, c.text, c.name)
	}
	f.Width = 65535
	_, _, err := Decode(stream(f, 0, 0, nil), 1<<30)
	require.ErrorIs(t, err, ErrMalformed, "131070 samples in fewer bits")

	_, err = Encode(Frame{Width: 1, Height: 1, Components: 5, Precision: 8, Predictor: 1}, make([]uint16, 5))
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = Encode(Frame{Width: 1, Height: 1, Components: 1, Precision: 8, Predictor: 1}, []uint16{256})
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = Encode(Frame{Width: 1, Height: 1, Components: 1, Precision: 8, Predictor: 1}, []uint16{1, 2})
	require.ErrorIs(t, err, ErrUnsupported)
}

// What is decoded comes back the same after it is coded again.
func FuzzDecode(f *testing.F) {
	frame := Frame{Width: 2, Height: 3, Components: 1, Precision: 8, Predictor: 2}
	f.Add(stream(frame, 0, 0, scanOf(1, 2, 3, 4, -5, -6)))
	f.Add(stream(frame, 2, 1, append(append(scanOf(1, 2), 0xFF, markerRST0), scanOf(3, 4)...)))
	for predictor := 1; predictor <= 7; predictor++ {
		frame = Frame{Width: 3, Height: 2, Components: predictor%4 + 1, Precision: 2 * predictor, Predictor: predictor}
		samples := make([]uint16, frame.samples())
		for i := range samples {
			samples[i] = uint16(i*i) & (1<<frame.Precision - 1)
		}
		data, err := Encode(frame, samples)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, samples, err := Decode(data, 1<<20)
		if err != nil {
			require.Nil(t, samples)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.LessOrEqual(t, len(samples), 8*len(data))
		frame.Precision = 16 // Sums may have left the range that the file states.
		again, err := Encode(frame, samples)
		require.NoError(t, err)
		_, decoded, err := Decode(again, len(samples))
		require.NoError(t, err)
		require.Equal(t, samples, decoded)
	})
}
