package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/cmd/restore/internal/inventory"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/research" // the tests go through these networks, too
)

// certifiedNetwork is the embedded network of the fewest parameters that has a certificate.
func certifiedNetwork(t *testing.T) string {
	t.Helper()
	smallest, least := "", math.MaxInt
	for _, m := range restore.Methods() {
		if !m.Embedded || !m.Certified {
			continue
		}
		f, err := weights.Open(m.Name)
		require.NoError(t, err)
		if n := f.Parameters(); n < least {
			smallest, least = m.Name, n
		}
	}
	require.NotEmpty(t, smallest, "no embedded network has a certificate")
	return smallest
}

// requireMethods checks the methods of info.
func requireMethods(t *testing.T, methods []any) {
	t.Helper()
	var names []string
	for _, m := range methods {
		about := m.(map[string]any)
		certificate := "[]"
		if about["name"] == "tv" {
			certificate = "[string]"
		}
		require.Equal(t, "{certificate:"+certificate+" certified:bool description:string embedded:bool name:string needs_weights:bool}", shape(m))
		if about["needs_weights"] == false {
			names = append(names, about["name"].(string))
		}
	}
	require.Equal(t, methodNames(), strings.Join(names, ", "))
}

// requireEmbedded checks the weights of info, as JSON and in words.
func requireEmbedded(t *testing.T, embedded []any, words string) {
	t.Helper()
	require.Len(t, embedded, len(weights.Embedded()))
	for i, name := range weights.Embedded() {
		f, err := weights.Open(name)
		require.NoError(t, err)
		card, err := f.Card()
		require.NoError(t, err)
		levels := ""
		if len(card.Architecture.Sigmas) > 0 {
			levels = "levels:[number] "
		}
		about := embedded[i].(map[string]any)
		require.Equal(t, "{certificate:string checksum:string data:string description:string file:string "+levels+
			"licence:string name:string parameters:number sigma:number}", shape(about))
		require.Equal(t, []any{name, "embedded", card.Checksum, card.Licence, card.Provenance.Data, float64(f.Parameters())},
			[]any{about["name"], about["file"], about["checksum"], about["licence"], about["data"], about["parameters"]})
		if name == weights.DnCNN {
			require.Equal(t, "nothing is proven of it", about["certificate"])
		} else {
			require.Regexp(t, `^proven to be (nonexpansive|0\.\d+-averaged)$`, about["certificate"])
		}
		for _, part := range []string{
			"weights   " + name + ": ", card.Checksum, card.Licence + "; " + card.Provenance.Data, message.Thousands(f.Parameters()) + " parameters, for noise of ",
			about["certificate"].(string),
		} {
			require.Contains(t, words, part)
		}
	}
}

// An embedded network is a method like any other, and needs no file.
func TestEmbeddedByName(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	save(t, "b.png", picture(1, 20, 24, 8, 0.05))
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	for _, method := range weights.Embedded() {
		guided := method == weights.Fast
		if !guided && method != weights.Small && method != weights.DnCNN {
			continue // they are of the first two's kinds, and package restore runs them all
		}
		r := succeeds(t, "denoise", "--method", method, "--sigma", "0.05", "a.png", "b.png", "-o", method+"/")
		require.Contains(t, r.stdout, ": noise of sigma 0.05 removed by "+method+", ")
		if method == "dncnn" {
			require.Contains(t, r.stderr, "has learned white noise of 0.1", "it is for other noise")
			require.Contains(t, r.stderr, "restore: 2 done, 0 failed, 0 skipped\n")
		} else {
			require.Equal(t, "restore: 2 done, 0 failed, 0 skipped\n", r.stderr)
		}
		f, err := weights.Open(method)
		require.NoError(t, err)
		file := saveWeights(t, method+".safetensors", f)
		o := objects(t, succeeds(t, "denoise", "--weights", file, "--sigma", "0.05", "a.png", "-o", "again.png", "--force", "--json").stdout)[0]
		require.Equal(t, load(t, method+"/a.png").Pix, load(t, "again.png").Pix, "a copy of the file does the same")
		require.Equal(t, method, o["method"], "and is known as what it is")
		require.Equal(t, file, o["network"].(map[string]any)["file"])
		succeeds(t, "denoise", "--method", method, "--weights", file, "--sigma", "0.05", "--tile", "8", "a.png", "-o", "again.png", "--force")
		require.Equal(t, load(t, method+"/a.png").Pix, load(t, "again.png").Pix)

		o = objects(t, succeeds(t, "deblur", "--kernel", "k.png", "--prior", method, "--sigma", "0.05", "--iterations", "2", "--json", "--force", "a.png").stdout)[0]
		network := o["network"].(map[string]any)
		require.Equal(t, []any{method, "embedded", method}, []any{o["method"], network["file"], network["name"]})
		require.Equal(t, method != weights.DnCNN, o["certificate"].(map[string]any)["converges"])
		require.Equal(t, guided, o["guide"] != nil)
		if guided {
			require.EqualValues(t, 2, o["guide"].(map[string]any)["looks"])
		}
	}
}

func TestEmbeddedInWords(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	method := certifiedNetwork(t)
	r := succeeds(t, "denoise", "--method", method, "--sigma", "0.05", "-v", "a.png")
	require.Contains(t, r.stderr, "restore: "+method+": integrator ")
	require.Contains(t, r.stderr, "part of this library, proven by its tests; 'restore check' proves it anew")
	r = succeeds(t, "denoise", "--method", method, "--iterations", "5", "--force", "a.png")
	require.Contains(t, r.stderr, "note: --iterations has no effect: "+method+" is applied once\n")
	file := seeded(t, "heun")
	fails(t, exitUsage, []string{"--method " + method + ": the network in heun.safetensors is of method heun; give that, or leave --method out"},
		"denoise", "--method", method, "--weights", file, "--force", "a.png")
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	r = succeeds(t, "deblur", "--kernel", "k.png", "--prior", weights.DnCNN, "--iterations", "1", "a.png")
	require.Contains(t, r.stderr, "note: dncnn: convergence is not guaranteed")
}

// The program as it is built by default says how to get the networks that it does not have, and takes their files.
func TestWithoutResearchWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("linking the program takes long; the run without -short does it")
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(t.TempDir(), "restore.exe"), ".")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	general, err := weights.Open(weights.General)
	require.NoError(t, err)
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	file := saveWeights(t, "general.safetensors", general)
	run := func(args ...string) (stdout, stderr string, status int) {
		var out, words strings.Builder
		c := exec.Command(build.Args[4], args...)
		c.Stdout, c.Stderr = &out, &words
		if err := c.Run(); err != nil {
			require.ErrorAs(t, err, new(*exec.ExitError))
		}
		return out.String(), words.String(), c.ProcessState.ExitCode()
	}
	missing := []string{weights.General, weights.Deblur, weights.Small, weights.Euler, weights.Heun, weights.RK4, weights.DnCNN}

	info, _, status := run("info")
	require.Zero(t, status)
	require.Contains(t, info, "missing   "+strings.Join(missing, ", ")+"\n          "+inventory.HowToGetResearch+"\n")
	require.NotContains(t, strings.ReplaceAll(info, inventory.HowToGetResearch, ""), "BSDS500")
	for _, name := range missing {
		_, words, status := run("denoise", "--method", name, "--sigma", "0.05", "a.png")
		require.Equal(t, exitUsage, status)
		require.Equal(t, "restore: --method "+name+": not in this build; "+inventory.HowToGetResearch+"; or use --method guided\n", words)
	}
	_, words, status := run("denoise", "--method", "general", "--weights", file, "--sigma", "0.05", "a.png")
	require.Equal(t, exitUsage, status)
	require.Equal(t, "restore: --method general: not in this build; name its file with --weights alone, without --method\n", words)

	_, words, status = run("denoise", "--weights", file, "--sigma", "0.05", "a.png", "-o", "file.png")
	require.Zero(t, status, words)
	succeeds(t, "denoise", "--method", "general", "--sigma", "0.05", "a.png", "-o", "name.png")
	require.Equal(t, load(t, "name.png").Pix, load(t, "file.png").Pix)
}

// What check says of an embedded network it has proven itself.
func TestCheckOfEmbeddedProvesAnew(t *testing.T) {
	inFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	stderr := &cancelling{text: "stored with the weights, verified when they were loaded", cancel: cancel}
	require.Equal(t, exitInterrupted, run(ctx, fields("check -v --prior "+certifiedNetwork(t)), strings.NewReader(""), &stdout, stderr))
	require.NotContains(t, stderr.String(), "proven by its tests")
	require.Empty(t, stdout.String())

	// --uncertified is about them too.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	stderr = &cancelling{text: "loaded without looking at a certificate", cancel: cancel}
	require.Equal(t, exitInterrupted, run(ctx, fields("check -v --uncertified --prior "+certifiedNetwork(t)), strings.NewReader(""), &stdout, stderr))
}

func TestEvalOfEmbedded(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	holdout(t)
	method := certifiedNetwork(t)
	f, err := weights.Open(method)
	require.NoError(t, err)
	saveWeights(t, "copy.safetensors", f)
	seeded(t, "heun")
	r := succeeds(t, fields("eval holdout --sigma 0.1 --limit 1 --method tv,"+method+" --weights heun.safetensors --weights copy.safetensors")...)
	rows := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	require.Len(t, rows, 5)
	for i, label := range []string{"tv", method, "seeded-heun", "copy.safetensors"} {
		require.True(t, strings.HasPrefix(rows[1+i], label+" "), rows[1+i])
	}
	o := objects(t, succeeds(t, fields("eval holdout --sigma 0.1 --limit 1 --json --method "+method)...).stdout)
	require.Equal(t, "embedded", o[0]["network"].(map[string]any)["file"])

	// The default of denoising and of deblurring.
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	for args, method := range map[string]string{"": networks.DefaultMethod(), " --kernel k.png": networks.DefaultPrior()} {
		o := objects(t, succeeds(t, fields("eval holdout --sigma 0.1 --limit 1 --json"+args)...).stdout)
		require.Equal(t, method, o[0]["method"])
	}
}

// The help says what is the default, and which networks there are.
func TestHelpNamesMethods(t *testing.T) {
	built := strings.Join(weights.Embedded(), ", ")
	for command, part := range map[string]string{
		"denoise": "The default method is " + networks.DefaultMethod() + ".",
		"deblur":  "The default prior is " + networks.DefaultPrior() + ",",
		"check":   "The default prior is " + networks.DefaultPrior() + ",",
		"eval":    "The default is " + networks.DefaultMethod() + ", and " + networks.DefaultPrior() + " for deblurring and inpainting.",
	} {
		help := succeeds(t, command, "--help").stdout
		require.Contains(t, help, part)
		require.Contains(t, strings.Join(strings.Fields(help), " "), "Built in: "+built+". ")
	}
	for _, args := range [][]string{{"denoise", "--method", networks.DefaultMethod()}, {"deblur", "--prior", networks.DefaultPrior()}} {
		help := strings.Join(strings.Fields(succeeds(t, args[0], "--help").stdout), " ")
		require.Contains(t, help, fmt.Sprintf("(default %q)", args[2]))
	}
	completed := succeeds(t, "__complete", "eval", "--method", "").stdout
	for _, m := range restore.Methods() {
		require.Equal(t, !m.NeedsWeights, strings.Contains("\n"+completed, "\n"+m.Name+"\t"), m.Name)
		completed := succeeds(t, "__complete", "denoise", "--method", "").stdout
		require.Equal(t, !m.NeedsWeights, strings.Contains("\n"+completed, "\n"+m.Name+"\t"+m.Description), m.Name)
	}
}
