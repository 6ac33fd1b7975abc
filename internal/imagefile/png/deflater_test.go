package png

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// zipped writes data to a deflater of pieces of that size, in parts.
func zipped(t require.TestingT, data []byte, threads, size, part int) []byte {
	var b bytes.Buffer
	d := newDeflater(&b, threads)
	d.size = size
	for rest := data; len(rest) > 0; {
		n := min(part, len(rest))
		wrote, err := d.Write(rest[:n])
		require.NoError(t, err)
		require.Equal(t, n, wrote)
		rest = rest[n:]
	}
	require.NoError(t, d.Close())
	return b.Bytes()
}

// compressible is data with repetitions near and far.
func compressible(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, n)
	for i := range data {
		switch {
		case i > 40_000 && r.IntN(4) == 0:
			data[i] = data[i-1-r.IntN(40_000)]
		case i > 0 && r.IntN(2) == 0:
			data[i] = data[i-1]
		default:
			data[i] = byte(r.IntN(40))
		}
	}
	return data
}

// TestDeflater: what was written comes back, whatever the parts and pieces are, in the same bytes for any number of
// threads, and in hardly more of them than compress/zlib makes.
func TestDeflater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{5000, deflateWindow + 7000}).Draw(t, "size")
		n := rapid.SampledFrom([]int{0, 1, 1000, size - 1, size, size + 1, 2 * size, 3*size + 77}).Draw(t, "n")
		data := compressible(n, rapid.Uint64().Draw(t, "seed"))
		part := rapid.SampledFrom([]int{999, size, 5 * size}).Draw(t, "part")
		got := zipped(t, data, rapid.IntRange(0, 5).Draw(t, "threads"), size, part)
		require.Equal(t, zipped(t, data, 1, size, 701), got)
		z, err := zlib.NewReader(bytes.NewReader(got))
		require.NoError(t, err)
		back, err := io.ReadAll(z)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, back))
		var whole bytes.Buffer
		w := zlib.NewWriter(&whole)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.LessOrEqual(t, float64(len(got)), 1.05*float64(whole.Len())+20)
	})
}

// TestDeflaterStops: an error of the writer below comes back, from Write or from Close.
func TestDeflaterStops(t *testing.T) {
	const size = deflateWindow + 7000
	data := compressible(3*size, 3)
	all := len(zipped(t, data, 2, size, size))
	for _, room := range []int{0, 1, all / 3, all - 1} {
		d := newDeflater(&imagetest.Disk{Room: room}, 2)
		d.size = size
		_, err := d.Write(data)
		if err != nil {
			require.ErrorIs(t, err, imagetest.ErrFull)
		}
		require.ErrorIs(t, d.Close(), imagetest.ErrFull)
	}
}
