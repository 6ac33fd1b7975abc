package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// tiny are the flags of a training that takes milliseconds.
func tiny(args ...string) []string {
	return append(fields("train --width 16 --blocks 2 --crop 12 --batch 1 --iterations 6 --set report_every=1 "+
		"--set validate_every=0 --set checkpoint_every=4 --set power_size=8 --set power_iterations=5"), args...)
}

// photographs makes a folder with images and a file that is none.
func photographs(t *testing.T, folder string, n int) {
	t.Helper()
	require.NoError(t, os.Mkdir(folder, 0o777))
	for i := range n {
		save(t, filepath.Join(folder, fmt.Sprintf("%d.png", i)), picture(3-2*(i%2), 14+i, 17, 8, 0.02))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("no image"), 0o666))
}

func cardOf(t *testing.T, path string) weights.Card {
	t.Helper()
	f, err := weights.Decode(content(t, path))
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err)
	return card
}

const weightsOfRun = "run/" + train.WeightsFile

func TestTrain(t *testing.T) {
	inFolder(t)
	photographs(t, "data", 3)
	photographs(t, "holdout", 1)
	r := succeeds(t, tiny("data", "-o", "run", "--val", "holdout", "--set", "validate_every=3", "--sigma", "15/255..0.2", "--lr", "2e-3", "--seed", "7",
		"--name", "tiny", "--licence", "CC0-1.0")...)
	require.Equal(t, "restore: left out: data/notes.txt: unknown image format: the content is not of a known kind (PNG, JPEG, TIFF, BMP, WebP, GIF, PFM, PGM and PPM are read)\n"+
		"restore: left out: holdout/notes.txt: unknown image format: the content is not of a known kind (PNG, JPEG, TIFF, BMP, WebP, GIF, PFM, PGM and PPM are read)\n", filepath.ToSlash(r.stderr))
	printed := strings.Split(strings.TrimSpace(filepath.ToSlash(r.stdout)), "\n")
	require.Len(t, printed, 8)
	require.Regexp(t, `^1/6  loss 0\.\d{6}  PSNR \d+\.\d\d dB  rate .*  \d+\.\d images/s  norms \d\.\d\d to \d\.\d\d, 2 steps  \d:\d\d left$`, printed[0])
	require.Regexp(t, `validation \d+\.\d\d dB \(sigma 0\.05882\)  validation \d+\.\d\d dB \(sigma 0\.2\)`, printed[2])
	require.Regexp(t, `^run/weights\.safetensors: proven to be 0\.\d+-averaged; 2 steps in 2 blocks, norms at most \d\.\d+$`, printed[6])
	require.Equal(t, "run/curves.png", printed[7])

	img, err := png.Decode(bytes.NewReader(content(t, "run/curves.png")))
	require.NoError(t, err)
	require.Greater(t, img.Bounds().Dx(), 1000)
	card := cardOf(t, weightsOfRun)
	require.Equal(t, "tiny", card.Name)
	require.Equal(t, "CC0-1.0", card.Licence)
	require.Equal(t, 0.2, card.Sigma)
	require.Equal(t, "3 images of the folder data; 1 image of holdout held out", card.Provenance.Data)
	require.Equal(t, "github.com/averaged/imaging/cmd/restore "+build.This().Version, card.Provenance.Software)
	require.EqualValues(t, 7, card.Provenance.Seed)
	require.Equal(t, 6, card.Provenance.Iterations)

	// What the recipe says repeats the training.
	command, config, ok := strings.Cut(card.Provenance.Recipe, ", where FILE holds ")
	require.True(t, ok)
	require.Equal(t, "restore train FOLDER -o RUN --config FILE", command)
	require.NoError(t, os.WriteFile("again.json", []byte(config), 0o666))
	succeeds(t, fields("train data -o again --val holdout --config again.json")...)
	require.Equal(t, card.Checksum, cardOf(t, "again/"+train.WeightsFile).Checksum)
	var c train.Config
	require.NoError(t, json.Unmarshal([]byte(config), &c))
	require.Equal(t, 0.2, c.SigmaMax)
	require.InDelta(t, 15.0/255, c.SigmaMin, 1e-12)
	require.Equal(t, 2e-3, c.Schedule.Maximum)

	// The result is what the other commands take.
	require.Contains(t, succeeds(t, "denoise", "--weights", weightsOfRun, "--sigma", "0.1", "data/0.png").stdout, "-averaged\n")
	require.Contains(t, succeeds(t, "check", "--weights", weightsOfRun).stdout, "holds: yes")
}

func TestTrainJSON(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	photographs(t, "data", 2)
	o := objects(t, succeeds(t, tiny("data", "-o", "run", "--val", "data", "--set", "validate_every=3", "--json", "-q")...).stdout)
	require.Len(t, o, 7)
	require.Equal(t, "{blocks:[{norm:number steps:number}] command:string gradient_norm:number images_per_second:number iteration:number "+
		"iterations:number learning_rate:number loss:number psnr:number run:string schema:number seconds_left:number "+
		"validation:[{psnr:number sigma:number}]}", shape(o[2]))
	require.NotContains(t, o[0], "validation")
	require.Equal(t, 3.0, o[2]["iteration"])
	last := o[6]
	delete(last, "certificate")
	require.Equal(t, "{averagedness:number command:string curves:string done:bool iterations:number licence:string name:string proven:bool "+
		"run:string schema:number seconds:number weights:string}", shape(last))
	require.Equal(t, "run", last["name"], "by default that of the folder")

	o = objects(t, succeeds(t, tiny("data", "-o", "dncnn", "--method", "dncnn", "--json", "-q")...).stdout)
	require.Equal(t, false, o[6]["proven"])
	require.Nil(t, o[6]["averagedness"])
	require.NotContains(t, o[6], "certificate")
	require.NotContains(t, o[5], "blocks")
}

// TestTrainMethods trains every network that --method names.
func TestTrainMethods(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	photographs(t, "data", 1)
	require.Contains(t, trainable(), "euler")
	require.NotContains(t, trainable(), rungekutta.BackwardEuler().Name)
	for _, method := range trainable() {
		out := succeeds(t, tiny("data", "-q", "--method", method, "-o", method)...)
		require.Empty(t, out.stdout)
		require.Empty(t, out.stderr)
		card := cardOf(t, method+"/"+train.WeightsFile)
		if method == weights.FamilyDnCNN {
			require.Equal(t, method, card.Architecture.Family)
		} else {
			require.Equal(t, method, card.Integrator)
		}
	}
}

func readConfig(t *testing.T, run string) train.Config {
	t.Helper()
	c, err := train.ReadConfig(run)
	require.NoError(t, err)
	return c
}

// TestTrainConfiguration: recipe, then file, then named flags, then --set.
func TestTrainConfiguration(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	photographs(t, "data", 1)
	small := " --crop 12 --batch 1 --iterations 1 --width 4 --set power_iterations=2 -q"
	succeeds(t, fields("train data -o a --recipe paper --method heun --learning-rate 1e-4..1e-3 --blocks 1"+small)...)
	want := train.PaperConfig("heun")
	want.Crop, want.Batch, want.Iterations, want.Width, want.Blocks, want.PowerIterations = 12, 1, 1, 4, 1, 2
	want.Seed, want.Schedule.Minimum, want.Schedule.Maximum = 1, 1e-4, 1e-3
	require.Equal(t, want, readConfig(t, "a"))

	succeeds(t, fields("train data -o b --config a/config.json --width 5 --set width=6 --set Optimiser.weight_decay=0.5 "+
		"--set seed=18446744073709551615 --set validation_sigmas=[0.1,0.2] --set augment=false -q")...)
	want.Width, want.Optimiser.WeightDecay, want.Seed = 6, 0.5, 1<<64-1
	want.ValidationSigmas, want.Augment = []float64{0.1, 0.2}, false
	require.Equal(t, want, readConfig(t, "b"))

	succeeds(t, fields("train data -o c --method dncnn --set slope=1"+small+" --blocks 1")...)
	succeeds(t, fields("train data -o d --config c/config.json --method rk4 -q")...)
	c := readConfig(t, "d")
	require.Equal(t, []string{weights.FamilyAveraged, "rk4", string(train.DefaultConfig().Constraint)}, []string{c.Family, c.Integrator, string(c.Constraint)})
	require.Equal(t, 1, c.Blocks)

	// A range of noise levels makes a table of them, whatever the configuration came from.
	succeeds(t, fields("train data -o g --config d/config.json --sigma 0.05..0.2 -q")...)
	require.Equal(t, []float64{0.05, 0.1, 0.2}, readConfig(t, "g").Levels)
	succeeds(t, fields("train data -o h --config g/config.json --sigma 0.1..0.2 --set loss_exponent=0.3 -q")...)
	succeeds(t, fields("train data -o i --config h/config.json --sigma 0.05..0.1 -q")...)
	c = readConfig(t, "i")
	require.Equal(t, []float64{0.05, 0.1}, c.Levels)
	require.Equal(t, 0.3, c.LossExponent, "it was chosen")

	succeeds(t, fields("train data -o f --recipe deblur --sigma 0.01..0.05 --crop 12 --batch 1 --iterations 1 --width 16 --blocks 1 "+
		"--set power_iterations=2 --set deblur.margin=1 --set deblur.iterations=1 -q")...)
	want = train.DeblurringConfig()
	want.Crop, want.Batch, want.Iterations, want.Width, want.Blocks, want.PowerIterations, want.Seed = 12, 1, 1, 16, 1, 2, 1
	want.Deblur = &train.Deblurring{NoiseMin: 0.01, NoiseMax: 0.05, Step: 10, Iterations: 1, Margin: 1}
	require.Equal(t, want, readConfig(t, "f"))

	require.NoError(t, os.Mkdir("large", 0o777))
	save(t, "large/0.png", picture(3, 34, 40, 8, 0.02))
	succeeds(t, fields("train large -o cameras --recipe camera --sigma 0.02..0.05 --crop 16 --batch 1 --iterations 1 --width 16 --blocks 1 "+
		"--set power_iterations=2 --set guide.widths=[4] -q")...)
	want = train.CameraConfig()
	want.Crop, want.Batch, want.Iterations, want.Width, want.Blocks, want.PowerIterations, want.Seed = 16, 1, 1, 16, 1, 2, 1
	want.SigmaMin, want.SigmaMax, want.Guide.Widths = 0.02, 0.05, []int{4}
	want.Levels = readConfig(t, "cameras").Levels
	require.Len(t, want.Levels, 3)
	require.Equal(t, want, readConfig(t, "cameras"))

	// A file that is cut short, from standard input.
	r := restoringFrom(t, strings.NewReader(`{"width": 12, "group": 4, "blocks": 1, "crop": 12, "batch": 1, "iterations": 1, "power_iterations": 1}`),
		fields("train data -o e --config - -q")...)
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Equal(t, train.DefaultConfig().Kernel, readConfig(t, "e").Kernel)
}

func TestTrainFromWeights(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	photographs(t, "data", 1)
	succeeds(t, tiny("data", "-q", "-o", "run")...)
	// A learning rate of next to nothing leaves the weights nearly as they were.
	slow := []string{"data", "-q", "--lr", "1e-12", "--set", "schedule.warmup=0", "--set", "optimiser.weight_decay=0"}
	succeeds(t, tiny(append(slow, "-o", "next", "--init", weightsOfRun)...)...)
	succeeds(t, tiny(append(slow, "-o", "random", "--seed", "2")...)...)
	filter := func(run string) []float32 {
		m, err := denoise.FromFile(mustRead(t, run+"/"+train.WeightsFile))
		require.NoError(t, err)
		return m.Blocks[1].Filter
	}
	want, next, random := filter("run"), filter("next"), filter("random")
	dot := func(a, b []float32) float64 {
		ab, aa, bb := 0.0, 0.0, 0.0
		for i := range a {
			ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
		}
		return ab / math.Sqrt(aa*bb)
	}
	require.InDelta(t, 1, dot(want, next), 1e-6)
	require.Less(t, dot(want, random), 0.9999)
	recipe := cardOf(t, "next/"+train.WeightsFile).Provenance.Recipe
	require.Contains(t, recipe, " --init WEIGHTS, where FILE holds ")
	require.Contains(t, recipe, cardOf(t, weightsOfRun).Checksum)
	// The configuration remembers which weights they were.
	again := fields("train data -q -o again --config next/config.json")
	fails(t, exitUsage, []string{"the configuration begins with the weights sha256:", "give their file with --init"}, again...)
	fails(t, exitUsage, []string{"give those, or write --set initial="}, append(again, "--init", "random/"+train.WeightsFile)...)
	succeeds(t, append(again, "--init", weightsOfRun)...)
	require.Equal(t, next, filter("again"))
	succeeds(t, fields("train data -q -o other --config next/config.json --set initial=")...)
	require.NotEqual(t, next, filter("other"))
	// It may not have another form.
	r := restoring(t, tiny("data", "-o", "wide", "--width", "24", "--init", weightsOfRun)...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "restore: wide: weights \"run\"")
	require.NoDirExists(t, "wide")
}

// interrupted runs the program until it prints a text.
func interrupted(t *testing.T, at string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stdout := &cancelling{text: at, cancel: cancel}
	var stderr bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), stdout, &stderr)
	return ran{code, stdout.String(), stderr.String()}
}

func TestTrainInterruptAndResume(t *testing.T) {
	inFolder(t)
	photographs(t, "data", 2)
	photographs(t, "holdout", 1)
	common := []string{"--val", "holdout", "--set", "validate_every=3", "--name", "same", "--threads", "1"}
	succeeds(t, tiny(append(common, "data", "-o", "whole")...)...)
	want := content(t, "whole/"+train.WeightsFile)

	r := interrupted(t, "3/6", tiny(append(common, "data", "-o", "run")...)...)
	require.Equal(t, exitInterrupted, r.code)
	require.True(t, strings.HasSuffix(r.stderr, "restore: stopped after iteration 3 of 6; 'restore train --resume -o run' continues\nrestore: interrupted\n"), r.stderr)
	require.NoFileExists(t, weightsOfRun)
	require.FileExists(t, "run/curves.png", "from the validation at 3")
	r = interrupted(t, "5/6", fields("train --resume -o run --threads 2")...)
	require.Equal(t, exitInterrupted, r.code, r.stderr)
	require.True(t, strings.HasPrefix(r.stdout, "4/6"), r.stdout)
	r = succeeds(t, fields("train --resume -o run -v")...)
	require.Contains(t, r.stderr, "restore: run: continues after iteration 5 of 6\n")
	require.Equal(t, want, content(t, weightsOfRun))
	require.Contains(t, filepath.ToSlash(r.stderr), "restore: run/weights.safetensors: integrator euler")

	// Of a finished run the weights are written again, here with another card.
	require.NoError(t, os.Remove(weightsOfRun))
	r = succeeds(t, fields("train --resume -o run -q")...)
	require.Empty(t, r.stdout)
	require.Equal(t, want, content(t, weightsOfRun))
	succeeds(t, fields("train --resume -o run --name other --licence MIT -q")...)
	card := cardOf(t, weightsOfRun)
	require.Equal(t, []string{"other", "MIT"}, []string{card.Name, card.Licence})
	succeeds(t, fields("train --resume -o run -q")...)
	require.Equal(t, "other", cardOf(t, weightsOfRun).Name, "it is remembered")

	// The images have moved.
	require.NoError(t, os.Rename("data", "moved"))
	fails(t, exitFailed, []string{"data: no such file"}, fields("train --resume -o run -q")...)
	succeeds(t, fields("train moved --resume -o run -q")...)
	require.NoError(t, os.Remove("run/"+commandFile))
	fails(t, exitUsage, []string{"name their folder: train FOLDER --resume -o run"}, fields("train --resume -o run -q")...)
	succeeds(t, fields("train moved --val holdout --resume -o run -q")...)
	require.Equal(t, "run", cardOf(t, weightsOfRun).Name)

	// An interrupt while images are read leaves nothing.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitInterrupted, run(ctx, tiny("moved", "-o", "none"), strings.NewReader(""), io.Discard, io.Discard))
	require.NoDirExists(t, "none")
}

// doing calls a function when it sees a text.
type doing struct {
	bytes.Buffer
	text string
	do   func()
}

func (d *doing) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(d.text)) {
		d.do()
	}
	return d.Buffer.Write(p)
}

// TestTrainWithoutSpace: what cannot be written is told, and loses nothing earlier. A
// folder in place of a file stands for a disk that is full.
func TestTrainWithoutSpace(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	photographs(t, "data", 1)
	succeeds(t, tiny("data", "-q", "-o", "whole", "--name", "same")...)
	checkpoint := "run/" + train.CheckpointFile
	block := func() {
		require.NoError(t, os.Rename(checkpoint, "kept"))
		require.NoError(t, os.Mkdir(checkpoint, 0o777))
	}
	stdout := &doing{text: "2/6", do: block}
	var stderr bytes.Buffer
	require.Equal(t, exitFailed, run(t.Context(), tiny("data", "-o", "run", "--name", "same"), strings.NewReader(""), stdout, &stderr))
	require.Contains(t, stderr.String(), "restore: run: write "+filepath.Join("run", train.CheckpointFile)+": ")
	require.Equal(t, 2, strings.Count(stderr.String(), "\n"), "one line besides that about notes.txt: %s", stderr.String())
	require.NoError(t, os.Remove(checkpoint))
	require.NoError(t, os.Rename("kept", checkpoint))
	succeeds(t, fields("train --resume -o run -q")...)
	require.Equal(t, content(t, "whole/"+train.WeightsFile), content(t, weightsOfRun))

	// An interrupt that cannot write its checkpoint says so.
	ctx, cancel := context.WithCancel(t.Context())
	stdout = &doing{text: "2/6", do: func() {
		require.NoError(t, os.Remove("again/"+train.CheckpointFile))
		require.NoError(t, os.Mkdir("again/"+train.CheckpointFile, 0o777))
		cancel()
	}}
	stderr.Reset()
	require.Equal(t, exitInterrupted, run(ctx, tiny("data", "-o", "again"), strings.NewReader(""), stdout, &stderr))
	require.Contains(t, stderr.String(), "restore: again: no checkpoint could be written; the one before is still there: ")

	// Without curves the weights are written all the same.
	stdout = &doing{text: "1/6", do: func() { require.NoError(t, os.Mkdir("third/"+curvesFile, 0o777)) }}
	stderr.Reset()
	require.Equal(t, exitFailed, run(t.Context(), tiny("data", "-o", "third", "--set", "validate_every=3", "--val", "data"), strings.NewReader(""), stdout, &stderr))
	require.Equal(t, 1, strings.Count(stderr.String(), "restore: note: "+filepath.Join("third", curvesFile)+": "))
	require.Contains(t, stderr.String(), "restore: "+filepath.Join("third", curvesFile)+": ")
	require.FileExists(t, "third/"+train.WeightsFile)
}

func TestTrainOnATerminal(t *testing.T) {
	inFolder(t)
	photographs(t, "data", 1)
	t.Setenv("NO_COLOR", "1")
	stdout, stderr := &screen{columns: 100}, &screen{columns: 100}
	require.Equal(t, exitDone, run(t.Context(), tiny("data", "-o", "run", "--set", "validate_every=3", "--val", "data"), strings.NewReader(""), stdout, stderr))
	require.Contains(t, stderr.String(), "\rrun [###")
	require.Contains(t, stderr.String(), " left  iteration 1  loss ")
	require.NotContains(t, stdout.String(), "1/6", "only validations are printed")
	for _, at := range []string{"3/6", "6/6"} {
		require.Contains(t, stdout.String(), at)
	}
	stdout = &screen{columns: 100}
	require.Equal(t, exitDone, run(t.Context(), tiny("data", "-v", "-o", "all"), strings.NewReader(""), stdout, &screen{columns: 100}))
	require.Contains(t, stdout.String(), "1/6")

	r := succeeds(t, tiny("data", "-o", "lines", "--progress", "always")...)
	require.Contains(t, r.stderr, "restore: lines:  16%  0:0")
	require.Contains(t, r.stdout, "1/6")
}

// TestTrainingBar: a run that goes on does not take the iterations before for its own.
func TestTrainingBar(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	b := &screen{columns: 80}
	showTraining(terminal.NewBar(b, "run"), train.Step{Iteration: 75, Iterations: 100, Loss: 0.01, Remaining: 90 * time.Second})
	require.Equal(t, "\rrun [##################------]  75%  1:30 left  iteration 75  loss 1.00e-02", b.String())
}

func TestTrainRangeTest(t *testing.T) {
	inFolder(t)
	photographs(t, "data", 1)
	r := succeeds(t, tiny("data", "--range-test")...)
	require.Regexp(t, `^minimum learning rate \S+\nmaximum learning rate \S+\n$`, r.stdout)
	require.Contains(t, r.stderr, "restore: 6 iterations with learning rates from 1e-06 to 10\n")
	require.Contains(t, r.stderr, "restore: train with --learning-rate ")
	require.NoDirExists(t, "run")

	r = succeeds(t, tiny("data", "--range-test=1e-5..1e-4", "-o", "run", "--recipe", "paper")...)
	require.Contains(t, r.stdout, filepath.Join("run", rangeTestFile))
	require.Regexp(t, `train with --learning-rate \S+\.\.\S+\n`, r.stderr, "both, for a schedule that has both")
	_, err := png.Decode(bytes.NewReader(content(t, "run/"+rangeTestFile)))
	require.NoError(t, err)
	require.NoFileExists(t, "run/"+train.ConfigFile, "nothing is trained")
	fails(t, exitFailed, []string{"exists already; --force overwrites it"}, tiny("data", "--range-test", "-o", "run")...)
	o := objects(t, succeeds(t, tiny("data", "--range-test", "-o", "run", "--force", "--json")...).stdout)
	require.Equal(t, "{command:string picture:string range_test:{diverged:bool maximum:number minimum:number "+
		"points:[{learning_rate:number loss:number smoothed:number}]} schema:number seconds:number}", shape(o[0]))
	succeeds(t, tiny("data", "-q", "-o", "run")...) // in the same folder
}

func TestTrainWrongUsage(t *testing.T) {
	inFolder(t)
	photographs(t, "data", 1)
	require.NoError(t, os.Remove("data/notes.txt"))
	require.NoError(t, os.Mkdir("empty", 0o777))
	require.NoError(t, os.Mkdir("taken", 0o777))
	require.NoError(t, os.WriteFile("taken/curves.png", nil, 0o666))
	for _, c := range []struct {
		args string
		part string
	}{
		{"train", "train needs a folder of images"},
		{"train data", "train needs -o RUN"},
		{"train data data -o run", "one folder of images, not 2"},
		{"train - -o run", "is not a folder of images"},
		{"train --resume", "--resume needs -o RUN"},
		{"train --resume -o run --width 8", "--resume continues the run as it began; leave --width out"},
		{"train --resume -o run --lr 8", "leave --learning-rate out"},
		{"train --resume -o run --set width=3", "leave --set out"},
		{"train --resume -o run --range-test", "leave --range-test out"},
		{"train --resume -o run --init w", "leave --init out"},
		{"train data --range-test --init w", "leave --init out"},
		{"train data -o run --init=", "--init is empty"},
		{"train data -o run --init - --config -", "can be read once"},
		{"train data -o run --force", "--force is for --range-test"},
		{"train empty -o data/0.png", "is a file; a run needs a folder"},
		{"train data -o data/run", "lies in the folder of images data"},
		{"train data -o data", "lies in the folder of images data"},
		{"train data --val empty -o empty/run", "lies in the folder of images empty"},
		{"train empty --range-test -o data/0.png", "is a file; a run needs a folder"},
		{"train data -o taken", "curves.png exists already; take another folder"},
		{"train data -o run --method backward-euler", "--method backward-euler: there is no training for it; want euler, heun"},
		{"train data -o run --method tv", "--method tv: there is no training for it"},
		{"train data -o run --recipe secret", "--recipe secret: want default, paper, deblur, guided, guided-deblur, camera or raw"},
		{"train data -o run --recipe paper", "--recipe paper needs --learning-rate MIN..MAX; --range-test finds them"},
		{"train data -o run --recipe paper --config c.json", "--config and --recipe both say where to start from"},
		{"train data -o run --sigma 25", "write 25/255"},
		{"train data -o run --sigma 0.3..0.1", "--sigma 0.3..0.1: want the lower one first"},
		{"train data -o run --sigma 0..0.1", "above 0"},
		{"train data -o run --learning-rate fast", "want a number such as 1e-3"},
		{"train data -o run --learning-rate 1..0.1", "the smaller one first"},
		{"train data -o run --learning-rate -1", "want numbers above 0"},
		{"train data --range-test=1", "want two different numbers above 0, such as 1e-6..10"},
		{"train data -o run --width 2", "width is 2, must be from 3"},
		{"train data -o run --iterations 0", "iterations is 0, must be from 1"},
		{"train data -o run --seed -1", "--seed -1: want a whole number"},
		{"train data -o run --set width", "--set width: want KEY=VALUE"},
		{"train data -o run --set width.x=1", "--set width.x=1: width has no fields"},
		{"train data -o run --set colour=red", `configuration: unknown field "colour"`},
		{"train data -o run --set width=wide", "width is a string, must be a whole number in range"},
		{"train data -o run --set augment=1", "augment is a number, must be true or false"},
		{"train data -o run --set optimiser=1", "optimiser is a number, must be an object"},
		{"train data -o run --set width=1.5", "must be a whole number in range"},
		{"train data -o run --max-pixels 0", "--max-pixels 0"},
		{"train data -o run --backend cuda", "this build has no CUDA support"},
		{"train data -o run --threads -1", "--threads -1"},
		{"train data -o run --licence= --name x", "--licence is empty"},
	} {
		t.Run(c.args, func(t *testing.T) {
			fails(t, exitUsage, []string{c.part}, fields(c.args)...)
			require.Equal(t, []string{"data/0.png", "taken/curves.png"}, files(t))
		})
	}
	fails(t, exitUsage, []string{`--name "two\nlines": want one line of printable text`}, "train", "data", "-o", "run", "--name", "two\nlines")
}

func TestTrainOnHostileFiles(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	photographs(t, "data", 1)
	require.NoError(t, os.Remove("data/notes.txt"))
	require.NoError(t, os.Mkdir("empty", 0o777))
	require.NoError(t, os.Mkdir("texts", 0o777))
	require.NoError(t, os.WriteFile("texts/a.png", []byte("a text, renamed"), 0o666))
	for file, text := range map[string]string{
		"unknown.json": `{"depth": 3}`, "broken.json": `{"width": `, "type.json": `{"width": "wide"}`,
		"even.json": `{"kernel": 4}`, "two.json": `{} {}`, "list.json": `[]`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
	require.NoError(t, os.WriteFile("long.json", bytes.Repeat([]byte(" "), int(configurations.most)+1), 0o666))
	before := files(t)
	for _, c := range []struct{ args, part string }{
		{"missing -o run", "missing: no such file"},
		{"empty -o run", "empty: is empty; give a folder of images"},
		{"data --crop 12 --val missing -o run", "missing: no such file"},
		{"data --init missing -o run", "missing: no such file"},
		{"data --init data/0.png -o run", "0.png: "},
		{"data --config missing.json -o run", "missing.json: no such file"},
		{"data --config data -o run", "data: "},
		{"data --config unknown.json -o run", `unknown.json: configuration: unknown field "depth"`},
		{"data --config broken.json -o run", "broken.json: configuration: unexpected EOF"},
		{"data --config type.json -o run", "type.json: configuration: width is a string, must be a whole number in range"},
		{"data --config even.json -o run", "even.json: configuration: kernel is 4, must be odd"},
		{"data --config two.json -o run", "two.json: configuration: something follows"},
		{"data --config list.json -o run", "list.json: configuration: "},
		{"data --config long.json -o run", "long.json: has more than 1 MB"},
		{"--resume -o missing", "missing: holds no run, for there is no config.json in it"},
		{"--resume -o data", "data: holds no run, for there is no config.json in it"},
		{"--resume -o data/0.png", "0.png: holds no run"},
	} {
		fails(t, exitFailed, []string{c.part}, fields("train "+c.args)...)
		require.Equal(t, before, files(t), c.args)
	}
	r := restoring(t, fields("train texts -o run")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "restore: left out: "+filepath.Join("texts", "a.png")+": unknown image format")
	require.Contains(t, r.stderr, "restore: texts: has no image that can be used: every file in it was left out\n")
	r = restoring(t, fields("train data -o run --crop 200")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "must be at least 200×200\n")
	require.Equal(t, before, files(t))

	// A run, and what can have happened to it.
	succeeds(t, tiny("data", "-q", "-o", "run")...)
	fails(t, exitUsage, []string{"run holds a run already; --resume continues it"}, tiny("data", "-o", "run")...)
	fails(t, exitFailed, []string{"run: the checkpoint is of a run on other pictures"}, damaged(t, "data/0.png", "train --resume -o run", func(b []byte) []byte {
		return content(t, save(t, "other.png", picture(3, 15, 17, 8, 0.1)))
	})...)
	save(t, "data/0.png", picture(3, 14, 17, 8, 0.02))
	for file, part := range map[string]string{
		train.ConfigFile: "config.json: configuration: ", train.CheckpointFile: "run: ", commandFile: "command.json: is damaged: ", train.MetricsFile: "",
	} {
		path := filepath.Join("run", file)
		whole := content(t, path)
		require.NoError(t, os.WriteFile(path, []byte(`{"x"`), 0o666))
		r := restoring(t, fields("train --resume -o run -q")...)
		if file == train.MetricsFile {
			require.Equal(t, exitDone, r.code, "it is cut to whole lines: %s", r.stderr)
		} else {
			require.Equal(t, exitFailed, r.code, file)
			requireOneLine(t, r.stderr, part)
		}
		require.NoError(t, os.WriteFile(path, whole, 0o666))
	}
	require.NoError(t, os.Remove("run/"+train.CheckpointFile))
	fails(t, exitFailed, []string{"run: holds no run, for there is no checkpoint.safetensors in it"}, fields("train --resume -o run -q")...)

	// A learning rate that is beyond all use.
	r = restoring(t, tiny("data", "-q", "-o", "wild", "--recipe", "paper", "--learning-rate", "1e30..1e30")...)
	require.Equal(t, exitFailed, r.code)
	requireOneLine(t, r.stderr, "wild: iteration ", "take a smaller --learning-rate, which --range-test finds")
}

// damaged changes a file and returns the arguments of a command line.
func damaged(t *testing.T, path, args string, change func([]byte) []byte) []string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, change(content(t, path)), 0o666))
	return fields(args)
}

func TestTrainHelp(t *testing.T) {
	r := succeeds(t, "train", "--help")
	for _, part := range []string{"curves.png", "--learning-rate", "--range-test", "--resume", "euler, heun, rk4", "Examples:"} {
		require.Contains(t, r.stdout, part)
	}
	require.Contains(t, succeeds(t, "__complete", "train", "--method", "").stdout, "rk4\n")
	require.Contains(t, succeeds(t, "__complete", "train", "--recipe", "").stdout, "paper\n")
}
