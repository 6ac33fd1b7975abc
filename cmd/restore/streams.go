package main

import (
	"encoding/json"
	"fmt"
	"io"
)

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

// printJSON prints an object on one line.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
