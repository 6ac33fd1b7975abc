package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// holdout makes a folder of small images, of which one lies deeper.
func holdout(t *testing.T) {
	t.Helper()
	require.NoError(t, os.MkdirAll("holdout/more", 0o777))
	save(t, "holdout/a.png", picture(3, 20, 24, 8, 0))
	save(t, "holdout/b.tif", picture(1, 22, 19, 16, 0))
	save(t, "holdout/more/c.png", picture(3, 17, 30, 8, 0))
	require.NoError(t, os.WriteFile("holdout/notes.txt", []byte("no image"), 0o666))
}

// evaluated are the objects that eval prints about images, by what they are about.
func evaluated(t *testing.T, args ...string) map[string]map[string]any {
	t.Helper()
	list := map[string]map[string]any{}
	for _, o := range objects(t, succeeds(t, append([]string{"eval", "--json"}, args...)...).stdout) {
		what := fmt.Sprintf("%v %v %v", o["method"], o["sigma"], o["images"])
		if input, ok := o["input"]; ok {
			what = fmt.Sprintf("%v %v %v", o["method"], o["sigma"], filepath.ToSlash(input.(string)))
		}
		require.NotContains(t, list, what)
		delete(o, "seconds")
		list[what] = o
	}
	return list
}

// TestEvalAgreesWithItsParts: eval is degrade, denoise or deblur, and compare in one.
func TestEvalAgreesWithItsParts(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	holdout(t)
	file := seeded(t, "euler")
	succeeds(t, fields("kernel shake --size 5 --seed 3 -o k.pfm -q")...)
	inputs := []string{"holdout/a.png", "holdout/b.tif", "holdout/more/c.png"}
	for _, c := range []struct {
		eval, degrade, restore string
	}{
		{"", "", "denoise"},
		{" --blind", "", "denoise"},
		{" --kernel k.pfm", " --kernel k.pfm --boundary circular", "deblur --kernel k.pfm --boundary circular"},
	} {
		got := evaluated(t, fields("holdout --sigma 0.1,25/255 --seed 5 --method tv --weights "+file+c.eval)...)
		require.Len(t, got, 2*2*4)
		sigma := 25.0 / 255
		for i, input := range inputs {
			succeeds(t, fields(fmt.Sprintf("degrade %s%s --sigma 25/255 --seed %d -o y.pfm --force", input, c.degrade, 5+i))...)
			o := objects(t, succeeds(t, "compare", input, "y.pfm", "--json").stdout)[0]
			for method, flags := range map[string]string{"tv": " --method tv", "euler": " --weights " + file} {
				if !strings.Contains(c.eval, "--blind") {
					flags += " --sigma 25/255"
				}
				succeeds(t, fields(c.restore+flags+" y.pfm -o x.pfm --force -q")...)
				x := objects(t, succeeds(t, "compare", input, "x.pfm", "--json").stdout)[0]
				e := got[fmt.Sprintf("%s %v %s", method, sigma, input)]
				require.EqualValues(t, 5+i, e["seed"])
				require.InDelta(t, o["psnr"], e["psnr_noisy"], 1e-9)
				require.InDelta(t, x["psnr"], e["psnr"], 1e-9)
				require.InDelta(t, x["ssim"], e["ssim"], 1e-9)
			}
		}
		for _, method := range []string{"tv", "euler"} {
			for _, of := range []string{"psnr_noisy", "psnr", "ssim"} {
				sum := 0.0
				for _, input := range inputs {
					sum += got[fmt.Sprintf("%s %v %s", method, sigma, input)][of].(float64)
				}
				require.InDelta(t, sum/3, got[fmt.Sprintf("%s %v 3", method, sigma)][of], 1e-9)
			}
		}
	}
}

// TestEvalNoise: the noise of an image does not depend on what else is measured.
func TestEvalNoise(t *testing.T) {
	inFolder(t)
	holdout(t)
	want := evaluated(t, fields("holdout --sigma 0.05,0.1 --method tv")...)
	require.Len(t, want, 8)
	for _, args := range []string{"holdout --sigma 0.1 --sigma 0.05 --method tv --threads 1", "holdout --sigma 0.1,0.05 --method tv --threads 3"} {
		require.Equal(t, want, evaluated(t, fields(args)...))
	}
	for what, o := range evaluated(t, fields("holdout --sigma 0.1 --method tv --limit 2")...) {
		if strings.HasSuffix(what, " 2") {
			continue
		}
		require.Equal(t, want[what], o)
	}
	// The noise is the same sequence at every level, to the rounding of a float32.
	ratio := func(what string) float64 {
		return want["tv 0.05 "+what]["psnr_noisy"].(float64) - want["tv 0.1 "+what]["psnr_noisy"].(float64)
	}
	require.InDelta(t, 20*math.Log10(2), ratio("holdout/a.png"), 1e-4)
	require.NotEqual(t, want["tv 0.1 holdout/a.png"]["psnr"], evaluated(t, fields("holdout --sigma 0.1 --method tv --seed 2")...)["tv 0.1 holdout/a.png"]["psnr"])
}

func TestEvalTable(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	holdout(t)
	save(t, "holdout/small.png", picture(1, 8, 9, 8, 0))
	seeded(t, "euler")
	seeded(t, "dncnn")
	require.NoError(t, os.Mkdir("copy", 0o777))
	saveWeights(t, "copy/euler.safetensors", mustRead(t, "euler.safetensors"))
	r := succeeds(t, fields("eval holdout --sigma 0.1,0.2 --method tv --weights euler.safetensors --weights copy/euler.safetensors --weights dncnn.safetensors")...)
	require.Empty(t, r.stderr)
	rows := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	require.Len(t, rows, 1+2*4)
	require.Equal(t, "method                  sigma      before     PSNR    SSIM   seconds  images", rows[0])
	for i, label := range []string{"tv", "euler.safetensors", "copy/euler.safetensors", "seeded-dncnn"} {
		require.Regexp(t, `^`+label+` +0\.1 +20\.\d\d +\d+\.\d\d  0\.\d{4} +\d\.\d{3}  4$`, filepath.ToSlash(rows[1+i]))
		require.Regexp(t, `^`+label+` +0\.2 +1[34]\.\d\d `, filepath.ToSlash(rows[5+i]))
	}
	require.Equal(t, rows[2][len("copy/euler.safetensors"):len(rows[2])-20], rows[3][len("copy/euler.safetensors"):len(rows[3])-20], "the same network")

	r = succeeds(t, fields("eval holdout --sigma 0.1 -v")...)
	require.Contains(t, r.stdout, "  small.png\n")
	require.Regexp(t, `(?m)  -     +\d\.\d{3}  small\.png$`, r.stdout, "it has no SSIM")
	require.Contains(t, r.stdout, "  mean of 4\n")
	require.Equal(t, 6, strings.Count(r.stdout, "\n"))
	// One image is a folder of one.
	require.Contains(t, succeeds(t, fields("eval holdout/small.png --sigma 0.1")...).stdout, "  1\n")

	r = succeeds(t, fields("eval holdout --sigma 0.1 --progress always")...)
	require.Contains(t, r.stderr, "restore: holdout:   0%\n")
	require.Contains(t, r.stderr, "restore: holdout: 100%")

	o := objects(t, succeeds(t, fields("eval holdout --sigma 0.1 --limit 1 --weights euler.safetensors --json")...).stdout)
	common := "blind:bool command:string %smethod:string network:{checksum:string file:string licence:string name:string sigma:number} " +
		"psnr:number psnr_noisy:number schema:number seconds:number seed:number sigma:number ssim:number}"
	require.Equal(t, fmt.Sprintf("{"+common, "input:string "), shape(o[0]))
	require.Equal(t, fmt.Sprintf("{"+common, "images:number "), shape(o[1]))
}

func TestEvalHostile(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	holdout(t)
	require.NoError(t, os.WriteFile("holdout/b.tif", []byte("no image"), 0o666))
	require.NoError(t, os.Mkdir("empty", 0o777))
	grey, err := denoise.RandomModel(9, denoise.Architecture{Channels: 1, Width: 4, Blocks: 1, Integrator: rungekutta.ForwardEuler()}, 1)
	require.NoError(t, err)
	f, err := grey.File(seededCard("euler"), denoise.Certificate{})
	require.NoError(t, err)
	saveWeights(t, "grey.safetensors", f)
	before := files(t)

	// The others are measured, and keep their noise.
	r := restoring(t, fields("eval holdout --sigma 0.1 --json")...)
	require.Equal(t, exitFailed, r.code)
	requireOneLine(t, r.stderr, filepath.Join("holdout", "b.tif")+": unknown image format")
	o := objects(t, r.stdout)
	require.Len(t, o, 4)
	require.Contains(t, o[1]["error"], "unknown image format")
	require.NotContains(t, o[1], "psnr")
	require.Equal(t, []any{3.0, 2.0}, []any{o[2]["seed"], o[3]["images"]})

	// A network for grey images alone.
	r = restoring(t, fields("eval holdout --sigma 0.1 --limit 1 --method tv --weights grey.safetensors")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stdout, "\ntv ")
	require.NotContains(t, r.stdout, "\nseeded-euler")
	require.Contains(t, r.stderr, "a.png: ")

	fails(t, exitNothing, []string{"nothing to do: no image was found in empty"}, fields("eval empty --sigma 0.1")...)
	fails(t, exitFailed, []string{"missing: no such file"}, fields("eval missing --sigma 0.1")...)
	fails(t, exitFailed, []string{"missing.safetensors: no such file"}, fields("eval holdout --sigma 0.1 --weights missing.safetensors")...)
	fails(t, exitFailed, []string{"a.png: "}, fields("eval holdout --sigma 0.1 --weights holdout/a.png")...)
	fails(t, exitFailed, []string{"notes.txt: unknown image format"}, fields("eval holdout --sigma 0.1 --kernel holdout/notes.txt")...)
	for args, part := range map[string]string{
		"eval":                                              "a folder of images",
		"eval holdout":                                      "eval needs --sigma LIST",
		"eval holdout holdout --sigma 0.1":                  "a folder of images, not 2",
		"eval - --sigma 0.1":                                "is not a folder of images",
		"eval holdout --sigma 0":                            "above 0",
		"eval holdout --sigma 0.1,x":                        "want a number such as 0.1",
		"eval holdout --sigma 0.1,":                         "want a number such as 0.1",
		"eval holdout --sigma 15":                           "write 15/255",
		"eval holdout --sigma 0.1 --limit -1":               "--limit -1: want 1 or more",
		"eval holdout --sigma 0.1 --method bm3d":            "--method bm3d: unknown method",
		"eval holdout --sigma 0.1 --tile 0":                 "--tile 0: want auto",
		"eval holdout --sigma 0.1 --weights=":               "--weights is empty",
		"eval holdout --sigma 0.1 --kernel - --weights -":   "can be read once",
		"eval holdout --sigma 0.1 --weights - --weights -":  "can be read once",
		"eval holdout --sigma 0.1 --backend cuda":           "no CUDA support",
		"eval holdout --sigma 0.1 --max-pixels 0 --limit 1": "--max-pixels 0",
	} {
		fails(t, exitUsage, []string{part}, fields(args)...)
	}
	require.Equal(t, before, files(t), "eval writes nothing")
}

func TestEvalInterrupt(t *testing.T) {
	inFolder(t)
	holdout(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout := &cancelling{text: "a.png", cancel: cancel}
	var stderr bytes.Buffer
	require.Equal(t, exitInterrupted, run(ctx, fields("eval holdout --sigma 0.1 --method tv -v"), strings.NewReader(""), stdout, &stderr))
	requireOneLine(t, stderr.String(), "interrupted")
	require.NotContains(t, stdout.String(), "b.tif")
	require.Equal(t, exitInterrupted, run(ctx, fields("eval holdout --sigma 0.1"), strings.NewReader(""), io.Discard, io.Discard))
}

func TestEvalHelp(t *testing.T) {
	r := succeeds(t, "eval", "--help")
	for _, part := range []string{"--sigma", "--weights", "--kernel", "--blind", "Examples:"} {
		require.Contains(t, r.stdout, part)
	}
	words := strings.Fields(succeeds(t, "__complete", "eval", "--method", "").stdout)
	require.True(t, slices.Contains(words, "tv"))
}

func mustRead(t *testing.T, path string) *weights.File {
	t.Helper()
	f, err := weights.Decode(content(t, path))
	require.NoError(t, err)
	return f
}
