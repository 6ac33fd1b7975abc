package arrows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// What the documents link to is there: files, folders and headings.
func TestLinks(t *testing.T) {
	documents, err := filepath.Glob("../../*.md")
	require.NoError(t, err)
	documents = append(documents, pagesOf(t)...)
	notebook, err := filepath.Glob("../../docs/notebook/*.md")
	require.NoError(t, err)
	documents = append(documents, notebook...)
	documents = append(documents, "../../weights/README.md", "../../weights/CREDITS.md", "../../experiments/README.md")
	links := 0
	for _, document := range documents {
		content, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, link := range linksOf(string(content)) {
			target, anchor, _ := strings.Cut(link, "#")
			path := document
			if target != "" {
				path = filepath.Join(filepath.Dir(document), filepath.FromSlash(target))
			}
			_, err := os.Stat(path)
			require.NoError(t, err, "%s links to %s", document, link)
			if anchor != "" {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Contains(t, headings(string(text)), anchor, "%s links to %s", document, link)
			}
			links++
		}
	}
	require.Greater(t, links, 20)
}

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// linksOf returns the links of a text that are not to other hosts.
func linksOf(text string) []string {
	var links []string
	for _, m := range linkTarget.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") {
			links = append(links, m[1])
		}
	}
	return links
}

// headings returns the anchors of a text's headings.
func headings(text string) []string {
	var anchors []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return anchors
}

// The test of links itself finds what it must.
func TestLinksAreFound(t *testing.T) {
	require.Equal(t, []string{"a/b.md#c", "p.png", "#here"}, linksOf("[x](a/b.md#c) ![y](p.png) [z](https://example.org/q) [h](#here)"))
	require.Equal(t, []string{"what-is-here-what-is-not", "a"}, headings("# What is here, what is not\n\ntext\n## A\n"))
}
