package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// standardStream is how the command line calls standard input and output.
const standardStream = "-"

// terminal is a stream that knows whether a person sits behind it. Only a file
// among other streams can be a terminal.
type terminal interface {
	IsTerminal() bool
	// Width is the number of columns.
	Width() int
}

func isTerminal(stream any) bool {
	switch s := stream.(type) {
	case terminal:
		return s.IsTerminal()
	case *os.File:
		return term.IsTerminal(int(s.Fd()))
	}
	return false
}

// columns is the width of a terminal, 80 if it is unknown.
func columns(stream any) int {
	w := 0
	switch s := stream.(type) {
	case terminal:
		w = s.Width()
	case *os.File:
		if n, _, err := term.GetSize(int(s.Fd())); err == nil {
			w = n
		}
	}
	if w < 1 {
		return 80
	}
	return w
}

// inColour tells whether a stream may be coloured (see no-color.org).
func inColour(stream any) bool {
	if runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == "" {
		return false // the old console prints control sequences as they are
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(stream)
}

// resultStream is standard output. It keeps the first error, and writes nothing
// after it.
type resultStream struct {
	w   io.Writer
	err error
}

func (r *resultStream) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.w.Write(p)
	r.err = err
	return n, err
}

// result prints a line of results; an error of it ends the run (see run).
func (a *app) result(format string, args ...any) {
	fmt.Fprintf(a.stdout, format+"\n", args...)
}

// note prints a line that is not an error on standard error, unless -q is given.
// When standard error is gone there is nobody left to tell.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, "restore: %s\n", oneLine(fmt.Sprintf(format, args...)))
	}
}

// detail is a note for -v.
func (a *app) detail(format string, args ...any) {
	if a.verbose {
		a.note(format, args...)
	}
}

// remark prints a note about a file, or about the whole run where path is "", and keeps it for
// the JSON object of the input.
func (a *app) remark(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	printed := text
	if path != "" {
		printed = name(path) + ": " + text
	}
	a.note("note: %s", printed)
	if path == a.input {
		printed = text
	}
	a.notes = append(a.notes, oneLine(printed))
}

// fail prints an error.
func (a *app) fail(text string) {
	prefix := "restore:"
	if inColour(a.stderr) {
		prefix = "\x1b[31mrestore:\x1b[0m"
	}
	fmt.Fprintf(a.stderr, "%s %s\n", prefix, oneLine(strings.TrimSpace(text)))
}
