package message

import (
	"fmt"
	"io"
	"strings"

	"github.com/averaged/imaging/cmd/restore/internal/terminal"
)

// Printer prints notes and errors on standard error. When that is gone there is nobody left to tell.
type Printer struct {
	Stderr         io.Writer
	Quiet, Verbose bool     // of the flags -q and -v
	Input          string   // of the task under way
	Notes          []string // about the task under way, or the whole run before the first one
}

// Note prints a line that is not an error, unless -q is given.
func (p *Printer) Note(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintf(p.Stderr, "restore: %s\n", OneLine(fmt.Sprintf(format, args...)))
	}
}

// Detail is a note for -v.
func (p *Printer) Detail(format string, args ...any) {
	if p.Verbose {
		p.Note(format, args...)
	}
}

// Remark prints a note about a file, or about the whole run where path is "", and keeps it for
// the JSON object of the input.
func (p *Printer) Remark(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	printed := text
	if path != "" {
		printed = FileName(path) + ": " + text
	}
	p.Note("note: %s", printed)
	if path == p.Input {
		printed = text
	}
	p.Notes = append(p.Notes, OneLine(printed))
}

// Fail prints an error.
func (p *Printer) Fail(text string) {
	prefix := "restore:"
	if terminal.Coloured(p.Stderr) {
		prefix = "\x1b[31mrestore:\x1b[0m"
	}
	fmt.Fprintf(p.Stderr, "%s %s\n", prefix, OneLine(strings.TrimSpace(text)))
}
