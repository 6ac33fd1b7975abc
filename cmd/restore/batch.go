package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
)

// restoreOne restores the input of a task and writes the result. It returns what
// to say of it, for --json and for people.
type restoreOne func(ctx context.Context, index int, t plan.Task) (*record.Outcome, string, error)

// batch runs the tasks one after another: each uses all processors. One that
// fails does not stop the others, but an interrupt does.
func (a *app) batch(ctx context.Context, command string, tasks []plan.Task, one restoreOne) error {
	for _, t := range tasks {
		if err := a.refuseTerminal(t.Output); t.Err == nil && err != nil {
			return err
		}
	}
	done, failed, skipped := 0, 0, 0
	existing := false
	ofAll := a.Notes // made before the first input was read, about each of them
	interrupted := func() error {
		if len(tasks) > 1 {
			a.Note("%d of %d done; --skip-existing goes on with the others", done, len(tasks))
		}
		return ctx.Err()
	}
	for i, t := range tasks {
		if ctx.Err() != nil {
			return interrupted()
		}
		a.Input, a.Notes = t.Input, slices.Clone(ofAll)
		if len(tasks) > 1 {
			a.position = fmt.Sprintf("%d of %d: ", i+1, len(tasks))
		}
		rec := record.Input{Schema: record.Schema, Command: command, Input: t.Input, Output: t.Output}
		text, err := "", t.Err
		switch {
		case t.Exists:
			skipped++
			rec.Skipped, existing = true, true
			a.Detail("%s: skipped, %s exists", message.FileName(t.Input), message.OneLine(t.Output))
		case t.Unfit != "":
			skipped++
			rec.Skipped = true
			a.Remark(t.Input, "skipped, it %s", t.Unfit)
		case err == nil:
			rec.Outcome, text, err = one(ctx, i, t)
		}
		if ctx.Err() != nil && err != nil {
			return interrupted()
		}
		switch {
		case err != nil && a.stdout.err != nil:
			return a.stdout.err // told once, by run
		case err != nil:
			failed++
			rec.Outcome, rec.Error = nil, a.failTask(t, err)
		case !rec.Skipped:
			done++
		}
		rec.Notes = a.Notes
		if err := a.report(rec, t, text); err != nil {
			return err
		}
		if a.stdout.err != nil {
			return a.stdout.err // nobody can be told about further results
		}
	}
	if len(tasks) > 1 {
		a.Note("%d done, %d failed, %d skipped", done, failed, skipped)
	}
	switch {
	case failed > 0:
		return statusError(exitFailed)
	case done == 0:
		why := "no image was found"
		if existing {
			why = "every result exists already"
		}
		a.Note("nothing to do: %s", why)
		return statusError(exitNothing)
	}
	return nil
}

// failTask prints the error of a task and returns its text.
func (a *app) failTask(t plan.Task, err error) string {
	text := ""
	if fe, ok := err.(fileError); ok {
		text = fe.Error()
	} else {
		text = describe(t.Input, err)
	}
	text = message.OneLine(strings.TrimSpace(text))
	a.Fail(text)
	return text
}

// report prints what became of a task: JSON, or a line for people, which goes to
// standard error where standard output carries the image.
func (a *app) report(rec record.Input, t plan.Task, said string) error {
	text := fmt.Sprintf("%s%s -> %s: %s", a.position, message.FileName(t.Input), message.OutputName(t.Output), said)
	rec.Exact = record.ExactNames("input", t.Input, "output", t.Output)
	if o := rec.Outcome; o != nil {
		rec.Exact = record.ExactNames("input", t.Input, "output", t.Output, "kernel", o.Kernel, "mask", o.Mask)
	}
	a.enter(rec, said)
	switch {
	case a.json:
		return a.printJSON(rec)
	case rec.Outcome == nil || a.Quiet:
	case t.Output == message.StandardStream:
		a.Note("%s", text)
	default:
		a.result("%s", text)
	}
	return nil
}
