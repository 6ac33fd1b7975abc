package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// prepared returns a folder with a small network and two pictures.
func prepared(t *testing.T) string {
	folder := t.TempDir()
	c := course{Channels: 8, Blocks: 2, Pictures: 2, Height: 13, Width: 18, Seed: 3}
	require.NoError(t, c.prepare(t.Context(), folder))
	return folder
}

// restoreThreads undoes what a measurement does to the whole process.
func restoreThreads(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(n) })
}

func TestTimeWithEveryInstructionSet(t *testing.T) {
	restoreThreads(t)
	folder := prepared(t)
	for _, set := range cpu.InstructionSets() {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), []string{"time", "-folder", folder, "-level", set.String(), "-repetitions", "3", "-warmup", "1"}, nil, &out))
		results, err := readResults(&out)
		require.NoError(t, err)
		require.Len(t, results, 1)
		r := results[0]
		require.Equal(t, set.String(), r.Level)
		require.Equal(t, []int{2, 13, 18, 3, 2, 2}, []int{r.Pictures, r.Height, r.Width, r.Repetitions, r.Threads, r.GOMAXPROCS})
		require.LessOrEqual(t, r.MinimumMS, r.MedianMS)
		require.InEpsilon(t, 2.0*9*8*8*2*2*2*13*18/(r.MedianMS*1e6), r.GFLOPS, 1e-9)
		require.NotNil(t, r.Difference)
		if runtime.GOOS == "linux" {
			require.Greater(t, r.PeakMiB, 1.0)
		}
	}
}

// A picture of a size of its own is compared with nothing.
func TestTimeOfAnotherSize(t *testing.T) {
	restoreThreads(t)
	r, err := measurement{Threads: 1, Repetitions: 1, Height: 9, Width: 31}.run(t.Context(), prepared(t))
	require.NoError(t, err)
	require.Equal(t, []int{1, 9, 31}, []int{r.Pictures, r.Height, r.Width})
	require.Nil(t, r.Difference)
}

// The network changes the pictures by far more than what a comparison allows, and an
// output that is not the network's is refused.
func TestTimeRefusesAnotherOutput(t *testing.T) {
	restoreThreads(t)
	folder := prepared(t)
	path := filepath.Join(folder, racing.PicturesFile)
	f, err := weights.ReadFile(path)
	require.NoError(t, err)
	_, input, err := racing.Tensor(f, racing.InputName)
	require.NoError(t, err)
	shape, output, err := racing.Tensor(f, racing.OutputName)
	require.NoError(t, err)
	require.Greater(t, racing.Difference(input, output), 1000*allowed)

	output[len(output)/2] += 2 * allowed
	for i := range f.Tensors {
		if f.Tensors[i].Name == racing.OutputName {
			f.Tensors[i], err = weights.NewTensor(racing.OutputName, weights.F32, []int{shape.N, shape.C, shape.H, shape.W}, output)
			require.NoError(t, err)
		}
	}
	require.NoError(t, writeFile(path, f))
	_, err = measurement{Threads: 1, Repetitions: 1}.run(t.Context(), folder)
	require.ErrorContains(t, err, "differs from the prepared one by 0.0002")
}

func TestRunRefuses(t *testing.T) {
	restoreThreads(t)
	folder := prepared(t)
	for want, arguments := range map[string][]string{
		"the first argument must be":    {},
		"must be prepare":               {"run"},
		`no instruction set "mmx"`:      {"time", "-folder", folder, "-level", "mmx"},
		"must be at least 1, 1 and 0":   {"time", "-folder", folder, "-repetitions", "0"},
		`takes no argument "more"`:      {"levels", "more"},
		"no results":                    {"table"},
		"network.safetensors":           {"time", "-folder", filepath.Join(folder, "nothing")},
		"flag provided but not defined": {"time", "-speed", "9"},
		"extent -1":                     {"prepare", "-folder", folder, "-height", "-1"},
		"extent 0":                      {"time", "-folder", folder, "-height", "5"},
	} {
		err := run(t.Context(), arguments, strings.NewReader(""), &bytes.Buffer{})
		require.ErrorContains(t, err, want, "%q", arguments)
	}
}

// line is what a racer prints.
func line(t *testing.T, racer string, width int, ms float64) string {
	d := ms * 1e-9
	b, err := json.Marshal(Result{Racer: racer, Height: 1000, Width: width, MedianMS: ms, MinimumMS: ms, GFLOPS: 1e5 / ms, PeakMiB: ms / 10, Difference: &d})
	require.NoError(t, err)
	return string(b) + "\n"
}

// Ratios are those of the same round: a machine that slows down does not change them.
func TestRaceTable(t *testing.T) {
	in := ""
	for _, slow := range []float64{1, 4, 2} {
		in += line(t, "ours", 100, 100*slow) + line(t, baseline, 100, 250*slow)
	}
	in += line(t, "visitor", 100, 1000)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"table"}, strings.NewReader(in), &out))
	require.Equal(t, strings.Join([]string{
		"| racer        |   ms | rounds from … to | GFLOP/s | times ONNX Runtime | peak MiB | largest difference |",
		"|--------------|-----:|-----------------:|--------:|-------------------:|---------:|-------------------:|",
		"| ours         |  200 |        100 … 400 |     500 |               2.50 |       40 |            4.0e-07 |",
		"| ONNX Runtime |  500 |       250 … 1000 |     200 |               1.00 |      100 |            1.0e-06 |",
		"| visitor      | 1000 |      1000 … 1000 |     100 |                  – |      100 |            1.0e-06 |",
		"",
	}, "\n"), out.String())
}

func TestScalingTable(t *testing.T) {
	in := line(t, "ours", 100, 50) + line(t, "ours", 2000, 1100) + line(t, "ours", 100, 150) + line(t, "ours", 2000, 3300)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"scaling"}, strings.NewReader(in), &out))
	require.Equal(t, strings.Join([]string{
		"| picture   | megapixels |   ms | ns per pixel | of the first | peak MiB |",
		"|-----------|-----------:|-----:|-------------:|-------------:|---------:|",
		"| 100×1000  |       0.10 |  100 |         1000 |        1.000 |       15 |",
		"| 2000×1000 |       2.00 | 2200 |         1100 |        1.100 |      330 |",
		"",
	}, "\n"), out.String())
}

func TestReadResultsRefuses(t *testing.T) {
	for want, in := range map[string]string{
		"result 2":               line(t, "ours", 100, 50) + "{",
		"has no time or no size": `{"racer":"ours","height":1,"width":1}`,
	} {
		_, err := readResults(strings.NewReader(in))
		require.ErrorContains(t, err, want)
	}
}
