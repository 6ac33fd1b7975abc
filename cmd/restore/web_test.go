package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/web"
)

func TestWebServesAFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"index.html", "page.js", "worker.js", "wasm_exec.js", "style.css", "restore.wasm"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o666))
	}
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int)
	go func() {
		code := run(ctx, []string{"web", "--dir", folder}, strings.NewReader(""), write, io.Discard)
		write.Close()
		ended <- code
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	address, _, _ := strings.Cut(line, " ")
	answer, err := http.Get(address)
	require.NoError(t, err)
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, "index.html", string(content))
	stop()
	require.Equal(t, exitDone, <-ended, "an interrupt is how a server ends")
}

func TestWebRefuses(t *testing.T) {
	empty := t.TempDir()
	fails(t, exitUsage, []string{"--port 70000: want 0 to 65535"}, "web", "--port", "70000")
	fails(t, exitUsage, []string{"not a page of 'go run ./web/build'"}, "web", "--dir", empty)
	fails(t, exitUsage, []string{"--dir " + filepath.Join(empty, "none")}, "web", "--dir", filepath.Join(empty, "none"))
	fails(t, exitUsage, []string{"no input"}, "web", "photo.png")
	if web.Files() == nil {
		fails(t, exitUsage, []string{"built without the page", "make web"}, "web")
	}
}
