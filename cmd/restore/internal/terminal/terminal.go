// Package terminal knows whether a person sits behind a stream, and shows that person how far work has come.
package terminal

import (
	"os"
	"runtime"

	"golang.org/x/term"
)

// aware is a stream that knows whether a person sits behind it. Only a file
// among other streams can be a terminal.
type aware interface {
	IsTerminal() bool
	// Width is the number of columns.
	Width() int
}

// Is tells whether a person sits behind a stream.
func Is(stream any) bool {
	switch s := stream.(type) {
	case aware:
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
	case aware:
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

// Coloured tells whether a stream may be coloured (see no-color.org).
func Coloured(stream any) bool {
	if runtime.GOOS == "windows" && os.Getenv("WT_SESSION") == "" {
		return false // the old console prints control sequences as they are
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Is(stream)
}
