package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
)

// planOfChild is the variable with the plan of a process that is to be killed.
const planOfChild = "RESTORE_BEAM_TEST_PLAN"

func TestMain(m *testing.M) {
	flag.Parse()
	log.LogLevel = "error"
	beam.Init()
	if text := os.Getenv(planOfChild); text != "" {
		var p Plan
		err := json.Unmarshal([]byte(text), &p)
		if err == nil {
			_, err = execute(context.Background(), p)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "restore-beam"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

// execute runs a plan on Prism.
func execute(ctx context.Context, p Plan) (Tally, error) {
	pipeline, s := beam.NewPipelineWithRoot()
	if err := Build(s, p); err != nil {
		return Tally{}, err
	}
	if _, err := prism.Execute(ctx, pipeline); err != nil {
		return Tally{}, err
	}
	return ReadTally(ctx, p.Output)
}

func mustExecute(t *testing.T, p Plan, done, failed, skipped int) {
	t.Helper()
	got, err := execute(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, Tally{done, failed, skipped}, got)
}

// picture is a small one with noise, other than those of other seeds.
func picture(seed uint64, side int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	r := rand.New(rand.NewPCG(seed, 1))
	for y := range side {
		for x := range side {
			noisy := func(v int) uint8 { return uint8(min(max(v+r.IntN(31)-15, 0), 255)) }
			m.SetNRGBA(x, y, color.NRGBA{noisy(128 + 8*x), noisy(250 - 9*y), noisy(int(seed)), 255})
		}
	}
	return m
}

func pngOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

func write(t *testing.T, folder, name string, data []byte) {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
}

func read(t *testing.T, elements ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	return data
}

// records are the lines of a file, by the last element of their input's name.
func records(t *testing.T, text []byte) map[string]Record {
	t.Helper()
	found := map[string]Record{}
	for line := range strings.Lines(string(text)) {
		var r Record
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		name := filepath.Base(r.Input)
		require.NotContains(t, found, name, "a line for each")
		found[name] = r
	}
	return found
}

// commandLine is the program restore, which is built when it is first needed.
var commandLine = sync.OnceValues(func() (string, error) {
	program := filepath.Join(scratch, "restore.exe")
	build := exec.Command("go", "build", "-o", program, "./cmd/restore")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// scratch is a folder for all tests.
var scratch string

func runCommandLine(t *testing.T, arguments ...string) {
	t.Helper()
	program, err := commandLine()
	require.NoError(t, err)
	out, err := exec.Command(program, arguments...).CombinedOutput()
	require.NoError(t, err, string(out))
}

// tv is quick, and has no network to load.
var tv = Options{Task: Denoise, Method: "tv", Sigma: 0.04}

// 500 pictures with broken ones among them; the process is killed in the middle, and what it has
// done is not done again. The results are the bytes that the command line writes.
func TestKilledAndRunAgain(t *testing.T) {
	const count = 500
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	var whole []string
	broken := map[string]string{}
	for i := range count {
		name := fmt.Sprintf("%03d.png", i)
		data := pngOf(t, picture(uint64(i), 16))
		switch {
		case i%50 == 7:
			data, broken[name] = data[:len(data)/2], "ends early"
		case i%50 == 23:
			data, broken[name] = nil, "empty"
		case i%50 == 41:
			data, broken[name] = []byte("<html>not found</html>"), "a web page"
		default:
			whole = append(whole, name)
		}
		write(t, in, name, data)
	}
	write(t, in, "notes.txt", []byte("no picture, by its name"))
	plan := Plan{Inputs: []string{filepath.Join(in, "*")}, Output: out, Options: tv}

	text, err := json.Marshal(plan)
	require.NoError(t, err)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), planOfChild+"="+string(text))
	var said bytes.Buffer
	child.Stdout, child.Stderr = &said, &said
	require.NoError(t, child.Start())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		results, err := filepath.Glob(filepath.Join(out, "*.png"))
		require.NoError(t, err)
		if len(results) >= 20 {
			break
		}
		select {
		case err := <-ended:
			require.FailNow(t, "it ended before it could be killed", "%v\n%s", err, &said)
		case <-time.After(time.Millisecond):
		}
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, <-ended, "it was killed")
	require.NoFileExists(t, filepath.Join(out, ResultsFile))

	results, err := filepath.Glob(filepath.Join(out, "*.png"))
	require.NoError(t, err)
	before := map[string]time.Time{}
	for _, path := range results {
		var r Record
		require.NoError(t, json.Unmarshal(read(t, recordOf(path)), &r))
		require.Equal(t, r.OutputSHA256, checksum(read(t, path)), "what is there is whole")
		info, err := os.Stat(path)
		require.NoError(t, err)
		before[filepath.Base(path)] = info.ModTime()
	}
	require.Less(t, len(before), len(whole), "it was killed in the middle")

	mustExecute(t, plan, len(whole)-len(before), len(broken), len(before))
	lines, failures := records(t, read(t, out, ResultsFile)), records(t, read(t, out, FailuresFile))
	require.Len(t, lines, len(whole))
	require.Len(t, failures, len(broken))
	for name, why := range broken {
		require.Contains(t, failures[name].Error, why)
		require.NoFileExists(t, filepath.Join(out, name))
	}
	for name, at := range before {
		require.True(t, lines[name].Skipped)
		info, err := os.Stat(filepath.Join(out, name))
		require.NoError(t, err)
		require.Equal(t, at, info.ModTime(), "it was not written again")
	}

	arguments := []string{"denoise", "--method", "tv", "--sigma", "0.04", "--quiet", "-o", t.TempDir() + string(filepath.Separator)}
	reference := arguments[len(arguments)-1]
	for _, name := range whole {
		arguments = append(arguments, filepath.Join(in, name))
	}
	runCommandLine(t, arguments...)
	for _, name := range whole {
		require.Equal(t, read(t, reference, name), read(t, out, name), name)
	}
}

// With the methods and formats of the command line, the bytes are those that it writes.
func TestSameBytesAsTheCommandLine(t *testing.T) {
	in, other := t.TempDir(), t.TempDir()
	write(t, in, "colour.png", pngOf(t, picture(1, 48)))
	grey := image.NewGray16(image.Rect(0, 0, 40, 33))
	r := rand.New(rand.NewPCG(2, 2))
	for i := range grey.Pix {
		grey.Pix[i] = uint8(100 + r.IntN(40))
	}
	write(t, in, "grey16.png", pngOf(t, grey))
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, picture(3, 56), &jpeg.Options{Quality: 71}))
	write(t, in, "photo.jpg", b.Bytes())
	clear := picture(4, 32)
	clear.SetNRGBA(3, 3, color.NRGBA{9, 9, 9, 77})
	write(t, in, "alpha.png", pngOf(t, clear))
	clean := image.NewGray(image.Rect(0, 0, 44, 44))
	for i := range clean.Pix {
		clean.Pix[i] = uint8(90 + i%44 + 80*(i/44/15%2))
	}
	write(t, in, "clean.png", pngOf(t, clean))

	for i, c := range []struct {
		options   Options
		arguments []string
	}{
		{Options{Task: Denoise}, []string{"denoise"}},
		{Options{Task: Denoise, Method: "guided", Sigma: 0.1, Strength: 0.7}, []string{"denoise", "--method", "guided", "--sigma", "0.1", "--strength", "0.7"}},
		{Options{Task: Deblur, Method: "tv"}, []string{"deblur", "--prior", "tv"}}, // clean.png is returned as it is
		{Options{Task: Deblur, Method: "tv", Sigma: 0.02}, []string{"deblur", "--prior", "tv", "--sigma", "0.02"}},
	} {
		out, reference := filepath.Join(other, fmt.Sprint(i)), filepath.Join(other, fmt.Sprint(i, "reference"))+string(filepath.Separator)
		mustExecute(t, Plan{Inputs: []string{filepath.Join(in, "*.*")}, Output: out, Options: c.options}, 5, 0, 0)
		runCommandLine(t, append(c.arguments, "--quiet", "--recursive", "-o", reference, in)...)
		for _, name := range []string{"colour.png", "grey16.png", "photo.jpg", "alpha.png", "clean.png"} {
			require.Equal(t, read(t, reference, name), read(t, out, name), "%v %s", c.arguments, name)
		}
	}
}

// A result that is not of these options, or of this photograph, or not whole, is told apart from one
// that is; it is overwritten only if that is asked for.
func TestSkipsOnlyWhatIsTheSame(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.png", "b.png", "c.png", "d.png"} {
		write(t, in, name, pngOf(t, picture(uint64(name[0]), 16)))
	}
	plan := Plan{Inputs: []string{filepath.Join(in, "*.png")}, Output: out, Options: tv}
	mustExecute(t, plan, 4, 0, 0)
	mustExecute(t, plan, 0, 0, 4)

	write(t, in, "a.png", pngOf(t, picture(99, 16)))                  // another photograph
	write(t, out, "b.png", read(t, out, "b.png")[:50])                // half a result
	write(t, out, "c.png.json", []byte("not what was written there")) // no record
	mustExecute(t, plan, 0, 3, 1)
	failures := records(t, read(t, out, FailuresFile))
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		require.Contains(t, failures[name].Error, "exists already")
	}
	plan.Overwrite = true
	mustExecute(t, plan, 3, 0, 1)
	require.Empty(t, read(t, out, FailuresFile), "those of the last run are gone")
	mustExecute(t, plan, 0, 0, 4)

	plan.Options.Strength = 2
	mustExecute(t, plan, 4, 0, 0)
	plan.Overwrite, plan.Options.Strength = false, 0
	mustExecute(t, plan, 0, 4, 0)

	require.NoError(t, os.Remove(filepath.Join(out, "d.png")))
	mustExecute(t, plan, 1, 3, 0)
}

// Two photographs whose results would have one name, and results that would take the place of
// photographs, are refused; what else there is, is done.
func TestContradictingClaims(t *testing.T) {
	in := t.TempDir()
	for _, name := range []string{"x/a.png", "y/a.png", "x/b.png", "y/c.png"} {
		write(t, in, name, pngOf(t, picture(uint64(len(name)), 16)))
	}
	list := filepath.Join(in, "list")
	names := []string{"x/a.png", "y/a.png", "x/b.png", "y/c.png", "x/../x/b.png", "z/missing.png"}
	for i, name := range names {
		names[i] = in + "/" + name
	}
	require.NoError(t, os.WriteFile(list, []byte(strings.Join(names, "\r\n")), 0o666))
	out := filepath.Join(in, "out")
	plan := Plan{Lists: []string{list}, Output: out, Options: tv}
	mustExecute(t, plan, 2, 3, 0)
	text := string(read(t, out, FailuresFile))
	require.Equal(t, 2, strings.Count(text, "would both become"))
	require.Contains(t, text, "no such file")
	require.FileExists(t, filepath.Join(out, "b.png"))

	plan.Base, plan.Output = in, filepath.Join(in, "kept")
	mustExecute(t, plan, 4, 1, 0)
	require.FileExists(t, filepath.Join(plan.Output, "x", "a.png"))
	require.FileExists(t, filepath.Join(plan.Output, "y", "a.png"))

	original := read(t, in, "x/a.png")
	plan = Plan{Inputs: []string{filepath.Join(in, "?", "*.png")}, Output: in, Options: tv, Overwrite: true}
	mustExecute(t, plan, 0, 4, 0)
	require.Equal(t, original, read(t, in, "x/a.png"))
	require.Contains(t, string(read(t, in, FailuresFile)), "take the place of its input")

	plan = Plan{Inputs: []string{filepath.Join(in, "nothing", "*.png")}, Output: out, Options: tv}
	mustExecute(t, plan, 0, 1, 0)
	require.Contains(t, string(read(t, out, FailuresFile)), "no image is found")
}

// Any file system of Beam is read and written; one in memory stands for the stores.
func TestAnotherFileSystem(t *testing.T) {
	for i := range 3 {
		memfs.Write(fmt.Sprintf("memfs://in/%d.png", i), pngOf(t, picture(uint64(i), 16)))
	}
	memfs.Write("memfs://in/broken.png", []byte("x"))
	plan := Plan{Inputs: []string{"memfs://in/*.png"}, Output: "memfs://out/", Options: tv}
	mustExecute(t, plan, 3, 1, 0)
	mustExecute(t, plan, 0, 1, 3)
	fs, err := filesystem.New(t.Context(), "memfs://out")
	require.NoError(t, err)
	names, err := fs.List(t.Context(), "memfs://out/*")
	require.NoError(t, err)
	require.Len(t, names, 3+3+2, "results, records, and two files of lines: %v", names)
}

// A photograph that needs more than its share of the memory is done when it is alone; one that
// needs more than all fails, and so does a file that is too large to be read.
func TestMemory(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	write(t, in, "small.png", pngOf(t, picture(1, 16)))
	write(t, in, "large.png", pngOf(t, picture(2, 120)))
	write(t, in, "larger.png", pngOf(t, picture(3, 200)))
	write(t, in, "longest.pgm", append([]byte("P5 1 1 255\n"), make([]byte, 1<<20)...))
	plan := Plan{Inputs: []string{filepath.Join(in, "*")}, Output: out, Options: tv, Limits: Limits{AtOnce: 3, Memory: 3 << 20}}
	mustExecute(t, plan, 2, 2, 0)
	failures := records(t, read(t, out, FailuresFile))
	for _, name := range []string{"larger.png", "longest.pgm"} {
		require.Contains(t, failures[name].Error, "-memory")
	}
}

// One worker, and so one network and one bound of the memory, serves a whole process.
func TestOneWorkerForAllWithTheSameSettings(t *testing.T) {
	s := workerSettings{Options: tv, Limits: Limits{AtOnce: 2}}
	a, err := hireWorker(s)
	require.NoError(t, err)
	b, err := hireWorker(s)
	require.NoError(t, err)
	require.Same(t, a, b)
	s.Options.Strength = 3
	c, err := hireWorker(s)
	require.NoError(t, err)
	require.NotSame(t, a, c)
	require.NoError(t, a.dismiss())
	require.Contains(t, workers.kept, a.settings, "it has a user yet")
	require.NoError(t, b.dismiss())
	require.NoError(t, c.dismiss())
	require.NotContains(t, workers.kept, a.settings)
	require.NotContains(t, workers.kept, c.settings)
	_, _, err = a.restorer.Denoise(t.Context(), picture(1, 16))
	require.ErrorIs(t, err, restore.ErrClosed)
}

func TestPlanIsValidated(t *testing.T) {
	good := Plan{Inputs: []string{"a.png"}, Output: "out", Options: Options{Task: Denoise}}
	require.NoError(t, good.Validate())
	for want, change := range map[string]func(*Plan){
		"no input":                func(p *Plan) { p.Inputs = nil },
		"an input is empty":       func(p *Plan) { p.Lists = []string{""} },
		"no output":               func(p *Plan) { p.Output = "" },
		"not UTF-8":               func(p *Plan) { p.Inputs = []string{"\xff.png"} },
		"no such file system":     func(p *Plan) { p.Output = "hdfs://x/y" },
		`task "sharpen"`:          func(p *Plan) { p.Options.Task = "sharpen" },
		`method "nlm"`:            func(p *Plan) { p.Options.Method = "nlm" },
		"sigma -1":                func(p *Plan) { p.Options.Sigma = -1 },
		"strength -2":             func(p *Plan) { p.Options.Strength = -2 },
		"-1 photographs at once":  func(p *Plan) { p.Limits.AtOnce = -1 },
		"memory of 1000 bytes":    func(p *Plan) { p.Limits.Memory = 1000 },
		"memory of -1 bytes":      func(p *Plan) { p.Limits.Memory = -1 },
		"memory of 3000000 bytes": func(p *Plan) { p.Limits = Limits{AtOnce: 4, Memory: 3e6} },
	} {
		p := good
		change(&p)
		require.ErrorContains(t, p.Validate(), want)
	}
}

func TestNames(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.png": ".", "a/b/*.png": "a/b", "a/*/b.png": "a", "/*.png": "/", "a/b.png": "a",
		"gs://bucket/x/*.jpg": "gs://bucket/x", "a/b[0-9]/c.png": "a",
	} {
		require.Equal(t, want, globFolder(pattern), pattern)
	}
	for _, c := range [][3]string{
		{"a", "a/b/c.png", "b/c.png"}, {"a/", "a/c.png", "c.png"}, {".", "a/c.png", "a/c.png"}, {".", "../c.png", "c.png"},
		{"a", "ab/c.png", "c.png"}, {"./a", "a/./c.png", "c.png"}, {"/", "/c.png", "c.png"},
		{"gs://b", "gs://b/x/c.png", "x/c.png"}, {"gs://b/x", "gs://other/x/c.png", "c.png"},
	} {
		require.Equal(t, c[2], relativeTo(c[0], c[1]), c)
	}
	require.Equal(t, "gs://b/out/x/c.png", join("gs://b/out/", "x/c.png"))
	require.Equal(t, filepath.Join("out", "x", "c.png"), join("out/", "x/c.png"))
	if runtime.GOOS == "linux" {
		require.NotEqual(t, identity("A.png"), identity("a.png"))
	}
	require.Equal(t, identity("x/../a.png"), identity("a.png"))
	require.Equal(t, "c.png", base("gs://b/x/c.png"))
	require.Equal(t, "c.png", base(filepath.Join("a", "b", "c.png")))
}
