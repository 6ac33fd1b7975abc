package main

import (
	"time"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
)

// newProgress returns the bar for an input, or nil, which shows nothing.
func (a *app) newProgress(label string) *terminal.Bar {
	if a.Quiet || a.progress.value == "never" || a.progress.value == "auto" && !terminal.Is(a.Stderr) {
		return nil
	}
	return terminal.NewBar(a.Stderr, a.position+message.FileName(label))
}

// patience is after how long whileLong says something.
var patience = 2 * time.Second

// whileLong says what takes long, once it does, where progress is shown; the caller calls done
// when it has ended.
func (a *app) whileLong(what string) (done func()) {
	if a.newProgress("") == nil {
		return func() {}
	}
	ended, silent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(silent)
		select {
		case <-ended:
		case <-time.After(patience):
			a.Note("%s", what)
		}
	}()
	return func() {
		close(ended)
		<-silent
	}
}
