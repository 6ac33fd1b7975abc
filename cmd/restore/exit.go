package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"

	"github.com/averaged/imaging/cmd/restore/internal/devices"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/weights"
)

// The exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1 // some input failed; the others are done
	exitUsage       = 2
	exitNothing     = 3 // there was nothing to do
	exitInterrupted = 130
)

// usageError is a command line that makes no sense: exit status 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// statusError ends the command with a status about which all has been said.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// fileError is what went wrong with one file.
type fileError struct {
	path string
	err  error
}

func (e fileError) Error() string { return describe(e.path, e.err) }
func (e fileError) Unwrap() error { return e.err }

// status returns the exit status for what a command returned.
func status(ctx context.Context, err error) int {
	var code statusError
	var usage usageError
	var device devices.Unavailable
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage), errors.As(err, &device):
		return exitUsage
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return exitInterrupted
	}
	return exitFailed
}

// isClosedPipe tells whether a write failed because nobody reads any more.
func isClosedPipe(err error) bool {
	const (
		errorBrokenPipe = syscall.Errno(109) // ERROR_BROKEN_PIPE
		errorNoData     = syscall.Errno(232) // ERROR_NO_DATA: the pipe is being closed
	)
	if runtime.GOOS == "windows" && (errors.Is(err, errorBrokenPipe) || errors.Is(err, errorNoData)) {
		return true
	}
	return errors.Is(err, syscall.EPIPE)
}

// describe returns "FILE: what is wrong; what would be right" on one line.
func describe(path string, err error) string {
	var pe *fs.PathError
	text := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = "no such file"
	case errors.Is(err, fs.ErrPermission):
		text = "permission denied"
	case errors.Is(err, fs.ErrExist):
		text = "exists already; --force overwrites it"
	case errors.As(err, &pe):
		text = pe.Err.Error()
	default:
		text = plain(strings.TrimPrefix(err.Error(), path+": "))
	}
	if errors.Is(err, imagefile.ErrTooManyPixels) {
		text += "; --max-pixels raises the limit"
	}
	if errors.Is(err, imagefile.ErrRaw) {
		text += "; develop it to a TIFF or PNG first, or 'restore denoise FILE.dng' removes noise from it as it is"
	}
	if errors.Is(err, denoise.ErrWork) {
		text += "; --max-work raises the limit"
	}
	if errors.Is(err, weights.ErrChecksum) {
		text += "; the file was changed or damaged, get it anew"
	}
	if errors.Is(err, imagefile.ErrAlpha) {
		text += " with --alpha drop"
	}
	return message.FileName(path) + ": " + text
}

// plain takes the names of packages out of an error's text: a person at a
// terminal has no use for them.
func plain(text string) string {
	for _, p := range []string{"restore", "raw", "camera noise", "deblur", "denoise", "weights", "pnp", "tv", "noise", "imagefile", "quality", "backend", "cpu", "cuda", "vulkan"} {
		text = strings.TrimPrefix(text, p+": ")
		text = strings.ReplaceAll(text, ": "+p+": ", ": ")
	}
	return text
}
