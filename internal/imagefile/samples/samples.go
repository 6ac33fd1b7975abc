// Package samples converts samples between bytes and floats. Those of integers are value / largest value.
package samples

import "encoding/binary"

// Opaque is the opacity of a pixel that hides all behind it.
const Opaque = 0xffff

// Unit8 is v/255 for every byte.
var Unit8 = func() (t [256]float32) {
	for v := range t {
		t[v] = float32(v) / 255
	}
	return t
}()

// Unit16 returns v/65535, correctly rounded.
func Unit16(v uint16) float32 { return float32(v) / 65535 }

// Widen8 reads every step-th byte of p as a sample.
func Widen8(dst []float32, p []byte, step int) {
	if len(dst) == 0 {
		return
	}
	_ = p[(len(dst)-1)*step]
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = Unit8[p[i]]
	}
}

// Widen16 reads a big-endian 16-bit sample at every step-th byte of p.
func Widen16(dst []float32, p []byte, step int) {
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = Unit16(binary.BigEndian.Uint16(p[i:]))
	}
}

// Alpha8 reads every step-th byte of p as an opacity.
func Alpha8(dst []uint16, p []byte, step int) {
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = uint16(p[i]) * 257
	}
}

// Alpha16 does the same for big-endian opacities of 16 bits.
func Alpha16(dst []uint16, p []byte, step int) {
	for x, i := 0, 0; x < len(dst); x, i = x+1, i+step {
		dst[x] = binary.BigEndian.Uint16(p[i:])
	}
}

// Unmultiply divides samples by their opacity. What is fully transparent has no
// colour and becomes black; what is brighter than its opacity allows becomes 1.
func Unmultiply(dst []float32, alpha []uint16) {
	for x, a := range alpha {
		switch a {
		case Opaque:
		case 0:
			dst[x] = 0
		default:
			dst[x] = min(1, dst[x]*Opaque/float32(a))
		}
	}
}

// Quantise returns the integer in [0, limit] that is nearest to v·limit. Values
// outside [0,1] are clipped; not-a-number becomes 0, but Encode refuses it.
func Quantise(v, limit float32) uint32 {
	v = float32(v*limit) + 0.5
	if v >= limit {
		return uint32(limit)
	}
	if v > 0 {
		return uint32(v)
	}
	return 0
}
