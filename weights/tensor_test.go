package weights

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestDTypes pins names and sizes to the format's, and the order of the values.
func TestDTypes(t *testing.T) {
	bits := map[string]int{
		"BOOL": 8, "U8": 8, "I8": 8, "I16": 16, "U16": 16, "I32": 32, "U32": 32, "I64": 64, "U64": 64,
		"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
		"F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64,
	}
	count := 0
	for d := DType(0); d < math.MaxUint8; d++ {
		got, ok := parseDType(d.String())
		require.Equal(t, d.Valid(), ok)
		if !ok {
			require.Zero(t, d.Bits())
			require.Equal(t, "unknown", d.String())
			continue
		}
		require.Equal(t, d, got)
		require.Equal(t, bits[d.String()], d.Bits(), d)
		count++
	}
	require.Equal(t, len(bits), count)
}

func TestNewTensorBytes(t *testing.T) {
	values := []float32{1, -2.5, float32(math.Inf(1)), 0.1}
	for dtype, want := range map[DType]string{
		F16:  "\x00\x3c\x00\xc1\x00\x7c\x66\x2e",
		BF16: "\x80\x3f\x20\xc0\x80\x7f\xcd\x3d",
		F32:  "\x00\x00\x80\x3f\x00\x00\x20\xc0\x00\x00\x80\x7f\xcd\xcc\xcc\x3d",
		F64: "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x04\xc0" +
			"\x00\x00\x00\x00\x00\x00\xf0\x7f\x00\x00\x00\xa0\x99\x99\xb9\x3f",
	} {
		x, err := NewTensor("x", dtype, []int{2, 2}, values)
		require.NoError(t, err)
		require.Equal(t, want, string(x.Data), dtype)
		require.Equal(t, []int{2, 2}, x.Shape)
	}
}

// TestFloat32sRoundTrip: F32 and F64 keep every bit of a float32 but a NaN's
// payload, F16 and BF16 what they can hold.
func TestFloat32sRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float32(), 0, 20).Draw(t, "values")
		for _, dtype := range []DType{F16, BF16, F32, F64} {
			x, err := NewTensor("x", dtype, []int{len(values)}, values)
			require.NoError(t, err)
			once, err := x.Float32s()
			require.NoError(t, err)
			require.Len(t, once, len(values))
			if dtype == F32 || dtype == F64 {
				require.Equal(t, values, once)
			}
			y, err := NewTensor("x", dtype, []int{len(values)}, once)
			require.NoError(t, err)
			require.Equal(t, x, y, "rounding twice changes nothing")
		}
	})
}

func TestFloat64IsRounded(t *testing.T) {
	x := Tensor{Name: "x", DType: F64, Shape: []int{3}, Data: []byte(
		"\x00\x00\x00\x10\x00\x00\xf0\x3f" + // 1 + 2⁻²⁴, a tie: to 1
			"\x01\x00\x00\x10\x00\x00\xf0\x3f" + // the next number above: to 1 + 2⁻²³
			"\xff\xff\xff\xff\xff\xff\xef\x7f")} // the largest number: to infinity
	got, err := x.Float32s()
	require.NoError(t, err)
	require.Equal(t, []float32{1, 1 + 0x1p-23, float32(math.Inf(1))}, got)
}

func TestTensorErrors(t *testing.T) {
	_, err := NewTensor("x", F32, []int{2, 3}, make([]float32, 5))
	require.EqualError(t, err, `weights: tensor "x" has 5 values, want 6 for the shape [2 3]`)
	_, err = NewTensor("x", I32, []int{1}, make([]float32, 1))
	require.EqualError(t, err, `weights: tensor "x": numbers are not converted to I32, only to F16, BF16, F32 and F64`)
	_, err = NewTensor("x", DType(99), nil, make([]float32, 1))
	require.ErrorContains(t, err, "not converted to unknown")
	_, err = NewTensor("x", F32, []int{-1}, nil)
	require.EqualError(t, err, `weights: tensor "x": the shape has the negative size -1`)
	_, err = NewTensor("__metadata__", F32, nil, make([]float32, 1))
	require.ErrorContains(t, err, "the format keeps for itself")

	_, err = Tensor{Name: "x", DType: U8, Shape: []int{1}, Data: []byte{1}}.Float32s()
	require.EqualError(t, err, `weights: tensor "x": U8 is not converted to numbers, only F16, BF16, F32 and F64`)
	_, err = Tensor{Name: "x", DType: F32, Shape: []int{1}, Data: make([]byte, 7)}.Float32s()
	require.EqualError(t, err, `weights: tensor "x" has 7 bytes of data, want 4 for F32 of shape [1]`)
}
