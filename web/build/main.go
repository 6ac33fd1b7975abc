// Command build makes the files of the page that restores pictures in a browser: the library
// compiled to WebAssembly, what Go needs to run it there, weights, and the page itself, whose
// slider and style are those of reports (internal/htmlreport).
//
//	go run ./web/build -o web/dist
//
// It runs in the root of a checkout. The same checkout gives the same bytes, with one version of Go.
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"flag"
	"fmt"
	"html/template"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/averaged/imaging/internal/htmlreport"
)

//go:embed index.html
var indexHTML string

//go:embed style.css
var styleCSS string

//go:embed page.js
var pageJS string

//go:embed worker.js
var workerJS string

func main() {
	log.SetFlags(0)
	log.SetPrefix("web: ")
	output := flag.String("o", "web/dist", "the `folder` for the files; those of an earlier page in it are overwritten")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("takes no arguments, but there is %q", flag.Arg(0))
	}
	if err := build(*output); err != nil {
		log.Fatal(err)
	}
}

func build(output string) error {
	if err := os.MkdirAll(output, 0o777); err != nil {
		return err
	}
	files, err := contents()
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(output, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files by name.
func contents() (map[string][]byte, error) {
	index, err := index()
	if err != nil {
		return nil, err
	}
	root, err := run(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	exec, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, fmt.Errorf("this Go lacks its support of WebAssembly: %w", err)
	}
	program, err := compile()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"index.html": index, "style.css": []byte(htmlreport.Style() + styleCSS),
		"page.js": []byte(htmlreport.SliderScript() + pageJS), "worker.js": []byte(workerJS),
		"wasm_exec.js": exec, "restore.wasm.gz": program,
	}
	return files, nil
}

// index returns the page, with the slider of reports.
func index() ([]byte, error) {
	slider, err := htmlreport.Slider("the picture", htmlreport.View{Window: htmlreport.Window{Label: "all of it, pixel by pixel"}})
	if err != nil {
		return nil, err
	}
	page, err := template.New("page").Parse(indexHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, struct{ Slider template.HTML }{slider})
	return b.Bytes(), err
}

// compile returns the program, compressed.
func compile() ([]byte, error) {
	scratch, err := os.MkdirTemp("", "web")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch) // in the folder for what may vanish
	path := filepath.Join(scratch, "restore.wasm")
	if _, err := run([]string{"GOOS=js", "GOARCH=wasm", "GOWASM=", "GOFLAGS=", "CGO_ENABLED=0"},
		"go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path, "./web/wasm"); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// run runs a program with variables besides those of the environment, and returns what it prints.
func run(env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
