package losslessjpeg

import "encoding/binary"

// Encode returns samples, in the order of Decode, as a JPEG file. There must be as many as the
// frame has, none of them above what its precision allows.
func Encode(f Frame, samples []uint16) ([]byte, error) {
	const side = 1<<16 - 1
	if f.Width < 1 || f.Width > side || f.Height < 1 || f.Height > side || f.Components < 1 || f.Components > 4 ||
		f.Precision < 2 || f.Precision > 16 || f.Predictor < 1 || f.Predictor > 7 {
		return nil, unsupported("%d×%d pixels of %d samples of %d bits with predictor %d", f.Width, f.Height, f.Components, f.Precision, f.Predictor)
	}
	if f.samples() != int64(len(samples)) {
		return nil, unsupported("%d samples for %d×%d pixels of %d", len(samples), f.Width, f.Height, f.Components)
	}
	for _, v := range samples {
		if int(v) >= 1<<f.Precision {
			return nil, unsupported("sample %d in %d bits", v, f.Precision)
		}
	}
	n := f.Components
	differences := make([]int16, f.Width*n)
	frequency := make([][categories]int, n)
	for y := range f.Height {
		f.predictRow(samples, y, differences)
		for i, v := range differences {
			frequency[i%n][category(v)]++
		}
	}
	b := appendHeaders(nil, f)
	codes := make([][categories]code, n)
	for c := range n {
		t := newHuffmanTable(&frequency[c])
		codes[c] = t.codes()
		b = t.append(b, c)
	}
	b = appendScanHeader(b, f)
	w := bitWriter{data: b}
	for y := range f.Height {
		f.predictRow(samples, y, differences)
		for i, v := range differences {
			k := category(v)
			w.put(codes[i%n][k])
			if k > 0 && k < 16 {
				extra := int(v)
				if extra < 0 {
					extra += 1<<k - 1
				}
				w.put(code{uint32(extra), uint(k)})
			}
		}
	}
	return append(w.end(), 0xFF, markerEOI), nil
}

// predictRow writes what row y differs from its prediction by, modulo 2¹⁶.
func (f Frame) predictRow(samples []uint16, y int, differences []int16) {
	n := f.Components
	row := f.Width * n
	line := samples[y*row : (y+1)*row]
	var above []uint16
	if y > 0 {
		above = samples[(y-1)*row : y*row]
	}
	for i, v := range line {
		var p int
		switch {
		case i >= n && y > 0:
			p = predict(f.Predictor, int(line[i-n]), int(above[i]), int(above[i-n]))
		case i >= n:
			p = int(line[i-n])
		case y > 0:
			p = int(above[i])
		default:
			p = 1 << (f.Precision - 1)
		}
		differences[i] = int16(int(v) - p)
	}
}

func appendHeaders(b []byte, f Frame) []byte {
	b = append(b, 0xFF, markerSOI, 0xFF, markerSOF3)
	b = binary.BigEndian.AppendUint16(b, uint16(8+3*f.Components))
	b = append(b, byte(f.Precision))
	b = binary.BigEndian.AppendUint16(b, uint16(f.Height))
	b = binary.BigEndian.AppendUint16(b, uint16(f.Width))
	b = append(b, byte(f.Components))
	for c := range f.Components {
		b = append(b, byte(c), 0x11, 0)
	}
	return b
}

func (t *huffmanTable) append(b []byte, number int) []byte {
	b = append(b, 0xFF, markerDHT)
	b = binary.BigEndian.AppendUint16(b, uint16(3+longest+len(t.symbols)))
	b = append(b, byte(number))
	for _, n := range t.counts[1:] {
		b = append(b, byte(n))
	}
	return append(b, t.symbols...)
}

func appendScanHeader(b []byte, f Frame) []byte {
	b = append(b, 0xFF, markerSOS)
	b = binary.BigEndian.AppendUint16(b, uint16(6+2*f.Components))
	b = append(b, byte(f.Components))
	for c := range f.Components {
		b = append(b, byte(c), byte(c)<<4)
	}
	return append(b, byte(f.Predictor), 0, 0)
}

// bitWriter writes the bits of a scan.
type bitWriter struct {
	data []byte
	acc  uint64 // the bits that are to be written, in the low n
	n    uint
}

func (w *bitWriter) put(c code) {
	w.acc = w.acc<<c.length | uint64(c.word)
	for w.n += c.length; w.n >= 8; w.n -= 8 {
		v := byte(w.acc >> (w.n - 8))
		w.data = append(w.data, v)
		if v == 0xFF {
			w.data = append(w.data, 0)
		}
	}
}

// end fills the last byte with ones (F.1.2.3) and returns all.
func (w *bitWriter) end() []byte {
	if w.n > 0 {
		fill := 8 - w.n
		w.put(code{1<<fill - 1, fill})
	}
	return w.data
}
