package htmlreport

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

// Page is the report of one run of a command.
type Page struct {
	// Title is what the page is about, Version the program's.
	Title, Version string
	// Command repeats the run, quoted for a shell.
	Command string
	// Entries are the inputs, in their order. With more than one the page has an index.
	Entries []Entry
}

// Entry is about one input. What is empty is left out.
type Entry struct {
	// Name is the input's, Output where its result went.
	Name, Output string
	// Summary is what became of it, in a line; Failure why there is no result.
	Summary, Failure string
	// Views are what there is to look at, the whole picture first.
	Views []View
	// Facts are numbers and words with a name each.
	Facts []Fact
	// Levels are the noise levels of the squares of the picture, the highest white.
	Levels *Picture
	// Kernel is the blur that was removed, black where it has no weight.
	Kernel *Picture
	// Residuals are those of the iterations, beside their bound.
	Residuals *Chart
	// Certificate says what is proven, a sentence each, and Proof has the constants with their
	// theorems, in lines.
	Certificate []string
	Proof       string
	// Doubts are what may be wrong, or was not kept.
	Doubts []string
	// Record is the JSON object of the input; programs find it in the page.
	Record any
}

// Fact is a line of a list.
type Fact struct{ Name, Value string }

// View is a part of the picture before and after.
type View struct {
	Window
	Before, After Picture
	// Note says what is to be known of how it is shown.
	Note string
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var startJS string

// pageJS is all that runs in a page.
var pageJS = sliderJS + startJS

var layout = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":    func() template.CSS { return template.CSS(pageCSS) },
	"script":   func() template.JS { return template.JS(pageJS) },
	"policy":   func() string { return Policy(pageCSS, pageJS) },
	"compared": func(name string, v View) compared { return compared{name, v} },
	"add":      func(a, b int) int { return a + b },
}).Parse(pageHTML))

// Policy is the content security policy of a page: pictures are in the page, its style and its
// script, which may be empty, are known by their hashes, and nothing else is allowed.
func Policy(style, script string) string {
	allowed := fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; ", hash(style))
	if script != "" {
		allowed += fmt.Sprintf("script-src '%s'; ", hash(script))
	}
	return allowed + "base-uri 'none'; form-action 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes the page. Its errors are those of w, and of a Record that is no JSON.
func (p *Page) Write(w io.Writer) error { return layout.Execute(w, p) }
