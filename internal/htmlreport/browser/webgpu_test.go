package browser

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// webgpu is the flag with which Chromium has WebGPU on a machine without a GPU: in software.
var webgpu = chromedp.Flag("enable-unsafe-webgpu", true)

// computer is what the page says that it computes on.
func (v *visitor) computer() string {
	v.Helper()
	return value[string](v.T, v.ctx, `document.getElementById("computer").textContent`)
}

// deep is a picture with noise of 16 bits for a sample, so that rounding does not hide differences.
func deep(t *testing.T, w, h int) []byte {
	t.Helper()
	file := photograph(t, w, h)
	m, err := imagefile.DecodeAt(context.Background(), bytes.NewReader(file), int64(len(file)), imagefile.ReadOptions{})
	require.NoError(t, err)
	m.Depth, m.SourceDepth = 16, 16
	var b bytes.Buffer
	require.NoError(t, imagefile.Encode(t.Context(), &b, m, imagefile.WriteOptions{Format: imagefile.PNG}))
	return b.Bytes()
}

// agreement is the PSNR of one file against another, in decibels.
func agreement(t *testing.T, want, got []byte) float64 {
	t.Helper()
	var pictures [2]*imagefile.Image
	for i, file := range [][]byte{want, got} {
		var err error
		pictures[i], err = imagefile.DecodeAt(context.Background(), bytes.NewReader(file), int64(len(file)), imagefile.ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, 16, pictures[i].Depth)
	}
	require.Len(t, pictures[1].Pix, len(pictures[0].Pix))
	squares := 0.
	for i, v := range pictures[0].Pix {
		d := float64(v - pictures[1].Pix[i])
		squares += d * d
	}
	return -10 * math.Log10(squares/float64(len(pictures[0].Pix)))
}

// restoreOpen restores the open picture.
func (v *visitor) restoreOpen(name string) []byte {
	v.Helper()
	v.do(`document.getElementById("result").hidden = true; document.getElementById("go").click()`)
	return v.restored(name, 3*time.Minute)
}

// The page denoises by WebGPU as the library does here: with a network that is frozen, with one of a
// guide, and with total variation.
func TestWebGPUDenoises(t *testing.T) {
	v := visitPage(t, built(t), "?gpu=software", webgpu)
	picture := deep(t, 48, 40)
	v.give("deep.png", picture, chosen)
	v.until(opened, 2*time.Minute)
	require.Equal(t, "Computes on the GPU, google swiftshader", v.computer())
	for _, method := range []string{weights.Fast, weights.Guided, "tv"} {
		v.set("method", method)
		got := v.restoreOpen("deep.denoised.png")
		db := agreement(t, native(t, picture, denoised(t, restore.Method(method))), got)
		t.Logf("%s: %.1f dB", method, db)
		require.Greater(t, db, 80., method)
		require.Contains(t, value[string](t, v.ctx, `document.getElementById("facts").textContent`), "Computed onthe GPU, google swiftshader")
		require.True(t, value[bool](t, v.ctx, `document.getElementById("doubts").hidden`))
	}
	shoot(t, v.ctx, "web-gpu")
	// Who does not want the GPU gets the workers, and with them the library's bytes.
	v.do(`document.querySelector("[name=gpu]").checked = false`)
	v.set("workers", "2")
	v.set("method", weights.Fast)
	samePicture(t, native(t, picture, denoised(t, restore.Method(weights.Fast))), v.restoreOpen("deep.denoised.png"), "fast on workers")
	require.Equal(t, "Computes on 2 workers", v.computer())
}

// Nobody else gets a GPU in software.
func TestWebGPUInSoftwareIsRefused(t *testing.T) {
	v := visitPage(t, built(t), "", webgpu)
	v.until(`document.getElementById("work").hidden`, 2*time.Minute)
	require.Regexp(t, `^Computes on \d+ workers$`, v.computer())
}

// A GPU that returns wrong pictures, is lost or has no room, is left for the workers, with one line that says why. It
// works until a picture is to be restored. With -short only the first is tried: the tests of backend/webgpu have all.
func TestWebGPUThatFails(t *testing.T) {
	faults := []struct{ name, spoils, says string }{
		{"wrong", `
			const was = GPUComputePassEncoder.prototype.dispatchWorkgroups;
			GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...groups) { if (!self.spoiled) was.apply(this, groups) };`,
			`its result differs from the processor's: .*`},
		{"lost", `
			const was = GPUQueue.prototype.submit, asked = GPUAdapter.prototype.requestDevice;
			GPUAdapter.prototype.requestDevice = async function (...of) { return self.device = await asked.apply(this, of) };
			GPUQueue.prototype.submit = function (list) { if (self.spoiled) self.device.destroy(); was.call(this, list) };`,
			`the device is lost: .*`},
		{"full", `
			// Beyond the scopes that are always open there is one for a new buffer.
			const push = GPUDevice.prototype.pushErrorScope, pop = GPUDevice.prototype.popErrorScope;
			let open = 0;
			GPUDevice.prototype.pushErrorScope = function (kind) { open++; push.call(this, kind) };
			GPUDevice.prototype.popErrorScope = async function () {
				const more = open-- > 3, found = await pop.call(this);
				return self.spoiled && more ? new GPUOutOfMemoryError("no room") : found;
			};`,
			`out of memory`},
	}
	if testing.Short() {
		faults = faults[:1]
	}
	picture := deep(t, 48, 40)
	want := native(t, picture, denoised(t, restore.Method(weights.Fast)))
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			files := fstest.MapFS{}
			dist := built(t)
			names, err := fs.ReadDir(dist, ".")
			require.NoError(t, err)
			for _, n := range names {
				content, err := fs.ReadFile(dist, n.Name())
				require.NoError(t, err)
				files[n.Name()] = &fstest.MapFile{Data: content}
			}
			files["worker.js"].Data = append(files["worker.js"].Data, []byte(`
				if (self.GPUComputePassEncoder) {`+f.spoils+`
					addEventListener("message", ({ data }) => { if (data.request && JSON.parse(data.request).Do === "restore") self.spoiled = true });
				}`)...)
			v := visitPage(t, files, "?gpu=software", webgpu)
			v.give("deep.png", picture, chosen)
			v.until(opened, 2*time.Minute)
			require.Equal(t, "Computes on the GPU, google swiftshader", v.computer())
			samePicture(t, want, v.restoreOpen("deep.denoised.png"), "fast")
			require.Regexp(t, `^Computes on \d+ workers \(WebGPU on google swiftshader: `+f.says+`\)$`, v.computer())
		})
	}
}

// TestWebGPUComplies runs the tests of backend/webgpu in a worker of a page, as Go's tests of WebAssembly.
// With -short it leaves out what takes more shapes through kernels that Open compares with the processor
// anyway.
func TestWebGPUComplies(t *testing.T) {
	folder := t.TempDir()
	build := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", filepath.Join(folder, "restore.wasm"), "./backend/webgpu")
	build.Dir = "../../.."
	// The flags of web/build, so that packages of both are compiled once.
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=-trimpath -buildvcs=false -vet=off", "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	goes, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	require.NoError(t, err)
	faulty, err := os.ReadFile("../../../backend/webgpu/testdata/faulty.js")
	require.NoError(t, err)
	tests := "."
	if testing.Short() {
		tests = "Merge|Refused|Limit|Faults|Compliance/(Alloc|Upload|Download|CopyRegion)$"
	}
	for name, content := range map[string]string{
		"wasm_exec.js": string(goes), "style.css": "",
		"index.html": `<!DOCTYPE html><link rel="icon" href="data:,"><script src="page.js"></script>`,
		"page.js": `
			window.said = "";
			fetch("worker.js").then(answer => answer.text()).then(async worker => {
				const go = await (await fetch("wasm_exec.js")).text();
				const module = await WebAssembly.compileStreaming(fetch("restore.wasm"));
				const w = new Worker(URL.createObjectURL(new Blob([go, "\n", worker], { type: "text/javascript" })));
				w.onmessage = ({ data }) => { if (data.said) said += data.said; else window.ended = data.ended };
				w.onerror = event => { said += event.message; window.ended = "failed" };
				w.postMessage({ module, tests: "` + tests + `", short: ` + strconv.FormatBool(testing.Short()) + ` });
			});`,
		"worker.js": `
			onmessage = ({ data }) => {
				const text = new TextDecoder();
				fs.writeSync = (_, bytes) => { postMessage({ said: text.decode(bytes) }); return bytes.length };
				const go = new Go();
				go.argv = ["test", "-test.v", "-test.short=" + data.short, "-test.run=" + data.tests];
				// A timer of Go's that outlives the program would throw.
				go.exit = code => { postMessage({ ended: String(code) }); close() };
				WebAssembly.instantiate(data.module, go.importObject).then(program => go.run(program));
			};` + string(faulty),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666))
	}
	ctx := browser(t, webgpu)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(served(t, os.DirFS(folder)))))
	var ended string
	for end := time.Now().Add(15 * time.Minute); ended == "" && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		ended = value[string](t, ctx, `window.ended || ""`)
	}
	output := value[string](t, ctx, `said`)
	require.Equal(t, "0", ended, output)
	require.Contains(t, output, "--- PASS: TestCompliance/Alloc")
	require.NotContains(t, output, "SKIP: TestCompliance/Alloc")
	t.Logf("%d checks\n%s", strings.Count(output, "--- PASS"), strings.Join(regexp.MustCompile(`(?m)^--- PASS.*$`).FindAllString(output, -1), "\n"))
}
