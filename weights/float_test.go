package weights

import (
	"math"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestFloat16Values compares every binary16 with the formula of IEEE 754.
func TestFloat16Values(t *testing.T) {
	for h := range 1 << 16 {
		sign := 1 - 2*float64(h>>15)
		exponent, mantissa := h>>10&31, float64(h&1023)
		got := float64(fromFloat16(uint16(h)))
		switch {
		case exponent == 31 && mantissa != 0:
			require.True(t, math.IsNaN(got), "%#04x", h)
			require.Equal(t, h>>15 == 1, math.Signbit(got), "%#04x", h)
			continue
		case exponent == 31:
			require.True(t, math.IsInf(got, int(sign)), "%#04x", h)
		case exponent == 0:
			require.Equal(t, sign*math.Ldexp(mantissa, -24), got, "%#04x", h)
			require.Equal(t, h>>15 == 1, math.Signbit(got), "%#04x", h)
		default:
			require.Equal(t, sign*math.Ldexp(1024+mantissa, exponent-25), got, "%#04x", h)
		}
		require.Equal(t, uint16(h), toFloat16(fromFloat16(uint16(h))), "there and back")
	}
}

// TestBFloat16Values does the same for every bfloat16.
func TestBFloat16Values(t *testing.T) {
	for h := range 1 << 16 {
		f := fromBFloat16(uint16(h))
		require.Equal(t, uint32(h)<<16, math.Float32bits(f))
		if f != f {
			require.Equal(t, uint16(h)|0x0040, toBFloat16(f), "a NaN stays one, quiet: %#04x", h)
		} else {
			require.Equal(t, uint16(h), toBFloat16(f), "there and back")
		}
	}
}

// nearest returns the bits of the number next to f by searching all finite ones,
// ties to even, and of infinity from the middle between the last number and the
// one that would follow.
func nearest(f float32, value func(bits uint16) float32, infinity uint16) uint16 {
	x := math.Abs(float64(f))
	above := sort.Search(int(infinity), func(i int) bool { return float64(value(uint16(i))) >= x })
	sign := uint16(math.Float32bits(f)>>16) & 0x8000
	if above == 0 {
		return sign
	}
	lower := float64(value(uint16(above - 1)))
	upper := float64(value(uint16(above)))
	if above == int(infinity) {
		upper = lower + (lower - float64(value(infinity-2)))
	}
	below := above - 1
	switch d := (x - lower) - (upper - x); { // exact in float64
	case d < 0, d == 0 && below%2 == 0:
		return sign | uint16(below)
	}
	return sign | uint16(above)
}

// Numbers at and around the places where rounding changes.
func roundingCases(value func(uint16) float32, infinity uint16) []float32 {
	var cases []float32
	for i := range infinity - 1 {
		a, b := float64(value(i)), float64(value(i+1))
		middle := float32((a + b) / 2)
		cases = append(cases, middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, float32(math.Inf(1))))
	}
	return cases
}

func TestRoundingToFloat16(t *testing.T) {
	for _, f := range append(roundingCases(fromFloat16, 0x7c00), 65504, 65519.996, 65520, 65536, 1e30, math.MaxFloat32, math.SmallestNonzeroFloat32) {
		require.Equal(t, nearest(f, fromFloat16, 0x7c00), toFloat16(f), "%g", f)
		require.Equal(t, nearest(-f, fromFloat16, 0x7c00), toFloat16(-f), "%g", -f)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if f == f && !math.IsInf(float64(f), 0) {
			require.Equal(t, nearest(f, fromFloat16, 0x7c00), toFloat16(f), "%g", f)
		}
	})
	inf := float32(math.Inf(1))
	require.Equal(t, uint16(0x7c00), toFloat16(inf))
	require.Equal(t, uint16(0xfc00), toFloat16(-inf))
}

func TestRoundingToBFloat16(t *testing.T) {
	for _, f := range append(roundingCases(fromBFloat16, 0x7f80), math.MaxFloat32, math.SmallestNonzeroFloat32) {
		require.Equal(t, nearest(f, fromBFloat16, 0x7f80), toBFloat16(f), "%g", f)
		require.Equal(t, nearest(-f, fromBFloat16, 0x7f80), toBFloat16(-f), "%g", -f)
	}
	inf := float32(math.Inf(1))
	require.Equal(t, uint16(0x7f80), toBFloat16(inf))
	require.Equal(t, uint16(0xff80), toBFloat16(-inf))
}

// TestNaN: whatever its payload, a NaN stays one, and keeps its sign.
func TestNaN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint32().Draw(t, "sign") & (1 << 31)
		bits |= float32Infinity | rapid.Uint32Range(1, 1<<23-1).Draw(t, "payload")
		f := math.Float32frombits(bits)
		for _, back := range []float32{fromFloat16(toFloat16(f)), fromBFloat16(toBFloat16(f))} {
			require.True(t, back != back)
			require.Equal(t, bits>>31, math.Float32bits(back)>>31)
		}
	})
}
