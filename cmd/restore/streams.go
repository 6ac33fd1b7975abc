package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/averaged/imaging/cmd/restore/internal/terminal"
)

// standardStream is how the command line calls standard input and output.
const standardStream = "-"

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
	if terminal.Coloured(a.stderr) {
		prefix = "\x1b[31mrestore:\x1b[0m"
	}
	fmt.Fprintf(a.stderr, "%s %s\n", prefix, oneLine(strings.TrimSpace(text)))
}
