package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image/png"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
)

// pageRecords are the JSON objects in a page.
func pageRecords(t *testing.T, page string) (records []map[string]any) {
	t.Helper()
	for _, found := range regexp.MustCompile(`(?s)<script type="application/json" class="record">(.*?)</script>`).FindAllStringSubmatch(page, -1) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(found[1]), &record))
		records = append(records, record)
	}
	return records
}

// pageFacts are the numbers of a page, by their names.
func pageFacts(page string) map[string]string {
	facts := map[string]string{}
	for _, found := range regexp.MustCompile(`<dt>(.*?)</dt><dd>(.*?)</dd>`).FindAllStringSubmatch(page, -1) {
		facts[html.UnescapeString(found[1])] = html.UnescapeString(found[2])
	}
	return facts
}

// pagePictures are the sizes of the pictures of a page, all of which must decode.
func pagePictures(t *testing.T, page string) (sizes [][2]int) {
	t.Helper()
	for _, found := range regexp.MustCompile(`src="data:image/png;base64,([^"]*)"`).FindAllStringSubmatch(page, -1) {
		data, err := base64.StdEncoding.DecodeString(found[1])
		require.NoError(t, err)
		img, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		sizes = append(sizes, [2]int{img.Bounds().Dx(), img.Bounds().Dy()})
	}
	return sizes
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	text := string(content)
	require.Empty(t, regexp.MustCompile(`https?://`).FindString(text), "nothing refers to another place")
	return text
}

func TestReportPage(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	save(t, "a&b.png", picture(3, 20, 24, 8, 0.02))
	mask := picture(1, 20, 24, 8, 0)
	for i := range mask.Pix {
		mask.Pix[i] = float32(i % 7 / 6)
	}
	save(t, "m.png", mask)
	for i, c := range []struct {
		args     string
		pictures [][2]int
		has      []string
	}{
		{"denoise --method tv", [][2]int{{24, 20}, {24, 20}, {2, 2}}, []string{"Duality gaps", "total variation to a relative duality gap", "nonexpansive|averaged"}},
		{"denoise", [][2]int{{24, 20}, {24, 20}, {2, 2}}, []string{"The noise that was found|What is proven", "averaged"}},
		{"deblur --kernel k.png --prior tv --sigma 0.02", [][2]int{{24, 20}, {24, 20}, {5, 3}}, []string{"Residuals of the last run", "proven bound of the smallest so far", "proven to converge", "not of light"}},
		{"inpaint --mask m.png --prior tv --iterations 3", [][2]int{{24, 20}, {24, 20}}, []string{"stopped before its end", "--iterations N allows more"}},
		{"upscale --factor 2 --prior tv --sigma 0.02 --iterations 2", [][2]int{{48, 40}, {48, 40}}, []string{"Enlarged"}},
	} {
		out, path := fmt.Sprintf("out%d.png", i), fmt.Sprintf("new/report%d.html", i)
		args := append(strings.Fields(c.args), "--json", "a&b.png", "-o", out, "--report", path)
		r := restoring(t, args...)
		require.Equal(t, exitDone, r.code, r.stderr)
		require.Contains(t, r.stderr, "restore: report: "+path+"\n")
		page := readPage(t, path)
		require.ElementsMatch(t, c.pictures, pagePictures(t, page), c.args)
		for _, want := range c.has {
			require.Regexp(t, want, html.UnescapeString(regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(page, "")), c.args)
		}
		require.Contains(t, html.UnescapeString(page), "restore "+c.args+" --json 'a&b.png' -o "+out+" --report "+path)
		// The numbers are those of the JSON.
		o := objects(t, r.stdout)
		require.Equal(t, o, pageRecords(t, page))
		facts := pageFacts(page)
		require.Equal(t, fmt.Sprintf("%.4g", o[0]["sigma"]), strings.Fields(facts["Noise level (sigma, 1 is white)"])[0], c.args)
		require.Equal(t, o[0]["method"], facts["Method"])
		if o[0]["iterations"] != nil {
			require.Equal(t, fmt.Sprint(o[0]["iterations"]), facts["Iterations"])
			require.Equal(t, fmt.Sprintf("%.4g", o[0]["residual"]), facts["Residual at the end (relative)"])
		}
		notes, _ := o[0]["notes"].([]any)
		for _, n := range notes {
			require.Contains(t, html.UnescapeString(page), "<li>"+n.(string)+"</li>")
		}
	}
}

func TestReportOfABatch(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	require.NoError(t, os.WriteFile("broken.png", []byte("no picture"), 0o666))
	r := restoring(t, denoising("--report", "r.html", "--method", "tv", "a.png", "broken.png", "b.png", "-o", "out/")...)
	require.Equal(t, exitFailed, r.code)
	page := readPage(t, "r.html")
	require.Len(t, pagePictures(t, page), 4)
	require.Contains(t, page, `<a href="#input-3">b.png</a>`)
	require.Regexp(t, `<a href="#input-2">broken.png</a></td><td class="failure">broken.png: `, page)
	require.Len(t, pageRecords(t, page), 3)
}

func TestReportIsWrittenAsResultsAre(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	require.NoError(t, os.Rename(save(t, "page.png", picture(1, 12, 14, 8, 0.05)), "page.html")) // an image by its content
	require.NoError(t, os.Mkdir("folder.html", 0o777))
	before := files(t)
	for _, c := range []struct {
		report string
		code   int
		part   string
	}{
		{"-", exitUsage, "standard output is for results"}, {"r.png", exitUsage, "name it FILE.html"}, {"folder.html", exitUsage, "it is a folder"},
		{"", exitUsage, "--report is empty"}, {"a.png/r.html", exitFailed, "r.html"}, {"page.html", exitFailed, "exists already; --force overwrites it"},
	} {
		fails(t, c.code, []string{c.part}, denoising("a.png", "--report", c.report)...)
		require.Equal(t, before, files(t), c.report)
	}
	fails(t, exitUsage, []string{"would take the place"}, denoising("page.html", "--force", "-o", "x.png", "--report", "./page.html")...)
	require.Equal(t, before, files(t))

	// Nothing is left where nothing was restored, and where the run was interrupted.
	require.Equal(t, exitFailed, restoring(t, denoising("missing.png", "--report", "r.html")...).code)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitInterrupted, run(ctx, denoising("a.png", "--report", "r.html"), strings.NewReader(""), io.Discard, io.Discard))
	require.Equal(t, before, files(t))

	succeeds(t, denoising("a.png", "--report", "r.html", "-q")...)
	first := readPage(t, "r.html")
	fails(t, exitFailed, []string{"r.html: the report exists already"}, denoising("a.png", "-o", "b.png", "--report", "r.html")...)
	require.NoFileExists(t, "b.png")
	succeeds(t, denoising("a.png", "-o", "-", "--force", "--report", "r.html", "-q")...)
	require.NotEqual(t, first, readPage(t, "r.html"))
	require.Equal(t, append([]string{"a.denoised.png"}, append(before, "r.html")...), files(t), "no temporary file")
}

// A photograph of many pixels is shown reduced, and its middle as it is.
func TestReportOfALargeImage(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", &imagefile.Image{Width: 2400, Height: 1000, Channels: 1, Depth: 8, Pix: make([]float32, 2400*1000)})
	r := restoring(t, "denoise", "--sigma", "0.05", "--method", "tv", "--iterations", "1", "a.png", "-o", "b.png", "--report", "r.html", "-q")
	require.Equal(t, exitDone, r.code, r.stderr)
	page := readPage(t, "r.html")
	require.Equal(t, [][2]int{{1200, 500}, {1200, 500}, {1586, 660}, {1586, 660}}, pagePictures(t, page))
	require.Contains(t, page, "The picture has 2400×1000 pixels")
}

func TestCommandLine(t *testing.T) {
	require.Equal(t, `restore denoise --sigma=0.1 'a b.png' 'it'\''s' '' 'größe' $'a\x0ab\xff\'\\'`,
		commandLine([]string{"denoise", "--sigma=0.1", "a b.png", "it's", "", "größe", "a\nb\xff'\\"}))
}
