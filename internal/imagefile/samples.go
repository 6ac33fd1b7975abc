package imagefile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// unit8 is v/255 for every byte.
var unit8 = func() (t [256]float32) {
	for v := range t {
		t[v] = float32(v) / 255
	}
	return t
}()

// unit16 returns v/65535, correctly rounded.
func unit16(v uint16) float32 { return float32(v) / 65535 }

// widen8 reads every step-th byte of p as a sample.
func widen8(dst []float32, p []byte, step int) {
	if len(dst) == 0 {
		return
	}
	_ = p[(len(dst)-1)*step]
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = unit8[p[i]]
	}
}

// widen16 reads a big-endian 16-bit sample at every step-th byte of p.
func widen16(dst []float32, p []byte, step int) {
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = unit16(binary.BigEndian.Uint16(p[i:]))
	}
}

// alpha8 and alpha16 do the same for opacities.
func alpha8(dst []uint16, p []byte, step int) {
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = uint16(p[i]) * 257
	}
}

func alpha16(dst []uint16, p []byte, step int) {
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = binary.BigEndian.Uint16(p[i:])
	}
}

// unmultiply divides samples by their opacity. What is fully transparent has no
// colour and becomes black; what is brighter than its opacity allows becomes 1.
func unmultiply(dst []float32, alpha []uint16) {
	for x, a := range alpha {
		switch a {
		case opaque:
		case 0:
			dst[x] = 0
		default:
			dst[x] = min(1, dst[x]*opaque/float32(a))
		}
	}
}

// quantise returns the integer in [0, limit] that is nearest to v·limit. Values
// outside [0,1] are clipped; not-a-number becomes 0, but Encode refuses it.
func quantise(v, limit float32) uint32 {
	v = float32(v*limit) + 0.5
	if v >= limit {
		return uint32(limit)
	}
	if v > 0 {
		return uint32(v)
	}
	return 0
}

// layout names the sample at each place of an interleaved pixel: a channel, or
// alphaSample.
type layout []int

const alphaSample = -1

var (
	layoutGrey      = layout{0}
	layoutGreyAlpha = layout{0, alphaSample}
	layoutRGB       = layout{0, 1, 2}
	layoutRGBA      = layout{0, 1, 2, alphaSample}
	layoutGreyRGBA  = layout{0, 0, 0, alphaSample}
	layoutBGR       = layout{2, 1, 0}
	layoutBGRA      = layout{2, 1, 0, alphaSample}
)

// naturalLayout is the layout of the image's own samples in the usual order.
func (m *Image) naturalLayout() layout {
	switch {
	case m.Channels == 1 && m.Alpha == nil:
		return layoutGrey
	case m.Channels == 1:
		return layoutGreyAlpha
	case m.Alpha == nil:
		return layoutRGB
	}
	return layoutRGBA
}

// packRow writes row y of m interleaved into dst, len(order)·depth/8 bytes per
// pixel. Depth 8 and 16 are quantised, 32 is IEEE float. An image without alpha
// is opaque.
func (m *Image) packRow(dst []byte, y, depth int, order layout, endian binary.ByteOrder) {
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
				p[i] = byte(quantise(row[x], 255))
			}
		case 16:
			hi, lo := byteOrder16(big)
			for x, i := 0, 0; x < len(row); x, i = x+1, i+step {
				v := quantise(row[x], 65535)
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
		a := uint16(opaque)
		if m.Alpha != nil {
			a = m.Alpha[y*m.Width+x]
		}
		switch depth {
		case 8:
			p[i] = byte((uint32(a)*255 + 32767) / 65535)
		case 16:
			p[i+hi], p[i+lo] = byte(a>>8), byte(a)
		case 32:
			putFloat32(p[i:], unit16(a), big)
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

// CheckFinite returns an error that names the first sample that is infinite or not a
// number, and wraps ErrNotFinite.
func (m *Image) CheckFinite() error {
	for i, v := range m.Pix {
		if v-v != 0 {
			n := m.Width * m.Height
			return fmt.Errorf("%w: the sample at row %d, column %d, channel %d is %v", ErrNotFinite, i%n/m.Width, i%m.Width, i/n, v)
		}
	}
	return nil
}
