package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
)

// The picture before has this value, and the one after is darker by the other, both of 255.
const bright, removed = 200, 10

// page is one with all that a page can have, of two inputs.
func page(t *testing.T) *htmlreport.Page {
	t.Helper()
	const w, h = 160, 120
	before, after := make([]float32, 3*w*h), make([]float32, 3*w*h)
	for i := range before {
		before[i], after[i] = float32(bright)/255, float32(bright-removed)/255
	}
	entry := func(name string) htmlreport.Entry {
		v := htmlreport.View{Window: htmlreport.Windows(w, h, htmlreport.Budget(2))[0], Note: "A note."}
		var err error
		v.Before, err = v.Draw(before, 3, h, w, 1)
		require.NoError(t, err)
		v.After, err = v.Draw(after, 3, h, w, 1)
		require.NoError(t, err)
		kernel, err := htmlreport.Window{Width: 3, Height: 3, Reduction: 1}.Draw([]float32{0, 0, 0, 1, 1, 1, 0, 0, 0}, 1, 3, 3, 1)
		require.NoError(t, err)
		chart := &htmlreport.Chart{Title: "Residuals", X: "iteration", Y: "root mean square", LogY: true, Series: []htmlreport.Series{
			{Name: "residual", X: []float64{1, 2, 3, 4}, Y: []float64{0.1, 0.02, 0.003, 0.0007}},
			{Name: "bound", X: []float64{1, 2, 3, 4}, Y: []float64{4, 3, 2.4, 2}},
		}}
		return htmlreport.Entry{
			Name: name, Output: "out.png", Summary: "noise removed", Views: []htmlreport.View{v},
			Facts:  []htmlreport.Fact{{Name: "Method", Value: "tv"}, {Name: "Noise level", Value: "0.05"}},
			Levels: &kernel, Kernel: &kernel, Residuals: chart,
			Certificate: []string{"Something is proven."}, Proof: strings.Repeat("a long line of constants ", 12),
			Doubts: []string{name}, Record: map[string]string{"input": name},
		}
	}
	hostile := `</script><script>window.broken = 1</script><img src="https://example.com/x.png" onerror="window.broken = 2">`
	return &htmlreport.Page{
		Title: "restore denoise", Version: "test", Command: "restore denoise " + hostile,
		Entries: []htmlreport.Entry{entry("a.png"), entry(hostile), {Name: "missing.png", Failure: "no such file"}},
	}
}

// browser starts Chromium for the test, with more flags than it has.
func browser(t *testing.T, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed; .ci/run installs it")
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(flags,
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true), chromedp.WSURLReadTimeout(90*time.Second))...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	return ctx
}

// value evaluates an expression in the page.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return v
}

// call sends a command of the protocol.
func call[P, R any](t *testing.T, ctx context.Context, command cdp.Command[P, R], params P) {
	t.Helper()
	_, err := chromedp.Call(ctx, command, params)
	require.NoError(t, err, command.Method)
}

func TestPageInABrowser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, page(t).Write(f))
	require.NoError(t, f.Close())
	address := "file://" + filepath.ToSlash(path)

	ctx, quiet := open(t, address)
	press := func(key string, modifiers ...chromedp.KeyOption) {
		require.NoError(t, chromedp.Do(ctx, chromedp.KeyEvent(key, modifiers...)))
	}

	// The script and the style run, and nothing of the names does.
	require.Equal(t, 2, value[int](t, ctx, `document.querySelectorAll(".compare.live").length`))
	require.False(t, value[bool](t, ctx, `"broken" in window`))
	require.Equal(t, 8, value[int](t, ctx, `document.images.length`))
	require.True(t, value[bool](t, ctx, `[...document.images].every(i => i.complete && i.naturalWidth > 0)`))
	require.Equal(t, page(t).Entries[1].Name, value[string](t, ctx, `document.querySelectorAll("h2")[1].textContent`))

	// Arrows move the slider, wherever the focus is not.
	slider := func() int { return value[int](t, ctx, `Number(document.querySelector(".slide input").value)`) }
	require.Equal(t, 50, slider())
	press(kb.ArrowRight)
	press(kb.ArrowRight)
	require.Equal(t, 54, slider())
	require.Equal(t, "inset(0px 46% 0px 0px)", value[string](t, ctx, `getComputedStyle(document.querySelector(".before")).clipPath`))
	press(kb.ArrowLeft)
	require.Equal(t, 52, slider())
	// So does the pointer.
	box := value[[]float64](t, ctx, `(v => { v.scrollIntoView({ block: "center" }); const r = v.getBoundingClientRect(); return [r.left, r.top, r.width, r.height] })(document.querySelector(".view"))`)
	require.NoError(t, chromedp.Do(ctx, chromedp.MouseClickXY(box[0]+box[2]/4, box[1]+box[3]/2)))
	require.InDelta(t, 25, slider(), 1)
	require.Equal(t, slider(), int(value[float64](t, ctx, `parseFloat(document.querySelector(".divider").style.left)`)))

	// + and − zoom by powers of two, 0 fits.
	zoom := func() string { return value[string](t, ctx, `document.querySelector(".zoom output").value`) }
	fit := zoom()
	press("+")
	require.Equal(t, "800 %", zoom())
	press("+")
	require.Equal(t, "1600 %", zoom())
	require.Equal(t, "pixelated", value[string](t, ctx, `getComputedStyle(document.querySelector(".view img")).imageRendering`))
	require.Contains(t, value[string](t, ctx, `document.querySelector(".view img").style.transform`), "scale(16)")
	at := `new DOMMatrix(document.querySelector(".view img").style.transform).e`
	was := value[float64](t, ctx, at)
	press(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
	require.Less(t, value[float64](t, ctx, at), was, "Shift and an arrow move what is shown")
	press("-")
	require.Equal(t, "800 %", zoom())
	press("0")
	require.Equal(t, fit, zoom())

	// The difference is around grey, amplified.
	pixel := `[...document.querySelector(".view canvas").getContext("2d").getImageData(9, 9, 1, 1).data]`
	press("d")
	require.Equal(t, []int{128 + 4*removed, 128 + 4*removed, 128 + 4*removed, 255}, value[[]int](t, ctx, pixel))
	value[bool](t, ctx, `(s => { s.value = "1"; return s.dispatchEvent(new Event("change")) })(document.querySelector(".gain select"))`)
	require.Equal(t, []int{128 + removed, 128 + removed, 128 + removed, 255}, value[[]int](t, ctx, pixel))
	shoot(t, ctx, "difference")
	press("d")
	require.Equal(t, "none", value[string](t, ctx, `getComputedStyle(document.querySelector(".view canvas")).display`))

	everyWindow(t, ctx, "")
	quiet()
}

// TestFindingsInABrowser: the page of restore eval and of the experiments.
func TestFindingsInABrowser(t *testing.T) {
	hostile := `</style><script>window.broken = 1</script><img src="https://example.com/x.png" onerror="window.broken = 2">`
	picture, err := findings.NewPicture(hostile, make([]float32, 3*40*60), 3, 40, 60)
	require.NoError(t, err)
	large, err := findings.NewPicture("as it is", make([]float32, 300*500), 1, 300, 500)
	require.NoError(t, err)
	var methods []findings.Distribution
	chart := htmlreport.Chart{Title: hostile, X: "sigma", Y: "dB", Note: hostile}
	for i, name := range []string{"tv", "a long name of a method", hostile, "d", "e", "f", "g", "h"} {
		v := []float64{25, 26 + float64(i), 28, 31}
		methods = append(methods, findings.Distribution{Name: name, Values: v})
		chart.Series = append(chart.Series, htmlreport.Series{Name: name, X: []float64{0.05, 0.1, 0.2, 0.3}, Y: v})
	}
	row := []string{hostile, "100", "16.45", "25.94", "20.11", "24.00", "26.14", "28.90", "34.12", "0.7512", "0.123", "17"}
	p := &findings.Page{Title: "restore eval", Program: "restore test", Command: "restore eval " + hostile, Sections: []findings.Section{
		{Title: "What was measured", Paragraphs: []string{hostile}, Verdict: hostile, Tables: []findings.Table{{Caption: hostile, Header: row, Rows: [][]string{row, row}}}},
		{
			Title: hostile, Figures: []findings.Figure{findings.Violins("psnr", "PSNR", "PSNR in dB", methods), findings.Lines("gains", chart)},
			Galleries: []findings.Gallery{{Title: hostile, Pictures: []findings.Picture{large, large, large}}, {Pictures: []findings.Picture{picture, picture}}},
		},
	}}
	path := filepath.Join(t.TempDir(), "eval.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, p.Write(f))
	require.NoError(t, f.Close())
	ctx, quiet := open(t, "file://"+filepath.ToSlash(path))

	require.False(t, value[bool](t, ctx, `"broken" in window`))
	require.Equal(t, 5, value[int](t, ctx, `document.images.length`))
	require.True(t, value[bool](t, ctx, `[...document.images].every(i => i.complete && i.naturalWidth > 0)`))
	require.Equal(t, []string{"auto", "pixelated"}, value[[]string](t, ctx, `[0, 4].map(i => getComputedStyle(document.images[i]).imageRendering)`))
	require.True(t, value[bool](t, ctx, `[...document.querySelectorAll("td:not(:first-child)")].every(d => { const r = document.createRange(); r.selectNodeContents(d); return r.getClientRects().length === 1 })`), "numbers are not broken")
	// Three pictures that belong together stand side by side.
	require.Equal(t, 1, value[int](t, ctx, `new Set([...document.images].slice(0, 3).map(i => i.getBoundingClientRect().top)).size`))
	// Drawings are seen: each distribution and each line in its colour, the grid behind them.
	require.Equal(t, []int{8, 8}, value[[]int](t, ctx, `["polygon", "polyline"].map(n => [...document.querySelectorAll(".plot " + n)].filter(p => p.getBoundingClientRect().width > 5).length)`))
	colours := func() (list []string) {
		return value[[]string](t, ctx, `[...document.querySelectorAll(".plot g polygon")].map(p => getComputedStyle(p).fill)`)
	}
	light := colours()
	require.Equal(t, "rgb(0, 114, 178)", light[0])
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(light))), 7, "the eighth is as the first")
	require.Equal(t, hostile, value[string](t, ctx, `document.querySelectorAll("h2")[1].textContent`))
	require.Contains(t, value[string](t, ctx, `document.querySelectorAll("polygon title")[1].textContent`), "a long name of a method: 4, the middle half from ")

	everyWindow(t, ctx, "eval-")
	dark := colours()
	for i := range dark {
		require.NotEqual(t, light[i], dark[i])
	}
	require.Equal(t, value[string](t, ctx, `getComputedStyle(document.body).color`), value[string](t, ctx, `getComputedStyle(document.querySelector(".plot text")).fill`))
	quiet()
}

// open opens a page in a browser. quiet fails if the page fetched anything, or had anything to
// complain about.
func open(t *testing.T, address string) (ctx context.Context, quiet func()) {
	t.Helper()
	ctx = browser(t)
	var lock sync.Mutex
	var requests, complaints []string
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		lock.Lock()
		defer lock.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; url != address && !strings.HasPrefix(url, "data:") {
				requests = append(requests, url)
			}
		case *log.EventEntryAdded:
			complaints = append(complaints, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		}
	}))
	call(t, ctx, network.Enable, network.EnableParams{})
	call(t, ctx, log.Enable, cdp.Empty{})
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1100, 900), chromedp.Navigate(address)))
	return ctx, func() {
		t.Helper()
		lock.Lock()
		defer lock.Unlock()
		require.Empty(t, requests, "nothing is fetched")
		require.Empty(t, complaints, "no error, and nothing that the policy had to refuse")
	}
}

// everyWindow looks at a page in light and dark, wide and narrow: nothing is wider than the window.
func everyWindow(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	ground := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1100, 380} {
			require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)))
			call(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			require.LessOrEqual(t, value[int64](t, ctx, `document.documentElement.scrollWidth`), width)
			ground[scheme] = value[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)
			shoot(t, ctx, fmt.Sprintf("%s%s-%d", name, scheme, width))
		}
	}
	require.NotEqual(t, ground["light"], ground["dark"])
}

// shoot takes a picture of the whole page, into the folder of the variable SCREENSHOTS if it is set.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o666))
}
