package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/cmd/restore/internal/reportpage"
	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/internal/htmlreport"
)

// newPage checks --report against all that the command reads and writes; nil if there is none.
func (b *batchFlags) newPage(a *app, c *cobra.Command, tasks []plan.Task, files []string) (*reportpage.Page, error) {
	if b.report == "" {
		return nil, nil
	}
	head := htmlreport.Page{Title: "restore " + c.Name(), Version: build.This().Version, Command: commandLine(a.args)}
	if len(tasks) == 1 {
		head.Title += ": " + message.FileName(tasks[0].Input)
	}
	pictured := 0
	for _, t := range tasks {
		files = append(files, t.Input, t.Output)
		if t.Err == nil && !t.Exists && t.Unfit == "" {
			pictured++
		}
	}
	return reportpage.New(head, pictured), checkReport("report", b.report, b.Force, files)
}

// checkReport checks where a flag wants a page to be written, by a command that reads and writes
// the given files, some of which may have no name.
func checkReport(flag, path string, force bool, files []string) error {
	if path == message.StandardStream {
		return usagef("--%s -: standard output is for results; name a file", flag)
	}
	info, err := os.Stat(path)
	special := err == nil && !info.Mode().IsRegular() && !info.IsDir() // a device or a pipe
	extension := strings.ToLower(filepath.Ext(path))
	switch {
	case err == nil && info.IsDir():
		return usagef("--%s %s: it is a folder; a file name is needed", flag, message.OneLine(path))
	case !special && extension != ".html" && extension != ".htm":
		return usagef("--%s %s: the report is a page for a browser; name it FILE.html", flag, message.OneLine(path))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fileError{path, err}
	}
	for _, f := range files {
		if f != "" && f != message.StandardStream && !special && plan.Same(f, path) {
			return usagef("--%s %s: the report would take the place of this file, which is read or written too; give another name", flag, message.OneLine(path))
		}
	}
	if err == nil && !special && !force {
		return fileError{path, errors.New("the report exists already; --force overwrites it, and another name leaves it")}
	}
	return nil
}

// enter ends the entry of an input on the page of --report.
func (a *app) enter(rec record.Input, said string) {
	if a.page == nil {
		return
	}
	e := htmlreport.Entry{Name: message.FileName(rec.Input), Doubts: slices.Clone(rec.Notes), Record: rec}
	switch o := rec.Outcome; {
	case o != nil:
		e.Output, e.Summary, e.Facts, e.Certificate = message.OutputName(rec.Output), said, o.Facts(), o.Proof()
		a.page.Restored(e)
		return
	case rec.Skipped:
		e.Summary = "skipped"
	default:
		e.Failure = rec.Error
	}
	a.page.Left(e)
}

// writePage writes the page of --report once a batch has ended, as batch said.
func (a *app) writePage(ctx context.Context, b *batchFlags, ended error) error {
	if a.page.Empty() {
		return ended
	}
	return a.writeReport(ctx, b.report, b.Force, a.page.Write, ended)
}

// writeReport writes a page that is about something, once its command has ended. One that was
// interrupted, and one that could do nothing, has none.
func (a *app) writeReport(ctx context.Context, path string, force bool, write func(io.Writer) error, ended error) error {
	var code statusError
	if ended != nil && !errors.As(ended, &code) {
		return ended
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = atomicfile.Write(ctx, path, force, write)
	}
	switch {
	case err == nil:
		a.Note("report: %s", path)
		return ended
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fileError{path, err}
}

// commandLine is what to type, in a shell, for a run with the given arguments.
func commandLine(args []string) string {
	words := []string{"restore"}
	for _, arg := range args {
		words = append(words, message.Quoted(arg))
	}
	return strings.Join(words, " ")
}
