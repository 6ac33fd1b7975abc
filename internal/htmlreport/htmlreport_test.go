package htmlreport

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// write returns the page.
func write(t *testing.T, p *Page) string {
	t.Helper()
	var b, again bytes.Buffer
	require.NoError(t, p.Write(&b))
	require.NoError(t, p.Write(&again))
	require.Equal(t, b.String(), again.String())
	return b.String()
}

func TestForeignTextIsEscaped(t *testing.T) {
	hostile := `</script><script>alert(1)</script><img src=x onerror="alert(2)">'"&--><!--{{.}}`
	v := View{Window: Window{Label: hostile, Width: 1, Height: 1, Reduction: 1}, Note: hostile}
	var err error
	v.Before, err = v.Draw([]float32{0.5}, 1, 1, 1, 1)
	require.NoError(t, err)
	v.After = v.Before
	c := &Chart{Title: hostile, X: hostile, Y: hostile, Note: hostile, Series: []Series{{Name: hostile, X: []float64{1, 2}, Y: []float64{1, 2}}}}
	e := Entry{
		Name: hostile, Output: hostile, Summary: hostile, Failure: hostile, Views: []View{v}, Facts: []Fact{{hostile, hostile}},
		Levels: &v.Before, Kernel: &v.Before, Residuals: c, Certificate: []string{hostile}, Proof: hostile, Doubts: []string{hostile},
		Record: map[string]string{hostile: hostile},
	}
	text := write(t, &Page{Title: hostile, Version: hostile, Command: hostile, Entries: []Entry{e, e}})
	for _, wrong := range []string{
		`<script>alert`, `<img src=x`, `<[a-z][^>]*\son[a-z]+="`, // a handler
		`(src|href|action|data|srcset|poster)\s*=\s*"?\s*(https?:|//|file:)`, `url\(|@import|fetch\(|XMLHttpRequest|WebSocket`,
	} {
		require.Empty(t, regexp.MustCompile(wrong).FindString(text))
	}
	// The scripts are two records and the page's own, and each picture is one of ours.
	require.Equal(t, 3, strings.Count(text, "<script"))
	require.Equal(t, 3, strings.Count(text, "</script"))
	require.Equal(t, strings.Count(text, "<img "), len(regexp.MustCompile(`<img (class="(kernel|levels)" )?src="data:image/png;base64,[A-Za-z0-9+/=]+" `).FindAllString(text, -1)))
	require.Equal(t, 8, strings.Count(text, "<img "))
	// What programs read is the record, whatever is in it.
	record := regexp.MustCompile(`(?s)<script type="application/json" class="record">(.*?)</script>`).FindStringSubmatch(text)
	var got map[string]string
	require.NoError(t, json.Unmarshal([]byte(record[1]), &got))
	require.Equal(t, e.Record, got)
}

func TestThePolicyKnowsWhatIsInThePage(t *testing.T) {
	text := write(t, &Page{Title: "x"})
	for _, part := range []struct{ open, end, content string }{{"<style>", "</style>", pageCSS}, {"<script>", "</script>", pageJS}} {
		_, rest, found := strings.Cut(text, part.open)
		require.True(t, found)
		content, _, found := strings.Cut(rest, part.end)
		require.True(t, found)
		require.Equal(t, part.content, content, "the hash is that of the content")
	}
	require.Contains(t, text, "default-src &#39;none&#39;; img-src data:;")
	require.NotContains(t, text, "unsafe")
	require.NotContains(t, text, "<nav", "one input needs no index")
}

func TestIndexOfManyInputs(t *testing.T) {
	text := write(t, &Page{Entries: []Entry{{Name: "a", Summary: "done"}, {Name: "b", Failure: "no such file"}, {Name: "c", Doubts: []string{"x", "y"}}}})
	for i, name := range []string{"a", "b", "c"} {
		require.Contains(t, text, fmt.Sprintf(`<a href="#input-%d">%s</a>`, i+1, name))
		require.Contains(t, text, fmt.Sprintf(`<article id="input-%d">`, i+1))
	}
	require.Contains(t, text, `<td class="failure">no such file</td>`)
	require.Contains(t, text, "<td>2</td>")
}

// decoded is a picture as a browser gets it.
func decoded(t *testing.T, p Picture) (pixels [][3]uint8) {
	t.Helper()
	text := strings.TrimSuffix(strings.TrimPrefix(string(p.Source()), `src="data:image/png;base64,`), `"`)
	data, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, [2]int{p.Width, p.Height}, [2]int{img.Bounds().Dx(), img.Bounds().Dy()})
	for y := range p.Height {
		for x := range p.Width {
			r, g, b, a := img.At(x, y).RGBA()
			require.EqualValues(t, 0xffff, a)
			pixels = append(pixels, [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)})
		}
	}
	return pixels
}

func TestPicturesShowTheSamples(t *testing.T) {
	grey := []float32{0, 1, float32(math.NaN()), -3, 7, 0.5}
	p, err := Windows(3, 2, 6)[0].Draw(grey, 1, 2, 3, 1)
	require.NoError(t, err)
	require.Equal(t, [][3]uint8{{}, {255, 255, 255}, {}, {}, {255, 255, 255}, {128, 128, 128}}, decoded(t, p))
	colour := []float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.2, 0.2} // four pixels in a row
	p, err = Window{X: 1, Width: 2, Height: 1, Reduction: 1}.Draw(colour, 3, 1, 4, 1)
	require.NoError(t, err)
	require.Equal(t, [][3]uint8{{0, 0, 51}, {0, 0, 51}}, func() [][3]uint8 { d := decoded(t, p); d[0][1], d[1][1] = 0, 0; return d }())
	// Reduced by two, and each sample twice as large: the mean of a block is the sample.
	p, err = Window{Width: 6, Height: 4, Reduction: 2}.Draw(grey, 1, 2, 3, 2)
	require.NoError(t, err)
	require.Equal(t, [][3]uint8{{}, {255, 255, 255}, {}, {}, {255, 255, 255}, {128, 128, 128}}, decoded(t, p))
	p, err = Window{Width: 2, Height: 2, Reduction: 2}.Draw([]float32{0, 1, 1, 0}, 1, 2, 2, 1)
	require.NoError(t, err)
	require.Equal(t, [][3]uint8{{128, 128, 128}}, decoded(t, p))
	for _, wrong := range []Window{{Width: 4, Height: 1, Reduction: 1}, {X: -1, Width: 1, Height: 1, Reduction: 1}, {Y: 2, Width: 1, Height: 1, Reduction: 1}, {Width: 0, Height: 1, Reduction: 1}} {
		_, err := wrong.Draw(grey, 1, 2, 3, 1)
		require.Error(t, err)
	}
}

func TestWindowsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 1<<16).Draw(t, "w"), rapid.IntRange(1, 1<<16).Draw(t, "h")
		inputs := rapid.IntRange(1, 100000).Draw(t, "inputs")
		budget, pixels := Budget(inputs), 0
		for i, v := range Windows(w, h, budget) {
			require.Positive(t, v.Width)
			require.Positive(t, v.Height)
			require.GreaterOrEqual(t, min(v.X, v.Y), 0)
			require.LessOrEqual(t, v.X+v.Width, w)
			require.LessOrEqual(t, v.Y+v.Height, h)
			require.Zero(t, v.Width%v.Reduction+v.Height%v.Reduction)
			if i == 1 {
				require.Equal(t, 1, v.Reduction)
			}
			pixels += v.Width / v.Reduction * (v.Height / v.Reduction)
		}
		// A picture that is thinner than its reduction is reduced by less.
		require.LessOrEqual(t, pixels, max(budget, budget/2+max(w, h)))
		require.LessOrEqual(t, budget*min(inputs, MaxPictured), pagePixels)
	})
}

func TestCharts(t *testing.T) {
	c := &Chart{X: "x", LogY: true, Series: []Series{
		{Name: "a", X: []float64{1, 2, 3, 4}, Y: []float64{1, 0.01, math.Inf(1), 0.0001}},
		{Name: "b", X: []float64{1, 2}, Y: []float64{0, 0.1}},
	}}
	lines := c.Lines()
	require.Equal(t, []string{"72.0,12.0 257.3,133.0", "628.0,254.0"}, lines[0].Pieces, "a gap where there is no number")
	require.Len(t, lines[0].Marks, 3)
	require.Equal(t, "a: 0.01 at 2", lines[0].Marks[1].Text)
	require.Equal(t, []string{"257.3,72.5"}, lines[1].Pieces, "zero is not on a logarithmic scale")
	require.Equal(t, [][]string{{"1", "1", "0"}, {"2", "0.01", "0.1"}, {"3", "–", "–"}, {"4", "0.0001", "–"}}, c.Rows())
	var ticks []string
	for _, at := range c.YTicks() {
		ticks = append(ticks, at.Text)
	}
	require.Equal(t, []string{"0.0001", "0.001", "0.01", "0.1", "1"}, ticks)

	// Whatever is drawn lies in the plot.
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), n, n)
		c := &Chart{LogX: rapid.Bool().Draw(t, "logx"), LogY: rapid.Bool().Draw(t, "logy"), Series: []Series{{X: values.Draw(t, "x"), Y: values.Draw(t, "y")}}}
		for _, m := range c.Lines()[0].Marks {
			var x, y float64
			_, err := fmt.Sscan(m.X, &x)
			require.NoError(t, err)
			_, err = fmt.Sscan(m.Y, &y)
			require.NoError(t, err)
			require.True(t, x >= left && x <= right && y >= top && y <= bottom, "%v %v", x, y)
		}
		require.LessOrEqual(t, len(c.XTicks()), 30)
		require.LessOrEqual(t, len(c.YTicks()), 30)
	})
}
