package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/web"
	"github.com/averaged/imaging/weights"
)

// photograph is a picture with noise, in colour, as a PNG.
func photograph(t *testing.T, w, h int) []byte {
	t.Helper()
	m := &imagefile.Image{Width: w, Height: h, Channels: 3, Depth: 8, SourceDepth: 8, Pix: make([]float32, 3*w*h)}
	for i := range m.Pix {
		c, y, x := i/(w*h), i/w%h, i%w
		v := 0.5 + 0.2*math.Sin(float64(x)/9)*math.Cos(float64(y)/7+float64(c)) + 0.1*float64(backend.GaussianAt(1, uint64(i)))
		if (x/23+y/17)%3 == c {
			v += 0.15
		}
		m.Pix[i] = float32(min(max(v, 0), 1))
	}
	var b bytes.Buffer
	require.NoError(t, imagefile.Encode(t.Context(), &b, m, imagefile.WriteOptions{Format: imagefile.PNG}))
	return b.Bytes()
}

// native is what the library makes of a file here, in portable Go, as the command line does.
func native(t *testing.T, file []byte, run func(img *restore.Planar, options ...restore.Option) (*restore.Planar, error)) []byte {
	t.Helper()
	m, err := imagefile.DecodeAt(context.Background(), bytes.NewReader(file), int64(len(file)), imagefile.ReadOptions{})
	require.NoError(t, err)
	i := 0
	sets := cpu.InstructionSets()
	for sets[i].String() != "portable" {
		i++
	}
	out, err := run(&restore.Planar{Width: m.Width, Height: m.Height, Channels: m.Channels, Pix: m.Pix}, restore.Device(cputest.Open(t, cpu.UseInstructionSet(sets[i]))))
	require.NoError(t, err)
	result := m.Like()
	result.Pix = out.Pix
	var b bytes.Buffer
	require.NoError(t, imagefile.Encode(t.Context(), &b, result, imagefile.WriteOptions{Format: m.Format}))
	return b.Bytes()
}

func denoised(t *testing.T, options ...restore.Option) func(img *restore.Planar, more ...restore.Option) (*restore.Planar, error) {
	return func(img *restore.Planar, more ...restore.Option) (*restore.Planar, error) {
		out, _, err := restore.Denoise(t.Context(), img, append(options, more...)...)
		if err != nil {
			return nil, err
		}
		return restore.FromImage(out)
	}
}

// samePicture compares files byte by byte, and says how far their pictures are apart.
func samePicture(t *testing.T, want, got []byte, what string) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	var pictures [2]*imagefile.Image
	for i, file := range [][]byte{want, got} {
		var err error
		pictures[i], err = imagefile.DecodeAt(context.Background(), bytes.NewReader(file), int64(len(file)), imagefile.ReadOptions{})
		require.NoError(t, err)
	}
	require.Len(t, pictures[1].Pix, len(pictures[0].Pix))
	most, count := 0., 0
	for i, v := range pictures[0].Pix {
		if d := 255 * math.Abs(float64(v-pictures[1].Pix[i])); d > 0 {
			most, count = max(most, d), count+1
		}
	}
	require.Fail(t, "not the bytes that the library makes natively", "%s: %d samples differ, by %.0f of 255 at most", what, count, most)
}

// built builds the page, or takes that in the folder of the variable WEB_DIST.
func built(t *testing.T) fs.FS {
	t.Helper()
	folder := os.Getenv("WEB_DIST")
	if folder == "" {
		folder = t.TempDir()
		build := exec.Command("go", "run", "./web/build", "-o", folder)
		build.Dir = "../../.."
		said, err := build.CombinedOutput()
		require.NoError(t, err, string(said))
	}
	return os.DirFS(folder)
}

// served serves the page.
func served(t *testing.T, files fs.FS) (address string) {
	t.Helper()
	require.NoError(t, web.Check(files))
	l, address, err := web.Listen(0)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ctx, l, files) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return address
}

// visitor is a browser with the page.
type visitor struct {
	*testing.T
	ctx       context.Context
	address   string
	downloads string

	lock                 sync.Mutex
	requests, complaints []string
}

func visit(t *testing.T) *visitor { return visitPage(t, built(t), "") }

// visitPage visits a page of these files at an address with a query, in a browser with more flags.
func visitPage(t *testing.T, files fs.FS, query string, flags ...chromedp.ExecAllocatorOption) *visitor {
	t.Helper()
	v := &visitor{T: t, ctx: browser(t, flags...), downloads: t.TempDir()}
	v.address = served(t, files)
	require.NoError(t, chromedp.Listen(v.ctx, func(event any) {
		v.lock.Lock()
		defer v.lock.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			v.requests = append(v.requests, e.Request.URL)
		case *log.EventEntryAdded:
			v.complaints = append(v.complaints, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			v.complaints = append(v.complaints, e.ExceptionDetails.Text)
		}
	}))
	call(t, v.ctx, network.Enable, network.EnableParams{})
	call(t, v.ctx, log.Enable, cdp.Empty{})
	call(t, v.ctx, chromium.SetDownloadBehavior, chromium.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: v.downloads})
	require.NoError(t, chromedp.Do(v.ctx, chromedp.EmulateViewport(1100, 900), chromedp.Navigate(v.address+query)))
	return v
}

// until waits for an expression to be true, and fails when the page says that something failed.
func (v *visitor) until(expression string, limit time.Duration) {
	v.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		if value[bool](v.T, v.ctx, expression) {
			return
		}
		state := value[string](v.T, v.ctx, `document.getElementById("failure").textContent + "|" + document.getElementById("doing").textContent`)
		require.True(v, strings.HasPrefix(state, "|"), "%s: %s", expression, state)
		require.True(v, time.Now().Before(end), "%s: after %v the page says %s", expression, limit, state)
	}
}

// do runs statements in the page.
func (v *visitor) do(statements string) {
	v.Helper()
	value[bool](v.T, v.ctx, "(() => {"+statements+"; return true })()")
}

// give brings a file to the page, into an input or by dropping it.
func (v *visitor) give(name string, content []byte, statement string) {
	v.Helper()
	v.do(fmt.Sprintf(`
		const bytes = Uint8Array.from(atob(%q), c => c.charCodeAt(0));
		const files = new DataTransfer();
		files.items.add(new File([bytes], %q));
		%s`, base64.StdEncoding.EncodeToString(content), name, statement))
}

const (
	dropped = `document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }))`
	chosen  = `const input = document.getElementById("file"); input.files = files.files; input.dispatchEvent(new Event("change"))`
	kernel  = `document.querySelector("[name=kernelfile]").files = files.files`
)

// set gives a field of the form a value.
func (v *visitor) set(field, to string) {
	v.Helper()
	v.do(fmt.Sprintf(`const form = document.getElementById("form"); form.elements[%q].value = %q; form.dispatchEvent(new Event("input"))`, field, to))
}

// restored waits for the result and downloads it.
func (v *visitor) restored(name string, limit time.Duration) []byte {
	v.Helper()
	v.until(`!document.getElementById("result").hidden && document.getElementById("cancel").hidden`, limit)
	require.Equal(v, name, value[string](v.T, v.ctx, `document.getElementById("download").download`))
	v.do(`document.getElementById("download").click()`)
	path := filepath.Join(v.downloads, name)
	var content []byte
	require.Eventually(v, func() bool {
		var err error
		// The name is kept free by an empty file until the whole one takes its place.
		content, err = os.ReadFile(path)
		return err == nil && len(content) > 0
	}, 20*time.Second, 20*time.Millisecond)
	require.NoError(v, os.Remove(path))
	return content
}

const opened = `!document.getElementById("picture").hidden && !document.getElementById("go").disabled`

func TestWebRestoresPictures(t *testing.T) {
	v := visit(t)
	small := photograph(t, 232, 184)
	v.until(`document.getElementById("work").hidden`, time.Minute)
	require.True(t, value[bool](t, v.ctx, `document.getElementById("go").disabled`), "there is no picture yet")
	shoot(t, v.ctx, "web-empty")

	// Three workers make the bytes that the library makes here; the page tells how far they are.
	v.set("workers", "3")
	v.give("small.png", small, dropped)
	v.until(opened, time.Minute)
	require.Equal(t, "small.png: PNG, 232×184 pixels, colour of 8 bits", value[string](t, v.ctx, `document.getElementById("opened").textContent`))
	v.do(`window.seen = []; new MutationObserver(() => seen.push(document.getElementById("progress").value)).observe(document.getElementById("progress"), { attributes: true })`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.Focus("#go"), chromedp.KeyEvent(kb.Enter)))
	got := v.restored("small.denoised.png", 2*time.Minute)
	samePicture(t, native(t, small, denoised(t, restore.Method(weights.Fast))), got, "fast")
	seen := value[[]float64](t, v.ctx, `seen`)
	require.Greater(t, len(seen), 3)
	require.Equal(t, 1., slices.Max(seen))
	require.True(t, value[bool](t, v.ctx, `seen.some(x => x > 0 && x < 1)`), "%v", seen)
	require.Contains(t, value[string](t, v.ctx, `document.getElementById("facts").textContent`), "Methodfast")
	require.Contains(t, value[string](t, v.ctx, `document.getElementById("proof").textContent`), "averaged")

	// The slider is that of reports.
	require.Equal(t, 1, value[int](t, v.ctx, `document.querySelectorAll(".compare.live").length`))
	v.until(`[...document.querySelectorAll(".compare img")].every(i => i.complete && i.naturalWidth === 232)`, 10*time.Second)
	v.do(`document.activeElement.blur()`)
	require.NoError(t, chromedp.Do(v.ctx, chromedp.KeyEvent(kb.ArrowRight)))
	require.Equal(t, "inset(0px 48% 0px 0px)", value[string](t, v.ctx, `getComputedStyle(document.querySelector(".before")).clipPath`))

	// Light and dark, wide and narrow: nothing is wider than the window.
	ground := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1100, 360} {
			require.NoError(t, chromedp.Do(v.ctx, chromedp.EmulateViewport(width, 900)))
			call(t, v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			require.LessOrEqual(t, value[int64](t, v.ctx, `document.documentElement.scrollWidth`), width)
			ground[scheme] = value[string](t, v.ctx, `getComputedStyle(document.body).backgroundColor`)
			shoot(t, v.ctx, fmt.Sprintf("web-%s-%d", scheme, width))
		}
	}
	require.NotEqual(t, ground["light"], ground["dark"])
	require.NoError(t, chromedp.Do(v.ctx, chromedp.EmulateViewport(1100, 900)))

	// A network with a guide, of which workers get maps of radii; another strength, a given level.
	tiny := photograph(t, 72, 64)
	v.give("tiny.png", tiny, chosen)
	v.until(opened, time.Minute)
	v.set("method", "guided")
	v.set("strength", "0.5")
	v.set("sigma", "25.5")
	v.do(`document.getElementById("go").click()`)
	got = v.restored("tiny.denoised.png", 2*time.Minute)
	samePicture(t, native(t, tiny, denoised(t, restore.Method(weights.Guided), restore.Strength(2), restore.Sigma(25.5/255))), got, "guided")

	// Deblurring, whose network is spread in every iteration.
	v.set("task", "deblur")
	v.set("kernel", "motion")
	v.set("distance", "5")
	v.set("method", "fast")
	v.set("strength", "0")
	shoot(t, v.ctx, "web-deblur")
	v.do(`document.getElementById("result").hidden = true; document.getElementById("go").click()`)
	got = v.restored("tiny.deblurred.png", 2*time.Minute)
	line, err := deblur.Motion(5, 0)
	require.NoError(t, err)
	samePicture(t, native(t, tiny, func(img *restore.Planar, options ...restore.Option) (*restore.Planar, error) {
		out, _, err := restore.Deblur(t.Context(), img, line, append(options, restore.Method(weights.Fast), restore.Sigma(25.5/255))...)
		if err != nil {
			return nil, err
		}
		return restore.FromImage(out)
	}), got, "deblurring")

	// The blur can be estimated.
	v.set("sigma", "")
	v.set("kernel", "estimate")
	v.do(`document.getElementById("result").hidden = true; document.getElementById("go").click()`)
	got = v.restored("tiny.deblurred.png", 2*time.Minute)
	require.Contains(t, value[string](t, v.ctx, `document.getElementById("facts").textContent`), "Blur")
	samePicture(t, native(t, tiny, func(img *restore.Planar, options ...restore.Option) (*restore.Planar, error) {
		out, _, err := restore.DeblurBlind(t.Context(), img, nil, append(options, restore.Method(weights.Fast))...)
		if err != nil {
			return nil, err
		}
		return restore.FromImage(out)
	}), got, "deblurring with an estimated kernel")

	// A run can be cancelled, without the server, and what goes wrong is said.
	v.set("method", "guided")
	v.set("kernel", "picture")
	v.give("kernel.png", []byte("no picture"), kernel)
	v.do(`document.getElementById("go").click()`)
	failure := `document.getElementById("failure").textContent`
	require.Eventually(t, func() bool { return value[string](t, v.ctx, failure) != "" }, time.Minute, 50*time.Millisecond)
	require.Contains(t, value[string](t, v.ctx, failure), "kernel: ")
	shoot(t, v.ctx, "web-failure")
	v.set("task", "denoise")
	v.do(`document.getElementById("result").hidden = true; document.getElementById("go").click()`)
	v.until(`!document.getElementById("cancel").hidden`, time.Minute)
	v.do(`document.getElementById("cancel").click()`)
	v.until(`document.getElementById("work").hidden && !document.getElementById("go").disabled`, time.Minute)
	require.True(t, value[bool](t, v.ctx, `document.getElementById("result").hidden`))

	v.lock.Lock()
	defer v.lock.Unlock()
	require.NotEmpty(t, v.requests)
	for _, r := range v.requests {
		ours := strings.HasPrefix(r, v.address) || strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "blob:"+v.address)
		require.True(t, ours, "%s is fetched", r)
	}
	// Chromium says this by itself where the page asks for a GPU and there is none.
	v.complaints = slices.DeleteFunc(v.complaints, func(text string) bool { return text == "No available adapters." })
	require.Empty(t, v.complaints, "no error, and nothing that the policy had to refuse")
}

// A megapixel ends in seconds and twelve in minutes, with the bytes of the library: these tests take
// as long as the machine does. WEB_METHOD names another method than "fast".
func TestWebRestoresLargePictures(t *testing.T) {
	method := cmp.Or(os.Getenv("WEB_METHOD"), weights.Fast)
	for name, size := range map[string][2]int{"1 megapixel": {1224, 816}, "12 megapixels": {4242, 2828}} {
		t.Run(name, func(t *testing.T) {
			switch {
			case testing.Short():
				t.Skip("a megapixel in WebAssembly takes a quarter of a minute; run it without -short")
			case size[0] > 2000 && os.Getenv("WEB_LARGE") == "":
				t.Skip("twelve megapixels in WebAssembly take minutes; WEB_LARGE=1 runs it")
			}
			v := visit(t)
			file := photograph(t, size[0], size[1])
			path := filepath.Join(t.TempDir(), "large.png")
			require.NoError(t, os.WriteFile(path, file, 0o666))
			require.NoError(t, chromedp.Do(v.ctx, chromedp.SetUploadFiles("#file", []string{path})))
			v.until(opened, 5*time.Minute)
			v.set("method", method)
			began := time.Now()
			v.do(`document.getElementById("go").click()`)
			got := v.restored("large.denoised.png", time.Hour)
			t.Logf("%s by %s took %.0f s with %d workers", name, method, time.Since(began).Seconds(), value[int](t, v.ctx, `Number(document.querySelector("[name=workers]").value)`))
			shoot(t, v.ctx, "web-large")
			began = time.Now()
			samePicture(t, native(t, file, denoised(t, restore.Method(method))), got, name)
			t.Logf("natively, in portable Go with two threads: %.0f s", time.Since(began).Seconds())
		})
	}
}
