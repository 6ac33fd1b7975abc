// Package reportpage gathers what is to be seen of a batch for the page of --report: pictures before and after, the kernel and the
// noise levels as pictures, and the residuals as a chart.
package reportpage

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/htmlreport"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// Page gathers what a page is to show, one input after another. A nil one gathers nothing.
type Page struct {
	budget   int // of the pictures of an input
	pictured int // inputs that have some
	restored int
	page     htmlreport.Page

	entry htmlreport.Entry // of the input under way
	gaps  []htmlreport.Series
}

// New returns a page about so many inputs, without entries so far.
func New(head htmlreport.Page, inputs int) *Page {
	return &Page{page: head, budget: htmlreport.Budget(inputs)}
}

// Before draws an image before it is restored; m is as the result will be.
func (p *Page) Before(img *restore.Planar, m *imagefile.Image) error {
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

// Progress keeps the duality gaps of total variation; other iterations report their residuals.
func (p *Page) Progress(at backend.Progress) {
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

// After draws the result m and the kernel of a blur that was removed, which may be the zero value, and what a report says of
// the run.
func (p *Page) After(m *imagefile.Image, kernel deblur.Kernel, r *restore.Report) (err error) {
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
		k, err := Kernel(kernel)
		if err != nil {
			return err
		}
		e.Kernel = &k
	}
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
	return nil
}

// Restored ends the entry of an input with what is said of it; pictures and charts are added.
func (p *Page) Restored(said htmlreport.Entry) {
	if p == nil {
		return
	}
	e := p.entry
	e.Name, e.Output, e.Summary, e.Facts, e.Certificate, e.Doubts, e.Record = said.Name, said.Output, said.Summary, said.Facts, said.Certificate, said.Doubts, said.Record
	if len(e.Views) == 0 {
		e.Summary += fmt.Sprintf(". Pictures are those of the first %d inputs", htmlreport.MaxPictured)
	}
	p.restored++
	p.end(e)
}

// Left ends the entry of an input that was not restored: it was skipped, or failed.
func (p *Page) Left(said htmlreport.Entry) {
	if p != nil {
		p.end(said)
	}
}

func (p *Page) end(e htmlreport.Entry) {
	p.page.Entries = append(p.page.Entries, e)
	p.entry, p.gaps = htmlreport.Entry{}, nil
}

// Empty tells whether nothing was restored.
func (p *Page) Empty() bool { return p == nil || p.restored == 0 }

// Write writes the page.
func (p *Page) Write(w io.Writer) error { return p.page.Write(w) }

// Kernel draws a kernel, its largest weight white.
func Kernel(k deblur.Kernel) (htmlreport.Picture, error) {
	pix := slices.Clone(k.Weights)
	if largest := slices.Max(pix); largest > 0 {
		for i := range pix {
			pix[i] /= largest
		}
	}
	return htmlreport.Window{Width: k.W, Height: k.H, Reduction: 1}.Draw(pix, 1, k.H, k.W, 1)
}

// levelPicture draws the noise levels of an image's squares, the highest white.
func levelPicture(e *restore.NoiseEstimate) (*htmlreport.Picture, error) {
	if e == nil || e.Levels == nil || e.Levels.Max() == 0 {
		return nil, nil
	}
	m := e.Levels
	pix := slices.Clone(m.Sigma)
	for i := range pix {
		pix[i] /= float32(m.Max())
	}
	p, err := htmlreport.Window{Width: m.Columns, Height: m.Rows, Reduction: 1}.Draw(pix, 1, m.Rows, m.Columns, 1)
	return &p, err
}
