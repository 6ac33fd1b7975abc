package arrows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the documents show as Go is Go: each block under a line <!-- go --> is a function that go vet
// accepts as it stands, in a file that imports what it names.
func TestGoInDocuments(t *testing.T) {
	documents := append(pagesOf(t), "../../README.md")
	var files []string
	folder := t.TempDir()
	for _, document := range documents {
		content, err := os.ReadFile(document)
		require.NoError(t, err)
		blocks, err := goBlocks(string(content))
		require.NoError(t, err, document)
		for _, block := range blocks {
			file := filepath.Join(folder, fmt.Sprintf("block%d.go", len(files)))
			require.NoError(t, os.WriteFile(file, []byte(goFile(block)), 0o666))
			files = append(files, file)
		}
	}
	require.NotEmpty(t, files)
	vet := exec.Command("go", append([]string{"vet"}, files...)...)
	vet.Dir = "../.."
	out, err := vet.CombinedOutput()
	require.NoError(t, err, string(out))
}

// pagesOf returns the pages of the folder docs.
func pagesOf(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	return pages
}

// goBlocks returns the blocks of Go of a text that a line <!-- go --> stands before.
func goBlocks(text string) ([]string, error) {
	const mark, end = "<!-- go -->\n", "\n```\n"
	var blocks []string
	for {
		_, after, found := strings.Cut(text, mark)
		if !found {
			return blocks, nil
		}
		block, isGo := strings.CutPrefix(after, "```go\n")
		if !isGo {
			return nil, fmt.Errorf("<!-- go --> must stand right before a ```go block")
		}
		if block, text, found = strings.Cut(block, end); !found {
			return nil, fmt.Errorf("a block of Go does not end")
		}
		blocks = append(blocks, block)
	}
}

// importable are the packages that a block may name, by their paths.
var importable = []string{
	"context", "fmt", "image", "os",
	module + "/backend", module + "/backend/cpu", module + "/deblur", module + "/pnp", module + "/restore", module + "/train", module + "/tv",
	module + "/weights",
}

// goFile returns a file of Go with a block, and with the imports of what it names.
func goFile(block string) string {
	var file strings.Builder
	file.WriteString("package shown\n\n")
	for _, path := range importable {
		if name := path[strings.LastIndex(path, "/")+1:]; strings.Contains(block, name+".") {
			fmt.Fprintf(&file, "import %q\n", path)
		}
	}
	return file.String() + "\n" + block + "\n"
}

// The test of blocks itself finds what it must.
func TestGoBlocksAreFound(t *testing.T) {
	blocks, err := goBlocks("text\n<!-- go -->\n```go\na\n```\n```go\nb\n```\n<!-- go -->\n```go\nc\nd\n```\n")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c\nd"}, blocks)
	_, err = goBlocks("<!-- go -->\n\n```go\na\n```\n")
	require.ErrorContains(t, err, "right before")
	_, err = goBlocks("<!-- go -->\n```go\na\n")
	require.ErrorContains(t, err, "does not end")
	require.Equal(t, "package shown\n\nimport \"fmt\"\n\nfmt.Println()\n", goFile("fmt.Println()"))
}
