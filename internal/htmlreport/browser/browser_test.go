package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
			Facts: []htmlreport.Fact{{Name: "Method", Value: "tv"}, {Name: "Noise level", Value: "0.05"}},
			Noise: []*htmlreport.Chart{chart, chart}, Kernel: &kernel, Residuals: chart,
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

// browser starts Chromium for the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed; .ci/run installs it")
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(),
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true), chromedp.WSURLReadTimeout(90*time.Second))
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

	ctx := browser(t)
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
	press := func(key string, modifiers ...chromedp.KeyOption) {
		require.NoError(t, chromedp.Do(ctx, chromedp.KeyEvent(key, modifiers...)))
	}
	call(t, ctx, network.Enable, network.EnableParams{})
	call(t, ctx, log.Enable, cdp.Empty{})
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1100, 900), chromedp.Navigate(address)))

	// The script and the style run, and nothing of the names does.
	require.Equal(t, 2, value[int](t, ctx, `document.querySelectorAll(".compare.live").length`))
	require.False(t, value[bool](t, ctx, `"broken" in window`))
	require.Equal(t, 6, value[int](t, ctx, `document.images.length`))
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

	// Light and dark, wide and narrow: nothing is wider than the window.
	ground := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1100, 380} {
			require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)))
			call(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			require.LessOrEqual(t, value[int64](t, ctx, `document.documentElement.scrollWidth`), width)
			ground[scheme] = value[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)
			shoot(t, ctx, fmt.Sprintf("%s-%d", scheme, width))
		}
	}
	require.NotEqual(t, ground["light"], ground["dark"])

	lock.Lock()
	defer lock.Unlock()
	require.Empty(t, requests, "nothing is fetched")
	require.Empty(t, complaints, "no error, and nothing that the policy had to refuse")
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
