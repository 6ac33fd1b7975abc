package findings

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/htmlreport"
)

const hostile = `</style><script>alert(1)</script><img src=x>"'&`

// wellFormed fails unless the text is XML.
func wellFormed(t *testing.T, text string) {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, text)
	}
}

func TestPages(t *testing.T) {
	lines := Lines("curve", htmlreport.Chart{Title: hostile, X: hostile, Y: "y", LogY: true, Series: []htmlreport.Series{
		{Name: hostile, X: []float64{1, 2, 3}, Y: []float64{1, math.NaN(), 3}}, {Name: "b", X: []float64{1, 2}, Y: []float64{2, 1}},
	}})
	violins := Violins("violin", hostile, "dB", []Distribution{{hostile, []float64{1, 2, 2, 3, math.Inf(1)}}, {"none", nil}, {"equal", []float64{2, 2}}})
	for _, f := range []Figure{lines, violins, Violins("empty", "", "", nil)} {
		wellFormed(t, f.SVG)
		require.NotContains(t, f.SVG, "<script")
		require.NotContains(t, f.SVG, "NaN")
		require.NotContains(t, f.SVG, "Inf")
	}
	require.Equal(t, 2, strings.Count(violins.SVG, "<polygon"))
	require.Equal(t, 1, strings.Count(lines.SVG, "<polyline points=\"72.0,254.0\""))
	picture, err := NewPicture(hostile, []float32{0, 1, 0.5, float32(math.NaN()), 7, -1}, 3, 1, 2)
	require.NoError(t, err)
	_, err = NewPicture("", []float32{0}, 2, 1, 1)
	require.Error(t, err)
	p := &Page{Title: hostile, Command: hostile, Program: hostile, Sections: []Section{{
		Title: hostile, Paragraphs: []string{hostile}, Verdict: hostile, Figures: []Figure{lines, violins}, Galleries: []Gallery{{hostile, []Picture{picture}}},
		Tables: []Table{{Name: "numbers", Caption: hostile, Header: []string{"a", hostile}, Rows: [][]string{{"1", "2"}, {hostile, "x,y"}}}},
	}}}
	folder := filepath.Join(t.TempDir(), "new", "folder")
	for range 2 { // files are replaced
		require.NoError(t, p.WriteFolder(t.Context(), folder))
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return string(b)
	}
	text := read("report.html")
	for _, wrong := range []string{`<script`, `<img src=x`, `(src|href)\s*=\s*"?\s*(https?:|//|file:)`, `url\(|@import`} {
		require.Empty(t, regexp.MustCompile(wrong).FindString(text))
	}
	require.Equal(t, 1, strings.Count(text, "<img src=\"data:image/"))
	require.Equal(t, 2, strings.Count(text, "<svg "))
	require.Equal(t, 1, strings.Count(text, "</style>"))
	rows, err := csv.NewReader(strings.NewReader(read("numbers.csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a", hostile}, {"1", "2"}, {hostile, "x,y"}}, rows)
	require.Equal(t, lines.SVG, read("curve.svg"))
	require.Equal(t, violins.SVG, read("violin.svg"))

	// Alone it is the same page, which names no other files.
	var alone strings.Builder
	require.NoError(t, p.Write(&alone))
	require.NotContains(t, alone.String(), "numbers.csv")
	require.Equal(t, strings.NewReplacer(" (numbers.csv)", "", " (curve.svg)", "", " (violin.svg)", "").Replace(text), alone.String())
	require.Equal(t, style, regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(text)[1], "the policy's hash is that of the style")
}

// The style gives every series a colour on light ground and one on dark.
func TestSeriesHaveColours(t *testing.T) {
	light, dark, found := strings.Cut(ownCSS, "prefers-color-scheme: dark")
	require.True(t, found)
	for i := range palette {
		_, class := colour(i)
		require.Contains(t, light, "."+class+" { --series: #")
		require.Contains(t, dark, "."+class+" { --series: #")
	}
	_, class := colour(len(palette))
	require.Equal(t, "c0", class)
}

func TestNamesAreShortened(t *testing.T) {
	require.Equal(t, "größe", shortened("größe", 5))
	require.Equal(t, "grö…", shortened("größe", 4))
	require.Equal(t, "g…", shortened("größe", 0))
	many := make([]Distribution, 20)
	for i := range many {
		many[i] = Distribution{"a long name of a method", []float64{1, 2}}
	}
	f := Violins("many", "", "dB", many)
	wellFormed(t, f.SVG)
	require.Contains(t, f.SVG, ">a l…</text>")
	require.Contains(t, f.SVG, "<title>a long name of a method: 2, the middle half from 1.25 to 1.75 around 1.50, all from 1.00 to 2.00</title>")
	require.Equal(t, 40, strings.Count(f.SVG, "<circle"))
}

func TestQuantilesAndDensities(t *testing.T) {
	s := []float64{1, 2, 3, 4, 5}
	require.Equal(t, 2.0, Quantile(s, 0.25))
	require.Equal(t, 3.5, Quantile(s, 0.625))
	require.Equal(t, 5.0, Quantile(s, 1))
	require.Equal(t, math.Inf(1), Quantile([]float64{1, math.Inf(1), math.Inf(1)}, 0.75))
	require.Equal(t, 1.0, Quantile([]float64{1, math.Inf(1), math.Inf(1)}, 0))
	require.Equal(t, 7.0, Quantile([]float64{7}, 0.3))
	d := density(s)
	require.Equal(t, 1.0, d[0][0])
	require.Equal(t, 5.0, d[60][0])
	require.InDelta(t, 1, d[30][1], 1e-12, "symmetric, so largest in the middle")
	require.InDelta(t, d[10][1], d[50][1], 1e-12)
}
