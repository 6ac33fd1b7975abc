package weights

import "math"

// The narrow floats, bit by bit (IEEE 754-2019, sections 3.4 and 4.3.1): rounding
// is to the nearest, ties to even; what is too large becomes infinite; a NaN
// stays one, quiet, with its sign and the upper bits of its payload.

const (
	float32Infinity = 0x7f800000 // the bits of +Inf
	float32Quiet    = 0x00400000 // set in a quiet NaN

	float16Infinity = 0x7c00
	float16Quiet    = 0x0200
	float16Mantissa = 10

	// The exponent's bias is 127 in binary32 and 15 in binary16.
	biasDifference = (127 - 15) << 23
	// A binary16 has 13 fewer bits of mantissa than a binary32.
	mantissaDifference = 23 - float16Mantissa
	// Half of the least bit that is kept, less one.
	belowHalf = 1<<(mantissaDifference-1) - 1

	// The bits of 65520, halfway between the largest binary16, 65504, and 65536.
	float16Overflow = 0x477ff000
	// The bits of 2⁻¹⁴, the least normal binary16.
	float16Normal = 0x38800000
)

// toFloat16 returns the binary16 next to f.
func toFloat16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits>>16) & 0x8000
	bits &^= 1 << 31
	switch {
	case bits > float32Infinity:
		return sign | float16Infinity | float16Quiet | uint16(bits>>mantissaDifference)&(float16Quiet-1)
	case bits >= float16Overflow:
		return sign | float16Infinity
	case bits < float16Normal:
		// Subnormal numbers are the multiples of 2⁻²⁴, which is also the spacing of
		// binary32 from ½ to 1: the sum is rounded to one of them. If it is rounded
		// up to 2⁻¹⁴, its bits are those of the least normal number, as they must be.
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-math.Float32bits(0.5))
	}
	// A carry out of the mantissa goes to the exponent, where it belongs.
	odd := bits >> mantissaDifference & 1
	return sign | uint16((bits-biasDifference+belowHalf+odd)>>mantissaDifference)
}

// fromFloat16 returns the value of a binary16; it is exact.
func fromFloat16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	magnitude := uint32(h & 0x7fff)
	switch {
	case magnitude >= float16Infinity:
		return math.Float32frombits(sign | float32Infinity | (magnitude-float16Infinity)<<mantissaDifference)
	case magnitude < 1<<float16Mantissa:
		return math.Float32frombits(sign | math.Float32bits(float32(magnitude)*0x1p-24))
	}
	return math.Float32frombits(sign | (magnitude<<mantissaDifference + biasDifference))
}

// toBFloat16 returns the bfloat16 next to f.
func toBFloat16(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&^(1<<31) > float32Infinity {
		return uint16((bits | float32Quiet) >> 16)
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// fromBFloat16 returns the value of a bfloat16; it is exact.
func fromBFloat16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
