// Package findings writes what was measured as a page: tables, distributions and lines as SVG, and
// pictures, in one HTML file that fetches nothing, or in a folder with each table as CSV too and
// each figure as SVG.
//
// Text is escaped wherever it comes from, and a policy in the page forbids every script, every
// style but its own, and every request. Equal pages give equal bytes.
package findings

import (
	"context"
	_ "embed"
	"encoding/csv"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/internal/htmlreport"
)

// Page is the report of an experiment or of a comparison. What is empty is left out.
type Page struct {
	Title string
	// Command repeats it, quoted for a shell, with Program, a name and a version.
	Command, Program string
	Sections         []Section
}

// Section has what belongs together, in the order of its fields.
type Section struct {
	Title      string
	Paragraphs []string
	Tables     []Table
	Figures    []Figure
	Galleries  []Gallery
	// Verdict says what follows.
	Verdict string
}

// Table is written as Name.csv as well, in a folder.
type Table struct {
	Name, Caption string
	Header        []string
	Rows          [][]string
}

// Figure is written as Name.svg as well, in a folder.
type Figure struct {
	Name, Caption string
	// SVG is a file of its own, on white. The style of a page draws it in the page's colours, by its
	// classes.
	SVG string
}

// Drawing is the element that shows the figure. Lines and Violins escape what it says.
func (f Figure) Drawing() template.HTML { return template.HTML(f.SVG) }

// Gallery are pictures to be seen side by side.
type Gallery struct {
	Title    string
	Pictures []Picture
}

// Picture is a photograph, or a part of one.
type Picture struct {
	Caption string
	htmlreport.Picture
}

// NewPicture draws planes of samples, 0 black and 1 white, one (grey) or three of them; what lies
// outside is clipped, and not-a-number is black.
func NewPicture(caption string, samples []float32, channels, h, w int) (Picture, error) {
	p, err := htmlreport.Window{Width: w, Height: h, Reduction: 1}.Draw(samples, channels, h, w, 1)
	return Picture{caption, p}, err
}

// Small tells whether a page enlarges the picture: its pixels are to be seen then.
func (p Picture) Small() bool { return p.Width < 230 }

//go:embed page.html
var pageHTML string

//go:embed page.css
var ownCSS string

// style is that of reports, and what they do not have.
var style = htmlreport.Style() + ownCSS

var layout = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(style) },
	"policy": func() string { return htmlreport.Policy(style, "") },
}).Parse(pageHTML))

// written is a page as it is written: with files of its tables and figures beside it, or alone.
type written struct {
	*Page
	Files bool
}

// Write writes the page alone. Its errors are those of w.
func (p *Page) Write(w io.Writer) error { return layout.Execute(w, written{p, false}) }

// WriteFolder makes the folder, and writes report.html and the tables and figures into it. Files of
// those names are replaced, each when it is whole.
func (p *Page) WriteFolder(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	file := func(name string, write func(io.Writer) error) error {
		return atomicfile.Write(ctx, filepath.Join(folder, name), true, write)
	}
	for _, s := range p.Sections {
		for _, t := range s.Tables {
			if err := file(t.Name+".csv", t.writeCSV); err != nil {
				return err
			}
		}
		for _, f := range s.Figures {
			err := file(f.Name+".svg", func(w io.Writer) error {
				_, err := io.WriteString(w, f.SVG)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return file("report.html", func(w io.Writer) error { return layout.Execute(w, written{p, true}) })
}

func (t Table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Header); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}
