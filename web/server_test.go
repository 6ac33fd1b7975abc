package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// page has the files of a page.
func page(t *testing.T) fstest.MapFS {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte("\x00asm"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	files := fstest.MapFS{"restore.wasm.gz": {Data: b.Bytes()}, "secret.txt": {Data: []byte("x")}}
	for _, name := range []string{"index.html", "page.js", "worker.js", "wasm_exec.js", "style.css"} {
		files[name] = &fstest.MapFile{Data: []byte("content of " + name)}
	}
	require.NoError(t, Check(files))
	return files
}

// ask returns the answer to a request.
func ask(t *testing.T, method, host, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, nil)
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler(page(t)).ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

func TestFilesAreServed(t *testing.T) {
	r := ask(t, "GET", "localhost:8000", "/")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"))
	require.Equal(t, "content of index.html", body(t, r))
	for name, kind := range map[string]string{"/page.js": "text/javascript; charset=utf-8", "/style.css": "text/css; charset=utf-8"} {
		r := ask(t, "GET", "127.0.0.1", name)
		require.Equal(t, kind, r.Header.Get("Content-Type"))
		require.Equal(t, "content of "+name[1:], body(t, r))
	}
	r = ask(t, "HEAD", "[::1]:8000", "/page.js")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "18", r.Header.Get("Content-Length"))
	require.Empty(t, body(t, r))
}

func TestCompressedFiles(t *testing.T) {
	r := ask(t, "GET", "localhost", "/restore.wasm", "Accept-Encoding", "br, gzip")
	require.Equal(t, []string{"application/wasm", "gzip", "Accept-Encoding"}, []string{r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding"), r.Header.Get("Vary")})
	require.Equal(t, string(page(t)["restore.wasm.gz"].Data), body(t, r))
	r = ask(t, "GET", "localhost", "/restore.wasm")
	require.Empty(t, r.Header.Get("Content-Encoding"))
	require.Equal(t, "\x00asm", body(t, r))
	require.Equal(t, 404, ask(t, "GET", "localhost", "/restore.wasm.gz").StatusCode)
}

// A page of another host that has made its name stand for this computer gets nothing, nor does who
// wants to send something.
func TestForeignHostsAreRefused(t *testing.T) {
	for _, host := range []string{"example.com", "example.com:8000", "127.0.0.1.example.com", "localhost.example.com", "192.168.1.7:8000", "[::2]:8000", "", "0.0.0.0", "evil@localhost", "127.0.0.1:8000:9"} {
		r := ask(t, "GET", host, "/")
		require.Equal(t, http.StatusMisdirectedRequest, r.StatusCode, host)
		require.NotContains(t, body(t, r), "content of")
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "CONNECT"} {
		require.Equal(t, http.StatusMethodNotAllowed, ask(t, method, "localhost", "/").StatusCode, method)
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for _, path := range []string{"/secret.txt", "/../server.go", "//etc/passwd", "/page.js/", "/.", "/a%00.js", "/%2e%2e/server.js", "/nothing.js"} {
		require.Equal(t, 404, ask(t, "GET", "localhost", path).StatusCode, path)
	}
	files := page(t)
	delete(files, "restore.wasm.gz")
	require.Error(t, Check(files))
}

func TestHeaders(t *testing.T) {
	for _, r := range []*http.Response{ask(t, "GET", "localhost", "/"), ask(t, "GET", "example.com", "/"), ask(t, "GET", "localhost", "/none.js")} {
		h := r.Header
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';")
		require.NotContains(t, h.Get("Content-Security-Policy"), "unsafe-inline")
		require.NotContains(t, h.Get("Content-Security-Policy"), "http")
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"))
		require.Equal(t, "same-origin", h.Get("Cross-Origin-Opener-Policy"))
		require.Empty(t, h.Get("Access-Control-Allow-Origin"))
	}
}

func TestServeUntilTheEnd(t *testing.T) {
	l, address, err := Listen(0)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(address, "http://127.0.0.1:") || strings.HasPrefix(address, "http://[::1]:"), address)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, l, page(t)) }()
	r, err := http.Get(address + "style.css")
	require.NoError(t, err)
	require.Equal(t, "content of style.css", body(t, r))
	r.Body.Close()
	stop()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end with its context")
	}
	_, err = http.Get(address)
	require.Error(t, err)
}
