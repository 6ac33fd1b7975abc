package main

import (
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

// bomb is the beginning of a small file that holds 10⁸ pixels.
func bomb() []byte {
	chunk := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), 10000), 10000)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	file := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(file, chunk...), crc32.ChecksumIEEE(chunk))
}
