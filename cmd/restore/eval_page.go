package main

import (
	"context"
	"image"
	"slices"

	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/reportpage"
	"github.com/averaged/imaging/internal/evaluation"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
)

// evalPage is what --html writes. A nil one gathers nothing.
type evalPage struct {
	path    string
	force   bool
	run     *comparison
	about   findings.Section
	results *evaluation.Results
}

// newPage checks --html against all that eval reads; nil if there is none.
func (e *evalFlags) newPage(folder string, images []plan.Source) (*evalPage, error) {
	if e.html == "" {
		return nil, nil
	}
	files := append([]string{folder}, e.files()...)
	for _, s := range images {
		files = append(files, s.Path)
	}
	if err := checkReport("html", e.html, e.force, files); err != nil {
		return nil, err
	}
	return &evalPage{path: e.html, force: e.force}, nil
}

// begin says what is going to be measured.
func (p *evalPage) begin(r *comparison) error {
	if p == nil {
		return nil
	}
	p.run = r
	var labels []string
	for _, k := range r.contenders {
		labels = append(labels, k.label)
	}
	p.results = evaluation.NewResults(labels, len(r.flags.sigmas))
	p.about = findings.Section{Title: "What was measured", Paragraphs: []string{r.task.InWords(len(r.images), slices.Max(r.flags.sigmas) > 0)}}
	if r.task.Kernel != nil {
		k, err := reportpage.Kernel(*r.task.Kernel)
		if err != nil {
			return err
		}
		p.show("The kernel "+r.task.KernelFile, k)
	}
	if r.task.Mask != nil {
		m, err := maskPicture(r.task.Mask)
		if err != nil {
			return err
		}
		p.show("The mask "+r.task.MaskFile+": white pixels are missing", m)
	}
	networks := findings.Table{Name: "networks", Caption: "The networks", Header: []string{"method", "network", "file", "licence", "checksum"}}
	for _, k := range r.contenders {
		if n := k.networkInfo(); n != nil {
			networks.Rows = append(networks.Rows, []string{k.label, message.OneLine(n.Name), message.FileName(n.File), message.OneLine(n.Licence), message.OneLine(n.Checksum)})
		}
	}
	if len(networks.Rows) > 0 {
		p.about.Tables = append(p.about.Tables, networks)
	}
	return nil
}

// show adds a picture to what was measured.
func (p *evalPage) show(caption string, picture htmlreport.Picture) {
	p.about.Galleries = append(p.about.Galleries, findings.Gallery{Pictures: []findings.Picture{{Caption: caption, Picture: picture}}})
}

func maskPicture(m *image.Gray) (htmlreport.Picture, error) {
	size, pix := m.Bounds().Size(), make([]float32, len(m.Pix))
	for i, v := range m.Pix {
		pix[i] = float32(v) / 255
	}
	return htmlreport.Windows(size.X, size.Y, evaluation.LargestShown)[0].Draw(pix, 1, size.Y, size.X, 1)
}

// level begins what is measured at a noise level.
func (p *evalPage) level(sigma float64) {
	if p != nil {
		p.results.Level(sigma)
	}
}

// add takes what a contender made of an image.
func (p *evalPage) add(contender, index int, photo evaluation.Photograph, s evaluation.Score) error {
	if p == nil {
		return nil
	}
	return p.results.Add(contender, index, photo, s)
}

// fail takes what went wrong with an image.
func (p *evalPage) fail(text string) {
	if p != nil {
		p.results.Fail(text)
	}
}

// write writes the page once all has been measured, or ended as it was.
func (p *evalPage) write(ctx context.Context, a *app, ended error) error {
	if p == nil || p.results.Empty() {
		return ended
	}
	page := &findings.Page{
		Title: "restore eval: " + p.run.flags.task.value, Command: commandLine(a.args), Program: "restore " + build.This().Version,
		Sections: p.results.Sections(p.about),
	}
	return a.writeReport(ctx, p.path, p.force, page.Write, ended)
}
