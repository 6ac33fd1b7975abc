package picture

import (
	"encoding/binary"
	"math"

	"github.com/averaged/imaging/internal/imagefile/samples"
)

// Layout names the sample at each place of an interleaved pixel: a channel, or
// alphaSample.
type Layout []int

const alphaSample = -1

var (
	LayoutGrey      = Layout{0}
	LayoutGreyAlpha = Layout{0, alphaSample}
	LayoutRGB       = Layout{0, 1, 2}
	LayoutRGBA      = Layout{0, 1, 2, alphaSample}
	LayoutGreyRGBA  = Layout{0, 0, 0, alphaSample}
	LayoutBGR       = Layout{2, 1, 0}
	LayoutBGRA      = Layout{2, 1, 0, alphaSample}
)

// Layout is the layout of the image's own samples in the usual order.
func (m *Image) Layout() Layout {
	switch {
	case m.Channels == 1 && m.Alpha == nil:
		return LayoutGrey
	case m.Channels == 1:
		return LayoutGreyAlpha
	case m.Alpha == nil:
		return LayoutRGB
	}
	return LayoutRGBA
}

// PackRow writes row y of m interleaved into dst, len(order)·depth/8 bytes per
// pixel. Depth 8 and 16 are quantised, 32 is IEEE float. An image without alpha
// is samples.Opaque.
func (m *Image) PackRow(dst []byte, y, depth int, order Layout, endian binary.ByteOrder) {
	size := depth / 8
	step := size * len(order)
	big := endian == binary.ByteOrder(binary.BigEndian)
	for k, c := range order {
		p := dst[k*size:]
		if c == alphaSample {
			m.packAlpha(p, y, depth, step, big)
			continue
		}
		row := m.Plane(c)[y*m.Width : (y+1)*m.Width]
		switch depth {
		case 8:
			for x, i := 0, 0; x < len(row); x, i = x+1, i+step {
				p[i] = byte(samples.Quantise(row[x], 255))
			}
		case 16:
			hi, lo := byteOrder16(big)
			for x, i := 0, 0; x < len(row); x, i = x+1, i+step {
				v := samples.Quantise(row[x], 65535)
				p[i+hi], p[i+lo] = byte(v>>8), byte(v)
			}
		case 32:
			for x, i := 0, 0; x < len(row); x, i = x+1, i+step {
				putFloat32(p[i:], row[x], big)
			}
		}
	}
}

func (m *Image) packAlpha(p []byte, y, depth, step int, big bool) {
	hi, lo := byteOrder16(big)
	for x, i := 0, 0; x < m.Width; x, i = x+1, i+step {
		a := uint16(samples.Opaque)
		if m.Alpha != nil {
			a = m.Alpha[y*m.Width+x]
		}
		switch depth {
		case 8:
			p[i] = byte((uint32(a)*255 + 32767) / 65535)
		case 16:
			p[i+hi], p[i+lo] = byte(a>>8), byte(a)
		case 32:
			putFloat32(p[i:], samples.Unit16(a), big)
		}
	}
}

// byteOrder16 returns the places of the high and the low byte.
func byteOrder16(big bool) (hi, lo int) {
	if big {
		return 0, 1
	}
	return 1, 0
}

func putFloat32(p []byte, v float32, big bool) {
	if big {
		binary.BigEndian.PutUint32(p, math.Float32bits(v))
	} else {
		binary.LittleEndian.PutUint32(p, math.Float32bits(v))
	}
}
