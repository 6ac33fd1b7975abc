package denoise

import (
	"math"
	"testing"

	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// A file in half precision holds the model itself, with the same certificate, and half
// the bytes.
func TestHalfPrecisionFile(t *testing.T) {
	whole := levelled(t, 3, Architecture{Width: 12, Shuffle: 2}, 1.3)
	m, err := whole.Rounded16()
	require.NoError(t, err)
	require.NoError(t, m.Check())
	for i, b := range m.Blocks {
		for k, v := range b.Filter {
			x := float64(whole.Blocks[i].Filter[k])
			require.InDelta(t, x, v, 0x1p-11*math.Abs(x)+0x1p-25)
		}
		for k, v := range b.Gain {
			require.InDelta(t, whole.Blocks[i].Gain[k], v, 0x1p-11)
		}
	}
	again, err := m.Rounded16()
	require.NoError(t, err)
	require.Equal(t, m, again)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	half, err := m.File(testCard(), cert, weights.HalfPrecision(), nil)
	require.NoError(t, err)
	full, err := m.File(testCard(), cert)
	require.NoError(t, err)
	for i, tensor := range half.Tensors {
		require.Equal(t, weights.F16, tensor.DType)
		require.Len(t, tensor.Data, len(full.Tensors[i].Data)/2)
	}
	encoded, err := half.Encode()
	require.NoError(t, err)
	read, err := weights.Decode(encoded)
	require.NoError(t, err)
	back, err := FromFile(read)
	require.NoError(t, err)
	other, err := FromFile(full)
	require.NoError(t, err)
	require.Equal(t, other, back)
	require.Equal(t, m.Blocks[1].Filter, back.Blocks[1].Filter)
	require.Equal(t, m.Blocks[1].Gain, back.Blocks[1].Gain)

	// The certificate's checksum is that of the numbers, the card's that of the tensors.
	n, err := Load(t.Context(), newCPU(t), read)
	require.NoError(t, err)
	defer n.Free()
	require.Equal(t, cert.Weights, n.Certificate().Weights)
	card, _ := n.Card()
	require.Equal(t, half.Checksum(), card.Checksum)
	require.NotEqual(t, cert.Weights, card.Checksum)

	// The certificate of the model before rounding is not that of the file.
	before, err := whole.Certify(t.Context(), 0)
	require.NoError(t, err)
	_, err = m.File(testCard(), before, weights.HalfPrecision())
	require.ErrorIs(t, err, ErrCertificate)
	_, err = whole.File(testCard(), before, weights.HalfPrecision())
	require.ErrorContains(t, err, "block 0: weight 0, ")
	require.ErrorContains(t, err, "is not a float16: round the model and certify it again")
}

func TestRounded16Refuses(t *testing.T) {
	for _, v := range []float32{65520, -1e30} {
		m := smallModel(t, 3, Architecture{}, 1)
		m.Blocks[2].Bias[4] = v
		_, err := m.Rounded16()
		require.ErrorContains(t, err, "block 2: bias 4 is ")
		require.ErrorContains(t, err, "beyond float16's range of ±65504")
		require.Equal(t, v, m.Blocks[2].Bias[4])
		_, err = m.File(testCard(), Certificate{}, weights.HalfPrecision())
		require.ErrorContains(t, err, "beyond float16's range")
	}
	m := smallModel(t, 3, Architecture{}, 1)
	before := m.clone()
	m.Blocks[0].Filter[0] = 65519 // rounds to the largest one
	rounded, err := m.Rounded16()
	require.NoError(t, err)
	require.Equal(t, float32(65504), rounded.Blocks[0].Filter[0])
	require.Equal(t, before.Blocks[1], m.Blocks[1], "the model stays as it is")
	m.Blocks[0].Filter[0] = float32(math.NaN())
	_, err = m.File(testCard(), Certificate{}, weights.HalfPrecision())
	require.ErrorContains(t, err, "weight 0")
}
