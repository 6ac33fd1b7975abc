package main

import (
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/cmd/restore/internal/message"
)

// The manual has a page for every command, and each tells every flag in the words of help.
func TestManualIsComplete(t *testing.T) {
	inFolder(t)
	require.Empty(t, succeeds(t, "man", "-o", "man1/").stdout)
	pages := map[string]bool{}
	for _, f := range files(t) {
		pages[f] = true
	}
	request := regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|EX|EE|br|nh|ad)\s`)
	escape := regexp.MustCompile(`\\(-|e|&|f[BIR]|\((aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,5}\])`)
	var every func(c *cobra.Command)
	every = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		path := filepath.ToSlash(filepath.Join("man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		require.Contains(t, pages, path)
		delete(pages, path)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		page := string(content)
		require.Equal(t, page, succeeds(t, append([]string{"man"}, strings.Fields(c.CommandPath())[1:]...)...).stdout)

		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
				require.Regexp(t, request, line, path)
			}
			require.NotContains(t, escape.ReplaceAllString(line, ""), `\`, "%s: %s", path, line)
			require.NotRegexp(t, `[^\n -~]`, line, path)
		}
		text := unroff(page)
		require.Contains(t, text, c.Short)
		for _, word := range strings.Fields(c.Long + " " + strings.Join(slices.Collect(maps.Values(c.Annotations)), " ")) {
			require.Contains(t, text, strings.Trim(word, "#"), path)
		}
		for line := range strings.Lines(c.Example) {
			require.Contains(t, text, strings.TrimSuffix(line, "\n"), path)
		}
		tell := func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			named := "--" + f.Name
			if f.Shorthand != "" {
				named = "-" + f.Shorthand + ", " + named
			}
			value, usage := pflag.UnquoteUsage(f)
			if value != "" {
				named += " " + value
			}
			told := strings.Join(strings.Fields(usage), " ")
			if f.NoOptDefVal == "" || f.Value.Type() == "bool" {
				told = named + "\n" + told
			} else {
				told = named + "[=" + f.NoOptDefVal + "]\n" + told
			}
			require.True(t, strings.Contains(text, "\n.TP\n"+told), "%s has no %q", path, told)
		}
		c.LocalFlags().VisitAll(tell)
		c.InheritedFlags().VisitAll(tell)
		for _, sub := range c.Commands() {
			require.Contains(t, text, "\n.TP\n"+sub.Name()+"\n"+sub.Short+"\n", path)
			every(sub)
		}
	}
	every((&app{Printer: message.Printer{Stderr: io.Discard}, stdin: strings.NewReader(""), stdout: &resultStream{w: io.Discard}}).rootCommand())
	require.Empty(t, pages, "pages of nothing")
}

// unroff returns the text of a page, with its requests and without its escapes.
func unroff(page string) string {
	page = regexp.MustCompile(`\\f[BIR]|\\&`).ReplaceAllString(page, "")
	page = strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(dq`, `"`, `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\e`, `\`).Replace(page)
	return regexp.MustCompile(`\\\[u[0-9A-F]+\]`).ReplaceAllStringFunc(page, func(escaped string) string {
		var r rune
		for _, digit := range strings.Trim(escaped, `\[u]`) {
			r = r<<4 + rune(strings.IndexRune("0123456789ABCDEF", digit))
		}
		return string(r)
	})
}

func TestManualIsWrittenOnce(t *testing.T) {
	inFolder(t)
	succeeds(t, "man", "-o", "here")
	fails(t, exitFailed, []string{"restore.1", "exists already"}, "man", "-o", "here")
	succeeds(t, "man", "-o", "here", "--force")
	fails(t, exitUsage, []string{"did you mean denoise"}, "man", "denose")
	fails(t, exitUsage, []string{"leave denoise out"}, "man", "denoise", "-o", "here")
	fails(t, exitUsage, []string{"--output is empty"}, "man", "-o", "")
	fails(t, exitFailed, []string{"here/restore.1"}, "man", "-o", "here/restore.1")
}

// Programs that show manuals find nothing to complain about.
func TestManualRenders(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	inFolder(t)
	succeeds(t, "man", "-o", "man1/")
	for _, page := range files(t) {
		render := exec.Command(groff, "-man", "-Tutf8", "-P-cbou", "-ww", page)
		var complaints strings.Builder
		render.Stderr = &complaints
		text, err := render.Output()
		require.NoError(t, err, page)
		require.Empty(t, complaints.String(), page)
		require.Contains(t, string(text), "SYNOPSIS")
	}
}
