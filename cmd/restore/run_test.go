package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/networks"
)

// ran is what a run of the program did.
type ran struct {
	code           int
	stdout, stderr string
}

// restoring runs the program as a shell would, without a terminal.
func restoring(t *testing.T, args ...string) ran {
	t.Helper()
	return restoringFrom(t, strings.NewReader(""), args...)
}

func restoringFrom(t *testing.T, stdin io.Reader, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, stdin, &stdout, &stderr)
	return ran{code, stdout.String(), stderr.String()}
}

// leaveRuns skips a test of what commands compute, store and print. With -short, which is for the race
// detector, there are those of all that goes on at once: interrupts, progress, pipes, batches, threads,
// training, and each command once or more; go test ./... has all.
func leaveRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs more of commands that other tests race: go test ./... has them")
	}
}

// succeeds runs the program and requires that it did all and had nothing to
// complain about.
func succeeds(t *testing.T, args ...string) ran {
	t.Helper()
	r := restoring(t, args...)
	require.Equal(t, exitDone, r.code, "restore %v: %s", args, r.stderr)
	return r
}

// fails runs the program and requires its status, and one line about it that has
// all the given parts.
func fails(t *testing.T, code int, parts []string, args ...string) {
	t.Helper()
	r := restoring(t, args...)
	require.Equal(t, code, r.code, "restore %v: %s", args, r.stderr)
	requireOneLine(t, r.stderr, parts...)
}

func requireOneLine(t *testing.T, stderr string, parts ...string) {
	t.Helper()
	require.True(t, strings.HasPrefix(stderr, "restore: "), "%q", stderr)
	require.Equal(t, 1, strings.Count(stderr, "\n"), "%q", stderr)
	require.True(t, strings.HasSuffix(stderr, "\n"), "%q", stderr)
	for _, p := range parts {
		require.Contains(t, stderr, p)
	}
}

// scene fills planes with a smooth picture with edges, and noise of standard
// deviation sigma.
func scene(channels, h, w int, sigma float64) []float32 {
	pix := make([]float32, channels*h*w)
	for c := range channels {
		for y := range h {
			for x := range w {
				v := 0.3 + 0.2*math.Sin(float64(x)/7+float64(c))*math.Cos(float64(y)/9)
				if (x/16+y/12)%2 == 0 {
					v += 0.2
				}
				i := (c*h+y)*w + x
				pix[i] = float32(v + sigma*float64(backend.GaussianAt(7, uint64(i))))
			}
		}
	}
	return pix
}

// picture is an image with a format of its own choice.
func picture(channels, h, w, depth int, sigma float64) *imagefile.Image {
	return &imagefile.Image{Width: w, Height: h, Channels: channels, Depth: depth, Pix: scene(channels, h, w, sigma)}
}

func save(t *testing.T, path string, m *imagefile.Image) string {
	t.Helper()
	require.NoError(t, imagefile.Write(t.Context(), path, m, imagefile.WriteOptions{Overwrite: true}))
	return path
}

func load(t *testing.T, path string) *imagefile.Image {
	t.Helper()
	m, err := imagefile.Read(t.Context(), path, imagefile.ReadOptions{})
	require.NoError(t, err)
	return m
}

// inFolder makes a folder the working directory of the test, so that names are
// short, and returns it.
func inFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	return dir
}

// files lists all files below the working directory, temporary ones included.
func files(t *testing.T) []string {
	t.Helper()
	list := []string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, filepath.ToSlash(path))
		}
		return err
	}))
	return list
}

func savePNG(t *testing.T, path string, img image.Image) string {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, img))
	require.NoError(t, f.Close())
	return path
}

// shape replaces every value by the name of its type, so that two objects can be
// compared by their form.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			keys[i] = k + ":" + shape(v[k])
		}
		return "{" + strings.Join(keys, " ") + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[" + shape(v[0]) + "]"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	}
	return "null"
}

// objects parses NDJSON.
func objects(t *testing.T, stdout string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(stdout) {
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &o), "%q", line)
		require.EqualValues(t, 1, o["schema"])
		list = append(list, o)
	}
	return list
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{
		{"--help"}, {"help"}, {"denoise", "--help"}, {"deblur", "-h"}, {"check", "-h"}, {"kernel", "-h"}, {"kernel", "motion", "-h"},
		{"degrade", "-h"}, {"compare", "-h"}, {"info", "-h"}, {"version", "-h"}, {"man", "-h"}, {"completion", "-h"}, {"help", "denoise"},
	} {
		r := succeeds(t, args...)
		require.Contains(t, r.stdout, "Usage:", "%v", args)
		require.Empty(t, r.stderr)
	}
}

func TestEveryCommandIsExplained(t *testing.T) {
	root := (&app{Printer: message.Printer{Stderr: io.Discard}, stdin: strings.NewReader(""), stdout: &resultStream{w: io.Discard}}).rootCommand()
	for _, c := range root.Commands() {
		require.NotEmpty(t, c.Short, c.Name())
		require.NotContains(t, c.Short, "\n")
		require.NotEmpty(t, c.Long, c.Name())
		require.NotEmpty(t, c.Example, c.Name())
		for line := range strings.Lines(c.Long) {
			require.LessOrEqual(t, len([]rune(strings.TrimSpace(line))), helpWidth, "%s: %s", c.Name(), line)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0))
	save(t, "b.png", picture(1, 12, 14, 8, 0))
	for _, c := range []struct {
		args string
		part string
	}{
		{"denose a.png", "did you mean denoise"},
		{"nothing", "unknown command"},
		{"a.png", "a.png is a file, and a command comes first: restore denoise"},
		{"help nothing", "help: unknown command"},
		{"help kernel star", "help: unknown command"},
		{"completion", "bash, zsh, fish or powershell"},
		{"denoise", "one input or more"},
		{"denoise --bogus a.png", "unknown flag: --bogus; 'restore denoise --help' lists the flags"},
		{"denoise --sigma a.png", "--sigma a.png: want auto"},
		{"denoise --sigma x a.png", "--sigma x: want auto, or a number such as 0.1 or 25/255"},
		{"denoise --sigma 25 a.png", "write 25/255"},
		{"denoise --sigma 0 a.png", "above 0"},
		{"denoise --sigma NaN a.png", "want auto"},
		{"denoise --sigma 1/0 a.png", "want auto"},
		{"denoise --sigma -0.1 a.png", "above 0"},
		{"denoise --method ssprk3 a.png", "--method ssprk3: this build ships no weights for it; give some with --weights FILE, or use --method " + networks.DefaultMethod()},
		{"denoise --prior kutta3 a.png", "--method kutta3: this build ships no weights for it"},
		{"denoise --method bm3d a.png", "unknown method; there is: " + methodNames()},
		{"deblur --method kutta3 --kernel b.png a.png", "--prior kutta3: this build ships no weights for it; give some with --weights FILE, or use --prior " + networks.DefaultPrior()},
		{"check --prior backward-euler", "--prior backward-euler: this build ships no weights for it"},
		{"denoise --method tv --weights w.safetensors a.png", "--method tv takes no weights; leave out one of"},
		{"denoise --method bm3d --weights w.safetensors a.png", "unknown method"},
		{"check --uncertified --prior tv a.png", "name one with --prior, or its file with --weights FILE"},
		{"denoise --weights a.png b.png -o a.png --force", "the place of this file"},
		{"denoise --weights - -", "can be read once"},
		{"denoise --weights - --reference - a.png", "can be read once"},
		{"deblur --weights - --kernel - a.png", "can be read once"},
		{"check --weights - -", "can be read once"},
		{"denoise --strength 0 a.png", "--strength 0"},
		{"denoise --strength 1e300 a.png", "at most 1e+06"},
		{"denoise --iterations -1 a.png", "--iterations -1"},
		{"denoise --iterations many a.png", "--iterations many: want a whole number"},
		{"denoise --tolerance 0 a.png", "--tolerance 0: want a number between 0 and 1"},
		{"denoise --tolerance 2 a.png", "--tolerance 2"},
		{"denoise --contraction 0.9 a.png", "unknown flag: --contraction"},
		{"deblur --kernel k.png --contraction 1 a.png", "--contraction 1: want a number between 0 and 1"},
		{"denoise --tile 0 a.png", "--tile 0: want auto"},
		{"denoise --tile small a.png", "--tile small: want auto"},
		{"denoise --tile 1048577 a.png", "from 1 to 1048576"},
		{"denoise --depth 12 a.png", "--depth 12: want 8, 16 or 32"},
		{"denoise --depth 16 a.png -o c.jpg", "JPEG has samples of 8 bits"},
		{"denoise --quality 0 a.png", "--quality 0: want 1 to 100"},
		{"denoise --metadata some a.png", "--metadata some: want keep or none"},
		{"denoise --alpha some a.png", "--alpha some: want keep or drop"},
		{"denoise --max-pixels 0 a.png", "--max-pixels 0"},
		{"denoise --threads -1 a.png", "--threads -1"},
		{"denoise --backend gpu a.png", "want auto, cpu, cuda[:N] or vulkan[:N]"},
		{"denoise --backend cuda a.png", "this build has no CUDA support"},
		{"denoise --backend cuda:1 a.png", "this build has no CUDA support"},
		{"denoise --backend cuda:x a.png", "want auto, cpu, cuda[:N] or vulkan[:N]"},
		{"denoise --progress often a.png", "--progress often: want auto, always or never"},
		{"denoise --force --skip-existing a.png", "contradict each other"},
		{"denoise a.png b.png -o c.png", "several inputs need a folder"},
		{"denoise a.png b.png -o -", "several inputs need a folder"},
		{"denoise --recursive . -o c.png", "several inputs need a folder"},
		{"denoise a.png - ", "must be the only input"},
		{"denoise - -o out/", "no name to use in a folder"},
		{"denoise a.png -o c.ico", "no image format has the extension"},
		{"denoise a.png -o c.gif", "GIF is read but not written"},
		{"denoise a.png -o c", "has no extension"},
		{"denoise a.png -o c.webp", "WebP is read but not written"},
		{"denoise a.png -o a.png --force", "the place of its input"},
		{"denoise a.png -o ./", "the place of its input"},
		{"denoise a.png --json -o -", "both need standard output"},
		{"denoise a.png --reference c.png -o c.png", "the place of this file"},
		{"deblur a.png --kernel-flip", "--kernel-flip is for a kernel that is given"},
		{"deblur a.png --linear-light on --prior tv", "--linear-light on needs a network with a guide, and --prior tv is none"},
		{"deblur a.png --kernel-size 2", "3 to 301"},
		{"deblur a.png --kernel b.png --kernel-size 9", "--kernel-size is for an estimated kernel"},
		{"deblur a.png --kernel b.png --write-kernel k.png", "--write-kernel is for an estimated kernel"},
		{"deblur a.png b.png --write-kernel k.png", "give one input"},
		{"deblur a.png --write-kernel k.jpg", "too few for a kernel"},
		{"deblur a.png --write-kernel -", "a file of its own"},
		{"deblur a.png -o k.png --write-kernel k.png", "a file of its own"},
		{"kernel estimate a.png", "needs -o FILE"},
		{"kernel estimate -o k.png", "one input"},
		{"kernel estimate a.png -o k.png --kernel-size 1000", "--kernel-size 1000: want 3 to 301"},
		{"deblur --kernel b.png", "one input or more"},
		{"deblur --kernel b.png a.png -o b.png --force", "the place of this file"},
		{"deblur --kernel - -", "can be read once"},
		{"deblur --kernel b.png a.png --boundary torus", "want unknown, circular, zero or reflect"},
		{"check a.png b.png", "one image at most"},
		{"check --kernel - -", "can be read once"},
		{"kernel", "motion, gaussian, disk, box, shake or turn"},
		{"kernel star -o k.png", "unknown shape \"star\""},
		{"kernel motion --length 3", "needs -o FILE"},
		{"kernel motion -o k.png", "needs --length"},
		{"kernel motion --length 0 -o k.png", "motion of length 0, want 1 to 2000"},
		{"kernel motion --length 3 -o k.jpg", "too few for a kernel"},
		{"kernel motion --length 3 -o k.webp", "WebP is read but not written"},
		{"kernel motion --length 3 -o k.xyz", "no image format"},
		{"kernel motion --length 3 -o ./", "-o ./: it is a folder"},
		{"deblur a.png --write-kernel k.xyz", "--write-kernel k.xyz: "},
		{"deblur a.png --write-kernel k.jpg", "--write-kernel k.jpg: JPEG has 8 bits"},
		{"kernel motion extra --length 3 -o k.png", "takes no input"},
		{"kernel gaussian --std -1 -o k.png", "standard deviation -1"},
		{"kernel disk --radius 0 -o k.png", "radius 0"},
		{"kernel box --size 0 -o k.png", "box of size 0"},
		{"kernel shake --size 4 -o k.png", "want an odd size"},
		{"kernel turn --angle 500 --width 9 --height 9 -o k.png", "--angle 500: want a number of degrees above 0, at most 180"},
		{"kernel shake --size 5 --seed -1 -o k.png", "--seed -1: want a whole number"},
		{"degrade a.png -o c.png", "needs --kernel FILE, or a --sigma above 0"},
		{"degrade a.png --sigma auto -o c.png", "want a number"},
		{"degrade a.png --jpeg 200 -o c.png", "restore: a JPEG quality of 200, want 1 to 100"},
		{"compare a.png", "restore: compare needs two images"},
		{"compare a.png b.png a.png", "two images, a reference and another, not 3"},
		{"compare - -", "can be read once"},
		{"info a.png", "takes no input"},
		{"completion tcsh", "bash, zsh, fish or powershell"},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			fails(t, exitUsage, []string{c.part}, args...)
			require.Equal(t, []string{"a.png", "b.png"}, files(t))
		})
	}
	// Without a command: the help, on standard error.
	r := restoring(t)
	require.Equal(t, exitUsage, r.code)
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, "Available Commands:")
}

func TestWrongCPULevelIsUsage(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0))
	t.Setenv("IMAGING_CPU", "abacus")
	for _, args := range []string{"info", "version --json", "denoise a.png", "check", "degrade a.png --sigma 0.1"} {
		fails(t, exitUsage, []string{`IMAGING_CPU="abacus"`, "portable"}, strings.Fields(args)...)
	}
}

func TestInfoAndVersion(t *testing.T) {
	r := succeeds(t, "info")
	for _, part := range []string{"cpu: ", "instruction set ", "method    tv: ", "; the default", "method    euler: ", "needs --weights FILE"} {
		require.Contains(t, r.stdout, part)
	}
	o := objects(t, succeeds(t, "info", "--json").stdout)
	require.Len(t, o, 1)
	methods, embedded := o[0]["methods"].([]any), o[0]["weights"].([]any)
	require.Equal(t, "{arch:string command:string cpu:{level:string levels:[string]} default_method:string default_prior:string "+
		"devices:[{memory_limit:number model:string name:string threads:number}] go:string "+
		"methods:["+shape(methods[0])+"] missing_weights:[] os:string schema:number tags:"+shape(o[0]["tags"])+" version:string weights:["+shape(embedded[0])+"]}", shape(o[0]))
	requireMethods(t, methods)
	requireEmbedded(t, embedded, r.stdout)

	require.Contains(t, succeeds(t, "version").stdout, "restore ")
	version := objects(t, succeeds(t, "version", "--json").stdout)[0]
	require.Equal(t, "{arch:string command:string cpu:{level:string levels:[string]} go:string os:string schema:number tags:"+shape(o[0]["tags"])+" version:string}", shape(version))
	require.Equal(t, o[0]["cpu"], version["cpu"])
	require.True(t, strings.HasPrefix(succeeds(t, "--version").stdout, "restore "))
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		require.Contains(t, succeeds(t, "completion", shell).stdout, "restore", shell)
	}
	r := succeeds(t, "__complete", "deblur", "--boundary", "")
	require.Contains(t, r.stdout, "circular\nzero\nreflect\n")
	for _, args := range [][]string{{"denoise", "--method"}, {"deblur", "--prior"}, {"check", "--prior"}} {
		r := succeeds(t, append(append([]string{"__complete"}, args...), "")...)
		require.Contains(t, r.stdout, "tv\ttotal variation")
		require.Contains(t, r.stdout, "\neuler\tnetwork of")
		require.NotContains(t, r.stdout, "backward-euler", "it has no weights")
	}
	require.Contains(t, succeeds(t, "__complete", "denoise", "--weights", "").stdout, "safetensors\n")
}

func TestRunsAtTheSameTime(t *testing.T) {
	dir := inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	results := make([]ran, 4)
	done := make(chan int)
	for i := range results {
		go func() {
			var stdout, stderr bytes.Buffer
			out := filepath.Join(dir, fmt.Sprintf("%d.png", i))
			code := run(context.Background(), []string{"denoise", "a.png", "--sigma", "0.05", "-o", out}, strings.NewReader(""), &stdout, &stderr)
			results[i] = ran{code, stdout.String(), stderr.String()}
			done <- i
		}()
	}
	for range results {
		<-done
	}
	first := load(t, "0.png")
	for i, r := range results {
		require.Equal(t, exitDone, r.code, r.stderr)
		require.Equal(t, first.Pix, load(t, fmt.Sprintf("%d.png", i)).Pix)
	}
}

// grey16 is a picture with all 16 bits in use.
func grey16(h, w int) *image.Gray16 {
	img := image.NewGray16(image.Rect(0, 0, w, h))
	for i, v := range scene(1, h, w, 0.02) {
		img.SetGray16(i%w, i/w, color.Gray16{Y: uint16(v * 65535)})
	}
	return img
}
