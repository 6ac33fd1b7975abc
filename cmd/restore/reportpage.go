package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/htmlreport"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/imagefile/atomicfile"
	"github.com/averaged/imaging/restore"
)

// reportPage gathers what --report writes. A nil one gathers nothing.
type reportPage struct {
	path     string
	force    bool
	budget   int // of the pictures of an input
	pictured int // inputs that have some
	restored int
	page     htmlreport.Page

	entry htmlreport.Entry // of the task under way
	gaps  []htmlreport.Series
}

// newPage checks --report against all that the command reads and writes; nil if there is none.
func (b *batchFlags) newPage(a *app, c *cobra.Command, tasks []task, files []string) (*reportPage, error) {
	if b.report == "" {
		return nil, nil
	}
	p := &reportPage{path: b.report, force: b.force, page: htmlreport.Page{
		Title: "restore " + c.Name(), Version: thisBuild().Version, Command: commandLine(a.args),
	}}
	for _, t := range tasks {
		files = append(files, t.input, t.output)
		if t.err == nil && !t.exists && t.unfit == "" {
			p.pictured++
		}
	}
	if err := checkReport("report", p.path, p.force, files); err != nil {
		return nil, err
	}
	p.budget, p.pictured = htmlreport.Budget(p.pictured), 0
	if len(tasks) == 1 {
		p.page.Title += ": " + name(tasks[0].input)
	}
	return p, nil
}

// checkReport checks where a flag wants a page to be written, by a command that reads and writes
// the given files, some of which may have no name.
func checkReport(flag, path string, force bool, files []string) error {
	if path == standardStream {
		return usagef("--%s -: standard output is for results; name a file", flag)
	}
	info, err := os.Stat(path)
	special := err == nil && !info.Mode().IsRegular() && !info.IsDir() // a device or a pipe
	extension := strings.ToLower(filepath.Ext(path))
	switch {
	case err == nil && info.IsDir():
		return usagef("--%s %s: it is a folder; a file name is needed", flag, oneLine(path))
	case !special && extension != ".html" && extension != ".htm":
		return usagef("--%s %s: the report is a page for a browser; name it FILE.html", flag, oneLine(path))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fileError{path, err}
	}
	for _, f := range files {
		if f != "" && f != standardStream && !special && (identity(f) == identity(path) || sameFile(f, path)) {
			return usagef("--%s %s: the report would take the place of this file, which is read or written too; give another name", flag, oneLine(path))
		}
	}
	if err == nil && !special && !force {
		return fileError{path, errors.New("the report exists already; --force overwrites it, and another name leaves it")}
	}
	return nil
}

// before draws an image before it is restored; m is as the result will be.
func (p *reportPage) before(img *restore.Planar, m *imagefile.Image) error {
	if p == nil {
		return nil
	}
	p.entry, p.gaps = htmlreport.Entry{}, nil
	if p.pictured == htmlreport.MaxPictured {
		return nil
	}
	p.pictured++
	for _, window := range htmlreport.Windows(m.Width, m.Height, p.budget) {
		picture, err := window.Draw(img.Pix, img.Channels, img.Height, img.Width, m.Width/img.Width)
		if err != nil {
			return err
		}
		v := htmlreport.View{Window: window, Before: picture}
		if window.Reduction > 1 {
			v.Note = fmt.Sprintf("The picture has %d×%d pixels, too many for this page, so it is shown reduced: noise and fine detail look weaker than they are. --preview shows other places.", m.Width, m.Height)
		}
		if m.Metadata.ICC != nil {
			v.Note = strings.TrimSpace(v.Note + " Shown without the colour profile of the file.")
		}
		p.entry.Views = append(p.entry.Views, v)
	}
	return nil
}

// progress keeps the duality gaps of total variation; other iterations report their residuals.
func (p *reportPage) progress(at backend.Progress) {
	if p == nil || at.Iteration == 0 {
		return
	}
	x := float64(at.Iteration)
	if n := len(p.gaps); n == 0 || p.gaps[n-1].X[len(p.gaps[n-1].X)-1] > x { // the next axes of colour
		p.gaps = append(p.gaps, htmlreport.Series{Name: fmt.Sprintf("relative duality gap %d", n+1)})
	}
	g := &p.gaps[len(p.gaps)-1]
	if k := len(g.X); k > 0 && g.X[k-1] == x {
		return // the end is reported once more
	}
	g.X, g.Y = append(g.X, x), append(g.Y, at.Residual)
}

// after draws the result m, and says what is known of the run.
func (p *reportPage) after(m *imagefile.Image, kernel deblur.Kernel, o *outcome, r *restore.Report) (err error) {
	if p == nil {
		return nil
	}
	e := &p.entry
	for i := range e.Views {
		if e.Views[i].After, err = e.Views[i].Draw(m.Pix, m.Channels, m.Height, m.Width, 1); err != nil {
			return err
		}
	}
	if len(e.Views) > 0 && len(kernel.Weights) > 0 {
		k, err := kernelPicture(kernel)
		if err != nil {
			return err
		}
		e.Kernel = &k
	}
	e.Facts = factsOf(o)
	if e.Levels, err = levelPicture(r.Noise.Estimate); err != nil {
		return err
	}
	switch {
	case r.Iteration.Run != nil:
		e.Residuals = residualChart(*r.Iteration.Run)
		e.Proof = r.Iteration.Run.Certificate.String()
	case r.Network.Certificate != nil:
		e.Proof = r.Network.Certificate.String()
	case len(p.gaps) > 0:
		e.Residuals = gapChart(p.gaps, r.Iteration.Tolerance)
	}
	e.Certificate = certificateInWords(o, r)
	return nil
}

// add ends the entry of a task.
func (p *reportPage) add(rec record, said string) {
	if p == nil {
		return
	}
	e := p.entry
	p.entry, p.gaps = htmlreport.Entry{}, nil
	switch {
	case rec.outcome != nil:
		p.restored++
		e.Summary = said
		if len(e.Views) == 0 {
			e.Summary += fmt.Sprintf(". Pictures are those of the first %d inputs", htmlreport.MaxPictured)
		}
	case rec.Skipped:
		e = htmlreport.Entry{Summary: "skipped"}
	default:
		e = htmlreport.Entry{Failure: rec.Error}
	}
	e.Name, e.Doubts, e.Record = name(rec.Input), slices.Clone(rec.Notes), rec
	if rec.outcome != nil {
		e.Output = outputName(rec.Output)
	}
	p.page.Entries = append(p.page.Entries, e)
}

// writePage writes the page once a batch has ended, as batch said.
func (a *app) writePage(ctx context.Context, ended error) error {
	p := a.page
	if p == nil || p.restored == 0 {
		return ended
	}
	return a.writeReport(ctx, p.path, p.force, p.page.Write, ended)
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
		a.note("report: %s", path)
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
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}

// quoted is a word for a POSIX shell, and for most others unless it is an odd one. What cannot be
// printed is as bash, zsh and ksh have it.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case oneLine(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c <= '~':
			b.WriteByte(c)
		default:
			b.WriteString(`\x` + strconv.FormatUint(uint64(c)+256, 16)[1:])
		}
	}
	return "$'" + b.String() + "'"
}
