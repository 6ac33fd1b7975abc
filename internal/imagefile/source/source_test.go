package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/stretchr/testify/require"
)

// A file and a stream have the same bytes, and none behind their end.
func TestBytesOfFilesAndStreams(t *testing.T) {
	data := bytes.Repeat([]byte("some bytes"), streamPiece/4) // more than two pieces
	for _, s := range []*Source{File(context.Background(), bytes.NewReader(data), int64(len(data)), 0), Stream(t.Context(), iotest.HalfReader(bytes.NewReader(data)), 0)} {
		start, err := s.Start(10)
		require.NoError(t, err)
		require.Equal(t, "some bytes", string(start))
		for _, at := range []int64{0, streamPiece - 5, 2 * streamPiece} {
			b, err := s.Bytes(at, 10)
			require.NoError(t, err)
			require.Equal(t, data[at:at+10], b)
		}
		for _, wrong := range [][2]int64{{-1, 1}, {0, -1}, {1 << 62, 1 << 62}, {int64(len(data)) - 1, 2}, {0, 1 << 40}} {
			_, err := s.Bytes(wrong[0], wrong[1])
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, wrong)
		}
		require.True(t, s.Has(int64(len(data))))
		require.False(t, s.Has(int64(len(data))+1))
		require.Equal(t, int64(len(data)), s.Available())
		rest, err := io.ReadAll(s.From(int64(len(data)) - 3))
		require.NoError(t, err)
		require.Equal(t, "tes", string(rest))
		require.NoError(t, s.Cause(nil))
	}
}

func TestCheckSize(t *testing.T) {
	for _, c := range []struct {
		limit         int64
		width, height int
		want          error
	}{
		{0, 1000, 1000, nil},
		{0, 0, 5, format.ErrMalformed},
		{0, 5, -5, format.ErrMalformed},
		{0, 1 << 15, 1 << 14, ErrTooManyPixels},
		{0, 8000, 8000, ErrTooManyPixels}, // of a file of ten bytes
		{1 << 26, 8000, 8000, nil},
		{100, 10, 10, nil},
		{100, 10, 11, ErrTooManyPixels},
		{-1, 1 << 13, 1 << 13, nil},
	} {
		err := File(context.Background(), bytes.NewReader(make([]byte, 10)), 10, c.limit).CheckSize(format.PNG, c.width, c.height)
		if c.want == nil {
			require.NoError(t, err, c)
		} else {
			require.ErrorIs(t, err, c.want, c)
		}
	}
}

// What a disk or a cable says counts for more than what a decoder makes of it.
func TestCause(t *testing.T) {
	cut := errors.New("the cable was cut")
	broken := errors.New("broken")
	s := Stream(t.Context(), io.MultiReader(bytes.NewReader(make([]byte, 100)), iotest.ErrReader(cut)), 0)
	require.Equal(t, broken, s.Cause(broken))
	require.False(t, s.Has(200))
	require.NoError(t, s.Cause(nil), "nothing that was needed is missing")
	require.Equal(t, cut, s.Cause(broken))

}

// A pipe delivers little at a time, and each read takes no memory of its own.
func TestSmallReadsOfAStream(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	s := Stream(t.Context(), &slowReader{data}, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := s.Bytes(0, int64(len(data)))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Equal(t, data, got)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*len(data)))
}

// slowReader delivers 1000 bytes at a time.
type slowReader struct{ rest []byte }

func (r *slowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(1000, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}
