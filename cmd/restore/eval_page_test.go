package main

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pageTables are the tables of a page, by their captions: rows, of which the first is the header.
func pageTables(page string) map[string][][]string {
	tables := map[string][][]string{}
	for _, found := range regexp.MustCompile(`(?s)<caption>(.*?)</caption>(.*?)</table>`).FindAllStringSubmatch(page, -1) {
		var rows [][]string
		for _, row := range regexp.MustCompile(`<tr>(.*?)</tr>`).FindAllStringSubmatch(found[2], -1) {
			var cells []string
			for _, cell := range regexp.MustCompile(`<t[hd][^>]*>(.*?)</t[hd]>`).FindAllStringSubmatch(row[1], -1) {
				cells = append(cells, html.UnescapeString(cell[1]))
			}
			rows = append(rows, cells)
		}
		caption := html.UnescapeString(found[1])
		for tables[caption] != nil {
			caption += "'"
		}
		tables[caption] = rows
	}
	return tables
}

// readFindings is a page without its namespaces, which refer to nothing.
func readFindings(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	text := strings.ReplaceAll(string(content), `xmlns="http://www.w3.org/2000/svg"`, "")
	require.Empty(t, regexp.MustCompile(`https?://|url\(|@import|<script`).FindString(text))
	return text
}

// TestEvalPage: the page says what --json does, and shows what was restored worst.
func TestEvalPage(t *testing.T) {
	inFolder(t)
	require.NoError(t, os.MkdirAll("holdout", 0o777))
	for i := range 5 {
		m := picture(3-2*(i%2), 20+i, 24, 8, 0)
		for p := range m.Pix { // the more, the more contrast, the harder
			m.Pix[p] = 0.5 + (m.Pix[p]-0.5)*float32(i+1)/5
		}
		save(t, fmt.Sprintf("holdout/%d&lt;.png", i), m)
	}
	require.NoError(t, os.WriteFile("holdout/x.png", []byte("no image"), 0o666))
	seeded(t, "euler")
	args := fields("eval holdout --sigma 0.1,0.05 --method tv --weights euler.safetensors --html new/page.html --json")
	r := restoring(t, args...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "restore: report: new/page.html\n")
	page := readFindings(t, "new/page.html")
	require.Contains(t, html.UnescapeString(page), commandLine(args))
	require.Contains(t, html.UnescapeString(page), "Not measured: "+filepath.Join("holdout", "x.png")+": unknown image format")
	require.Equal(t, 1, strings.Count(page, "unknown image format"))
	require.Contains(t, page, "Denoising: Gaussian noise was added. Images: 6.")

	// Numbers.
	tables := pageTables(page)
	require.Equal(t, []string{"method", "network", "file", "licence", "checksum"}, tables["The networks"][0])
	require.Len(t, tables["The networks"], 2)
	const caption = "PSNR in dB, and how many images a method restored better than all others"
	best := map[string]int{}
	scores := map[string][]float64{}
	for _, o := range objects(t, r.stdout) {
		if o["error"] != nil {
			continue
		}
		where := caption
		if o["sigma"] == 0.05 {
			where += "'"
		}
		about := fmt.Sprint(o["method"], o["sigma"])
		if o["images"] == nil {
			scores[about] = append(scores[about], o["psnr"].(float64))
			continue
		}
		v := slices.Sorted(slices.Values(scores[about]))
		require.Len(t, v, 5)
		i := slices.IndexFunc(tables[where], func(row []string) bool { return row[0] == o["method"] || row[0] == "seeded-"+fmt.Sprint(o["method"]) })
		row := tables[where][i]
		want := []string{fmt.Sprint(o["images"]), fmt.Sprintf("%.2f", o["psnr_noisy"].(float64)), fmt.Sprintf("%.2f", o["psnr"].(float64))}
		for _, p := range v {
			want = append(want, fmt.Sprintf("%.2f", p))
		}
		require.Equal(t, append(want, fmt.Sprintf("%.4f", o["ssim"]), fmt.Sprintf("%.3f", o["seconds"])), row[1:11])
		best[where] += slices.Index([]string{"0", "1", "2", "3", "4", "5"}, row[11])
		// The violin stands on these.
		require.Contains(t, page, fmt.Sprintf("%s: 5, the middle half from %.2f to %.2f around %.2f, all from %.2f to %.2f", row[0], v[1], v[3], v[2], v[0], v[4]))
		require.Equal(t, []string{"0.05", "0.1"}, []string{tables["Mean PSNR in dB"][1][0], tables["Mean PSNR in dB"][2][0]})
	}
	require.Equal(t, map[string]int{caption: 5, caption + "'": 5}, best, "no image was restored equally well")
	require.Equal(t, 3, strings.Count(page, "<svg "), "the gains, and a distribution for each level")

	// Pictures: of two methods and two levels the three worst, each as it is, degraded and restored.
	require.Len(t, pagePictures(t, page), 2*2*3*3)
	titles := regexp.MustCompile(`<h3>(.*?), ([0-9.]+) dB: all of it</h3>`).FindAllStringSubmatch(page, -1)
	require.Len(t, titles, 2*2*3)
	for i, about := range []string{"tv0.1", "euler0.1", "tv0.05", "euler0.05"} {
		v := slices.Sorted(slices.Values(scores[about]))
		for k, title := range titles[3*i:][:3] {
			require.Equal(t, fmt.Sprintf("%.2f", v[k]), title[2], about)
			require.Regexp(t, `^holdout.\d&amp;lt;\.png$`, title[1])
		}
	}
}

// The pages of the other tasks say what was blurred, and what was missing.
func TestEvalPageOfTasks(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	saveMask(t, "mask.png", 20, 24)
	succeeds(t, fields("kernel motion --length 5 --angle 30 -o k.png -q")...)
	for i, c := range []struct {
		args     string
		pictures int
		has      []string
	}{
		{"--kernel k.png --sigma 0.02", 4, []string{"blurred circularly with the kernel k.png, then with Gaussian noise. Images: 1.", "The kernel k.png", "Noise of sigma 0.02"}},
		{"--mask mask.png", 4, []string{"those that are white in mask.png", "The mask mask.png", "Without noise", "Lowest PSNR: tv, without noise"}},
		{"--missing 0.25 --sigma 0,0.1 --blind", 6, []string{"25 % of them", "estimated the noise level", "By noise level", "Without noise", "Noise of sigma 0.1"}},
	} {
		path := fmt.Sprintf("page%d.html", i)
		r := restoring(t, append(fields("eval a.png --method tv --html "+path), fields(c.args)...)...)
		require.Equal(t, exitDone, r.code, r.stderr)
		page := readFindings(t, path)
		require.Len(t, pagePictures(t, page), c.pictures)
		for _, part := range c.has {
			require.Contains(t, page, part)
		}
	}
}

func TestEvalPageIsWrittenAsResultsAre(t *testing.T) {
	inFolder(t)
	holdout(t)
	require.NoError(t, os.Mkdir("folder.html", 0o777))
	require.NoError(t, os.Mkdir("empty", 0o777))
	require.NoError(t, os.Rename(save(t, "holdout/d.png", picture(1, 12, 14, 8, 0)), "image.html")) // by its content
	require.NoError(t, os.WriteFile("page.html", []byte("mine"), 0o666))
	require.NoError(t, os.WriteFile("holdout/broken.png", []byte("no image"), 0o666))
	before := files(t)
	eval := func(path string, more ...string) []string {
		return append(fields("eval holdout --sigma 0.1 --method tv --limit 1 --html "+path), more...)
	}
	for _, c := range []struct {
		path string
		code int
		part string
	}{
		{"-", exitUsage, "--html -: standard output is for results"}, {"r.png", exitUsage, "name it FILE.html"}, {"folder.html", exitUsage, "it is a folder"},
		{"page.html", exitFailed, "page.html: the report exists already; --force overwrites it"}, {"page.html/r.html", exitFailed, "r.html"},
	} {
		fails(t, c.code, []string{c.part}, eval(c.path)...)
	}
	fails(t, exitUsage, []string{"would take the place of this file"}, fields("eval image.html --sigma 0.1 --html ./image.html --force")...)
	fails(t, exitUsage, []string{"--force is for the page of --html FILE"}, fields("eval holdout --sigma 0.1 --force")...)
	fails(t, exitNothing, []string{"no image was found"}, fields("eval empty --sigma 0.1 --html r.html")...)
	require.Equal(t, exitFailed, restoring(t, fields("eval holdout/broken.png --sigma 0.1 --html r.html")...).code)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout := &cancelling{text: "a.png", cancel: cancel}
	var stderr bytes.Buffer
	require.Equal(t, exitInterrupted, run(ctx, fields("eval holdout --sigma 0.1 --method tv -v --html r.html"), strings.NewReader(""), stdout, &stderr))
	require.Equal(t, exitInterrupted, run(ctx, eval("r.html"), strings.NewReader(""), io.Discard, io.Discard))
	require.Equal(t, before, files(t), "nothing is left of a run without an end")
	content, err := os.ReadFile("page.html")
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))
	succeeds(t, eval("page.html", "--force", "-q")...)
	require.NotEmpty(t, pagePictures(t, readFindings(t, "page.html")))
	require.Equal(t, before, files(t), "no temporary file")
	// What is printed does not depend on it.
	shorn := func(s string) string { return regexp.MustCompile(`"seconds":[^,}]*`).ReplaceAllString(s, "") }
	require.Equal(t, shorn(restoring(t, fields("eval holdout --sigma 0.1 --method tv --limit 1 --json")...).stdout), shorn(succeeds(t, eval("page.html", "--force", "-q", "--json")...).stdout))
}
