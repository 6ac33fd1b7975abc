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
	m, err := imagefile.DecodeAt(context.Background(), bytes.NewReader(b), int64(len(b)), imagefile.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 24, m.Width)
}

// A pipe among the images of a folder is left out: nobody may ever write to it.
func TestPipesInFoldersAreSkipped(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.MkdirAll("in/folder", 0o777))
	save(t, "in/a.png", picture(3, 48, 48, 8, 0.05))
	require.NoError(t, syscall.Mkfifo("in/pipe.png", 0o600))
	require.NoError(t, os.Symlink("pipe.png", "in/link.png"))
	require.NoError(t, os.Symlink("folder", "in/other.png"))
	require.NoError(t, os.Symlink("a.png", "in/same.png"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	restoring := func(args ...string) int {
		stdout.Reset()
		stderr.Reset()
		return run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	}
	require.Equal(t, exitDone, restoring(denoising("--recursive", "in", "--json", "-o", "out/")...), stderr.String())
	for _, line := range []string{
		"restore: note: in/pipe.png: skipped, it is no regular file\n", "restore: note: in/link.png: skipped, it is no regular file\n",
		"restore: note: in/other.png: skipped, it is a link to a folder\n", "restore: 2 done, 0 failed, 3 skipped\n",
	} {
		require.Contains(t, stderr.String(), line)
	}
	require.FileExists(t, "out/same.png", "a link to a file is that file")
	require.NoFileExists(t, "out/pipe.png")
	skipped := 0
	for _, o := range objects(t, stdout.String()) {
		if o["skipped"] == true {
			skipped++
			require.Len(t, o["notes"], 1)
			require.NotContains(t, o, "output")
		}
	}
	require.Equal(t, 3, skipped)

	// So it is with all that is alone in its folder, and with other commands that read folders.
	require.NoError(t, os.Mkdir("alone", 0o777))
	require.NoError(t, syscall.Mkfifo("alone/pipe.png", 0o600))
	require.Equal(t, exitNothing, restoring(denoising("--recursive", "alone")...))
	require.Contains(t, stderr.String(), "nothing to do: no image was found\n")
	require.Equal(t, exitDone, restoring("eval", "in", "--sigma", "0.1", "--method", "tv"), stderr.String())
	require.Contains(t, stderr.String(), "in/pipe.png: skipped, it is no regular file\n")
	require.Equal(t, exitDone, restoring(tiny("in", "-o", "run")...), stderr.String())
	require.Contains(t, stderr.String(), "left out: in/pipe.png: is no regular file\n")
	require.NoError(t, ctx.Err(), "it waited")
}
