// Package page writes what an experiment found: report.html, one file that fetches nothing, each
// table as CSV too and each figure as SVG.
package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/internal/imagefile/atomicfile"
)

// Page is the report of an experiment.
type Page struct {
	Title string
	// Command repeats it.
	Command  string
	Sections []Section
}

// Section has what belongs together, in the order of its fields.
type Section struct {
	Title      string
	Paragraphs []string
	Tables     []Table
	Figures    []Figure
	Pictures   []Picture
	// Verdict says what agrees with the paper and what does not.
	Verdict string
}

// Table is written as Name.csv as well.
type Table struct {
	Name, Caption string
	Header        []string
	Rows          [][]string
}

// Figure is written as Name.svg as well.
type Figure struct {
	Name, Caption string
	SVG           string
}

// Source is the attribute of an image that shows the figure.
func (f Figure) Source() template.HTMLAttr { return source("image/svg+xml", []byte(f.SVG)) }

// Picture is a photograph that is part of a figure.
type Picture struct {
	Caption       string
	Width, Height int
	png           []byte
}

// Source is the attribute of an image that shows the picture.
func (p Picture) Source() template.HTMLAttr { return source("image/png", p.png) }

// source is of bytes of our own making; base64 needs no escaping.
func source(kind string, data []byte) template.HTMLAttr {
	return template.HTMLAttr(`src="data:` + kind + `;base64,` + base64.StdEncoding.EncodeToString(data) + `"`)
}

// NewPicture draws planes of samples, 0 black and 1 white, one (grey) or three of them; what lies
// outside is clipped, and not-a-number is black.
func NewPicture(caption string, samples []float32, channels, h, w int) (Picture, error) {
	if channels != 1 && channels != 3 || h < 1 || w < 1 || len(samples) != channels*h*w {
		return Picture{}, fmt.Errorf("page: %d samples are no picture of %d planes of %d×%d", len(samples), channels, h, w)
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for p := range h * w {
		img.Pix[4*p+3] = 255
		for c := range 3 {
			v := samples[min(c, channels-1)*h*w+p]
			level := uint8(0)
			if v > 0 {
				level = uint8(min(v, 1)*255 + 0.5)
			}
			img.Pix[4*p+c] = level
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return Picture{}, err
	}
	return Picture{caption, w, h, b.Bytes()}, nil
}

const style = `
:root { color-scheme: light; }
body { margin: 0 auto; padding: 0 16px 32px; max-width: 1000px; background: #fcfcfb; color: #1c1d1f; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-top: 1px solid #d9dadc; padding-top: 1rem; }
p { max-width: 75ch; } pre { background: #f1f1ef; padding: 8px 12px; white-space: pre-wrap; font: 13px/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; font-size: 0.875rem; margin: 0.6rem 0; } caption, figcaption { text-align: left; color: #5d6166; font-size: 0.875rem; }
th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid #d9dadc; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } figure img { width: 100%; max-width: 760px; height: auto; }
.pictures { display: flex; flex-wrap: wrap; gap: 12px; } .pictures figure { margin: 0; width: 230px; } .pictures img { image-rendering: pixelated; }
.verdict { border-left: 4px solid #0b5cad; padding: 2px 12px; }
`

var layout = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
	"policy": func() string {
		sum := sha256.Sum256([]byte(style))
		return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	},
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>{{style}}</style>
</head>
<body>
<h1>{{.Title}}</h1>
{{- with .Command}}
<pre>{{.}}</pre>
{{- end}}
{{- range .Sections}}
<section>
<h2>{{.Title}}</h2>
{{- range .Paragraphs}}
<p>{{.}}</p>
{{- end}}
{{- range .Tables}}
<table>
<caption>{{.Caption}} ({{.Name}}.csv)</caption>
<thead><tr>{{range .Header}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{- range .Rows}}
<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{- end}}
</tbody>
</table>
{{- end}}
{{- range .Figures}}
<figure><img {{.Source}} alt="{{.Caption}}"><figcaption>{{.Caption}} ({{.Name}}.svg)</figcaption></figure>
{{- end}}
{{- with .Pictures}}
<div class="pictures">
{{- range .}}
<figure><img {{.Source}} width="{{.Width}}" height="{{.Height}}" alt="{{.Caption}}"><figcaption>{{.Caption}}</figcaption></figure>
{{- end}}
</div>
{{- end}}
{{- with .Verdict}}
<p class="verdict">{{.}}</p>
{{- end}}
</section>
{{- end}}
</body>
</html>
`))

// Write makes the folder, and writes the report and its tables and figures into it. Files of
// those names are replaced, each when it is whole.
func (p *Page) Write(ctx context.Context, folder string) error {
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
	return file("report.html", func(w io.Writer) error { return layout.Execute(w, p) })
}

func (t Table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Header); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}
