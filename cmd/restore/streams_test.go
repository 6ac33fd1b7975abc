package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
)

// screen is a terminal that remembers what was written.
type screen struct {
	bytes.Buffer
	columns int
}

func (*screen) IsTerminal() bool { return true }
func (s *screen) Width() int     { return s.columns }

// keyboard is a terminal to read from.
type keyboard struct{ screen }

// brokenWriter fails with its error.
type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestImagesAreNotWrittenToATerminal(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	for _, args := range [][]string{
		denoising("a.png", "-o", "-"),
		denoising("-"),
		{"degrade", "--sigma", "0.1", "a.png", "-o", "-"},
		{"kernel", "box", "--size", "3", "-o", "-"},
	} {
		stdout, stderr := &screen{}, &bytes.Buffer{}
		require.Equal(t, exitUsage, run(t.Context(), args, strings.NewReader(""), stdout, stderr))
		require.Empty(t, stdout.String())
		requireOneLine(t, stderr.String(), "standard output is a terminal", "-o FILE")
	}
}

func TestImagesAreNotReadFromATerminal(t *testing.T) {
	inFolder(t)
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFailed, run(t.Context(), denoising("-", "-o", "x.png"), &keyboard{}, &stdout, &stderr))
	requireOneLine(t, stderr.String(), "standard input: is a terminal", "pipe an image")
	stderr.Reset()
	require.Equal(t, exitFailed, run(t.Context(), []string{"check", "--weights", "-"}, &keyboard{}, &stdout, &stderr))
	requireOneLine(t, stderr.String(), "standard input: is a terminal", "pipe a weight file")
}

func TestProgressOnATerminal(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 40, 50, 8, 0.05))
	t.Setenv("WT_SESSION", "a terminal that knows control sequences") // for Windows
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	draw := func(columns int, args ...string) string {
		stderr := &screen{columns: columns}
		require.Equal(t, exitDone, run(t.Context(), append([]string{"denoise", "a.png", "--method", weights.Fast, "--force", "--sigma", "0.05"}, args...), strings.NewReader(""), io.Discard, stderr))
		return stderr.String()
	}
	drawn := draw(80)
	require.Contains(t, drawn, "\ra.png [\x1b[32m")
	require.Contains(t, drawn, "  0%")
	require.True(t, strings.HasSuffix(drawn, "\r"), "%q: the line is taken off at the end", drawn)
	require.NotContains(t, drawn, "\n")

	t.Setenv("NO_COLOR", "1")
	require.NotContains(t, draw(80), "\x1b")
	require.Empty(t, draw(80, "--progress", "never"))
	require.Empty(t, draw(80, "-q"))
	for _, columns := range []int{1, 5, 20, 45} {
		for line := range strings.SplitSeq(draw(columns), "\r") {
			require.LessOrEqual(t, len([]rune(line)), max(columns-1, 0), "%q", line)
		}
	}
}

func TestProgressElsewhere(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 40, 50, 8, 0.05))
	r := succeeds(t, "denoise", "a.png", "--sigma", "0.05")
	require.Empty(t, r.stderr, "no terminal, no progress")
	r = succeeds(t, "denoise", "--method", "tv", "a.png", "--sigma", "0.05", "--force", "--progress", "always")
	require.Contains(t, r.stderr, "restore: a.png:   0%\n")
	require.Contains(t, r.stderr, "left  residual ")
	require.NotContains(t, r.stderr, "\r")
	require.LessOrEqual(t, strings.Count(r.stderr, "\n"), 11)
}

func TestErrorsAreRedOnATerminal(t *testing.T) {
	t.Setenv("WT_SESSION", "a terminal that knows control sequences") // for Windows
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	stderr := &screen{}
	require.Equal(t, exitFailed, run(t.Context(), []string{"denoise", "missing.png"}, strings.NewReader(""), io.Discard, stderr))
	require.Equal(t, "\x1b[31mrestore:\x1b[0m missing.png: no such file\n", stderr.String())
	t.Setenv("NO_COLOR", "yes")
	stderr = &screen{}
	require.Equal(t, exitFailed, run(t.Context(), []string{"denoise", "missing.png"}, strings.NewReader(""), io.Discard, stderr))
	require.Equal(t, "restore: missing.png: no such file\n", stderr.String())
}

func TestClosedPipeEndsQuietly(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	closed := brokenWriter{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}}
	for _, args := range [][]string{{"info"}, {"--help"}, {"compare", "a.png", "b.png"}, denoising("-q", "a.png", "-o", "-"), {"info", "--json"}} {
		var stderr bytes.Buffer
		require.Equal(t, exitFailed, run(t.Context(), args, strings.NewReader(""), closed, &stderr), "%v", args)
		require.Empty(t, stderr.String())
	}
	// A batch whose reader has gone does not go on in vain.
	var stderr bytes.Buffer
	require.Equal(t, exitFailed, run(t.Context(), denoising("a.png", "b.png"), strings.NewReader(""), closed, &stderr))
	require.Empty(t, stderr.String())
	require.NoFileExists(t, "b.denoised.png")
}

func TestFullDiskIsOneLine(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	full := brokenWriter{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}}
	for _, args := range [][]string{{"info"}, {"denoise", "a.png", "-o", "-", "-q"}, {"version", "--json"}} {
		var stderr bytes.Buffer
		require.Equal(t, exitFailed, run(t.Context(), args, strings.NewReader(""), full, &stderr), "%v", args)
		requireOneLine(t, stderr.String(), "standard output: "+syscall.ENOSPC.Error())
	}
}

// cancelling ends a context when it sees a text.
type cancelling struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

func TestInterruptLeavesNothing(t *testing.T) {
	inFolder(t)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	save(t, "a.png", picture(3, 60, 70, 8, 0.05))
	save(t, "b.png", picture(3, 60, 70, 8, 0.05))
	seeded(t, "euler")
	before := files(t)
	for _, at := range []string{" 0%", "residual", "estimating the blur:  3"} {
		for _, args := range [][]string{
			{"denoise", "--method", "tv", "--sigma", "0.3", "a.png"},
			{"denoise", "--method", "tv", "a.png", "-o", "out.png"},
			{"deblur", "--kernel", "k.png", "--sigma", "0.05", "a.png"},
			{"deblur", "--prior", "tv", "--sigma", "0.05", "a.png"},
			{"deblur", "--prior", "tv", "--kernel-grid", "1x2", "--sigma", "0.05", "a.png"},
			{"check", "--prior", "tv", "--kernel", "k.png", "--sigma", "0.05", "a.png"},
			{"denoise", "--weights", "euler.safetensors", "a.png"},
			{"deblur", "--weights", "euler.safetensors", "--kernel", "k.png", "--sigma", "0.05", "a.png"},
			{"check", "--weights", "euler.safetensors", "a.png"},
		} {
			if args[0] == "denoise" && args[1] == "--weights" && at == "residual" {
				continue // there is none
			}
			if strings.HasPrefix(at, "estimating") && (args[0] != "deblur" || slices.Contains(args, "--kernel")) {
				continue // the kernel is given
			}
			if testing.Short() && at == "residual" && args[0] == "deblur" && !slices.Contains(args, "--kernel") {
				continue // what a given kernel does, after an estimate that takes long under the race detector; go test ./... has it
			}
			ctx, cancel := context.WithCancel(t.Context())
			stderr := &cancelling{text: at, cancel: cancel}
			var stdout bytes.Buffer
			code := run(ctx, append(args, "--progress", "always"), strings.NewReader(""), &stdout, stderr)
			cancel()
			require.Equal(t, exitInterrupted, code, "%v at %s: %s", args, at, stderr.String())
			require.True(t, strings.HasSuffix(stderr.String(), "restore: interrupted\n"))
			require.Empty(t, stdout.String())
			require.Equal(t, before, files(t))
		}
	}
	// What was done before stays.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &cancelling{text: "b.png:   0%", cancel: cancel}
	require.Equal(t, exitInterrupted, run(ctx, []string{"denoise", "--sigma", "0.05", "a.png", "b.png", "--progress", "always"}, strings.NewReader(""), io.Discard, stderr))
	require.FileExists(t, "a.denoised.png")
	require.Len(t, files(t), len(before)+1)
	require.True(t, strings.HasSuffix(stderr.String(), "restore: 1 of 2 done; --skip-existing goes on with the others\nrestore: interrupted\n"), stderr.String())

	// Nothing begins under a context that has ended.
	for _, args := range [][]string{{"denoise", "b.png"}, {"degrade", "b.png", "--sigma", "0.1"}, {"compare", "a.png", "b.png"}, {"kernel", "box", "--size", "3", "-o", "box.png"}} {
		require.Equal(t, exitInterrupted, run(ctx, args, strings.NewReader(""), io.Discard, io.Discard), "%v", args)
	}
	require.Len(t, files(t), len(before)+1)
}

func TestInterruptWhileWaitingForInput(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	for _, args := range [][]string{denoising("-", "-o", "x.png"), denoising("a.png", "--weights", "-"), {"check", "--weights", "-"}} {
		silent, _ := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		reached := make(chan struct{})
		go func() {
			<-reached
			cancel()
		}()
		var stderr bytes.Buffer
		code := run(ctx, args, signallingReader{silent, reached}, io.Discard, &stderr)
		require.Equal(t, exitInterrupted, code)
		requireOneLine(t, stderr.String(), "interrupted")
		require.Equal(t, []string{"a.png"}, files(t))
	}
}

// signallingReader closes its channel when it is first read from.
type signallingReader struct {
	r       io.Reader
	reached chan struct{}
}

func (s signallingReader) Read(p []byte) (int, error) {
	close(s.reached)
	return s.r.Read(p)
}

func TestReadErrors(t *testing.T) {
	inFolder(t)
	r := restoringFrom(t, errorReader{errors.New("the cable was cut")}, denoising("-", "-o", "x.png")...)
	require.Equal(t, exitFailed, r.code)
	requireOneLine(t, r.stderr, "standard input: the cable was cut")
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }
