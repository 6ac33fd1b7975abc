//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
)

// A pipe without another end makes its opening wait: an interrupt must end that.
func TestInterruptWhileWaitingForAPipe(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	// Those that wait do so for the life of the process, so each has a pipe of its own.
	for _, pipe := range []string{"in.png", "kernel.png", "euler.safetensors", "out.png"} {
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	}
	for _, args := range [][]string{
		denoising("in.png", "-o", "x.png"),
		{"deblur", "a.png", "--kernel", "kernel.png", "-o", "x.png"},
		denoising("a.png", "--weights", "euler.safetensors", "-o", "x.png"),
		denoising("a.png", "-o", "out.png", "--force"),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		var stderr bytes.Buffer
		require.Equal(t, exitInterrupted, run(ctx, args, strings.NewReader(""), io.Discard, &stderr), "%v", args)
		cancel()
		requireOneLine(t, stderr.String(), "interrupted")
	}
	require.Equal(t, []string{"a.png", "euler.safetensors", "in.png", "kernel.png", "out.png"}, files(t))
}

func TestPipesAreReadAndWritten(t *testing.T) {
	inFolder(t)
	require.NoError(t, syscall.Mkfifo("in.png", 0o600))
	require.NoError(t, syscall.Mkfifo("out.png", 0o600))
	written := make(chan error, 1)
	go func() {
		written <- os.WriteFile("in.png", encoded(t, imagefile.PNG), 0)
	}()
	read := make(chan []byte, 1)
	go func() {
		// An error leaves no bytes, which is no image.
		b, _ := os.ReadFile("out.png")
		read <- b
	}()
	succeeds(t, denoising("in.png", "-o", "out.png", "--force")...)
	require.NoError(t, <-written)
	b := <-read
	m, err := imagefile.DecodeAt(bytes.NewReader(b), int64(len(b)), imagefile.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 24, m.Width)
}
