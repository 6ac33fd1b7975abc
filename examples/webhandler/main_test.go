package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/examples/internal/smallpicture"
	"github.com/averaged/imaging/restore"
)

func TestHandler(t *testing.T) {
	picture, err := os.ReadFile(smallpicture.Of(t, "readme/noisy.png"))
	require.NoError(t, err)
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	for _, c := range []struct {
		within time.Duration
		body   string
		code   int
		is     string
	}{
		{time.Minute, string(picture), http.StatusOK, "image/png"},
		{time.Nanosecond, string(picture), http.StatusServiceUnavailable, "text/plain; charset=utf-8"},
		{time.Minute, "<svg>", http.StatusBadRequest, "text/plain; charset=utf-8"},
		{time.Minute, string(picture[:len(picture)/2]), http.StatusBadRequest, "text/plain; charset=utf-8"},
		{time.Minute, string(bomb()), http.StatusRequestEntityTooLarge, "text/plain; charset=utf-8"},
		{time.Minute, strings.Repeat(" ", largest+1), http.StatusRequestEntityTooLarge, "text/plain; charset=utf-8"},
	} {
		answer := httptest.NewRecorder()
		handler(r, c.within).ServeHTTP(answer, httptest.NewRequest("POST", "/denoise", strings.NewReader(c.body)))
		require.Equal(t, c.code, answer.Code, answer.Body)
		require.Equal(t, c.is, answer.Header().Get("Content-Type"))
		if c.code == http.StatusOK {
			out, err := png.Decode(answer.Body)
			require.NoError(t, err)
			require.Equal(t, smallpicture.Size, out.Bounds().Size())
		}
	}
}

// A file of which every few bytes cost a pass over all pixels takes no longer than the handler's time.
func TestDecodingEnds(t *testing.T) {
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	begin := time.Now()
	answer := httptest.NewRecorder()
	handler(r, 200*time.Millisecond).ServeHTTP(answer, httptest.NewRequest("POST", "/denoise", bytes.NewReader(manyScans(200_000))))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code, answer.Body)
	require.Less(t, time.Since(begin), 20*time.Second)
}

// manyScans is a progressive JPEG of 2000×2000 pixels, in whose scans no coefficient changes.
func manyScans(count int) []byte {
	file := append([]byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}, bytes.Repeat([]byte{1}, 64)...)
	file = append(file, 0xff, 0xc2, 0, 11, 8, 2000>>8, 2000&255, 2000>>8, 2000&255, 1, 1, 0x11, 0)
	// One word of one bit: the end of 2¹⁴ blocks, and as many more as the 14 bits behind it say.
	file = append(file, 0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0)
	scan := []byte{0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	return append(append(file, bytes.Repeat(scan, count)...), 0xff, 0xd9)
}

// bomb is the beginning of a small file that holds 10⁸ pixels.
func bomb() []byte {
	chunk := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), 10000), 10000)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	file := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(file, chunk...), crc32.ChecksumIEEE(chunk))
}
