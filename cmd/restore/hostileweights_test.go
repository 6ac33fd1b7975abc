package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise"
)

// Weight files that are made to be believed are refused, or told the truth about.
func TestWeightsThatShouldNotBeBelieved(t *testing.T) {
	leaveRuns(t)
	folder, err := filepath.Abs(filepath.Join("..", "..", "denoise", "testdata", "hostile"))
	require.NoError(t, err)
	inFolder(t)
	save(t, "a.png", picture(3, 16, 16, 8, 0.02))
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	for name, why := range map[string]string{
		"C4":      "the squared length of Az + b may reach",
		"C_balls": "the squared length of Az + b may reach",
		"E_1e6":   "can be solved in float32",
		"E_1e30":  "can be solved in float32",
		"D_panic": "more than 65536 steps in all",
		"D_oom":   "more than 65536 steps in all",
	} {
		for _, args := range [][]string{{"check"}, {"denoise", "--sigma", "0.1", "--force", "a.png"}, {"deblur", "--kernel", "k.png", "--sigma", "0.1", "--force", "a.png"}} {
			r := restoring(t, append(args, "--weights", filepath.Join(folder, name+".safetensors"))...)
			require.Equal(t, exitFailed, r.code, "%s %v", name, args)
			require.Contains(t, r.stderr, why, "%s %v", name, args)
			require.Empty(t, r.stdout)
		}
	}
	for _, name := range []string{"B_2e18", "B_2e22"} {
		r := restoring(t, "check", "--weights", filepath.Join(folder, name+".safetensors"))
		require.Equal(t, exitFailed, r.code)
		require.Regexp(t, `rounding: float32 adds at most [0-9.e+]+ of 255 to an image in \[0, 1\] \(proven\)`, r.stdout)
		require.Contains(t, r.stdout, "too much to prove convergence of what is computed")
		require.True(t, strings.HasSuffix(r.stdout, "holds: no\n"), r.stdout)
		require.Contains(t, r.stderr, "in float32: rounding could change a pixel by")
	}
	drowned := filepath.Join(folder, "B_2e22.safetensors")
	r := restoring(t, "deblur", "--kernel", "k.png", "--sigma", "0.1", "--iterations", "20", "--weights", drowned, "--force", "a.png")
	require.Equal(t, exitDone, r.code)
	require.NotContains(t, r.stdout, "convergence proven")
}

// A file of a few kilobytes that asks for endless work is refused before it begins, with the flag that allows it.
func TestEndlessWeights(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 16, 16, 8, 0.02))
	m := seededModel(t, "euler", 0.5)
	m.Blocks[0].Steps, m.Blocks[1].Steps = 1, 1<<16-1
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	for name, c := range map[string]denoise.Certificate{"certified": c, "plain": {}} {
		f, err := m.File(seededCard("euler"), c)
		require.NoError(t, err)
		file := saveWeights(t, name+".safetensors", f)
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(10000))
		for _, args := range [][]string{{"check"}, {"check", "--uncertified"}, {"denoise", "--sigma", "0.1", "a.png"}, {"upscale", "--factor", "2", "a.png"}} {
			r := restoring(t, append(args, "--weights", file)...)
			require.Equal(t, exitFailed, r.code, "%v", args)
			require.Regexp(t, file+`: .*the network asks for too much work: .*e\+14 multiplications to prove it and for a megapixel, about [0-9]+ minutes on one core; at most 5e\+13 are allowed; --max-work raises the limit\n$`, r.stderr)
			require.Empty(t, r.stdout)
		}
	}
	m.Blocks[1].Steps = 2000 // about a minute for a megapixel
	f, err := m.File(seededCard("euler"), denoise.Certificate{})
	require.NoError(t, err)
	file := saveWeights(t, "slow.safetensors", f)
	r := restoring(t, "denoise", "--sigma", "0.1", "a.png", "--weights", file)
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Contains(t, r.stderr, "note: slow.safetensors: the network takes about")
	fails(t, exitFailed, []string{"too much work"}, "denoise", "--sigma", "0.1", "a.png", "--weights", file, "--max-work", "1e12", "--force")
	fails(t, exitUsage, []string{"--max-work 0: want a number above 0"}, "denoise", "--max-work", "0", "a.png")
}

// TestLongProofs: a proof that takes long is told about, and ends when it is told to.
func TestLongProofs(t *testing.T) {
	defer func(before time.Duration) { patience = before }(patience)
	patience = 20 * time.Millisecond
	inFolder(t)
	m, err := denoise.RandomModel(9, denoise.Architecture{Width: 3, Blocks: 1}, 1)
	require.NoError(t, err)
	m.Kernel = 51
	m.Blocks[0].Filter = make([]float32, 3*3*51*51)
	for i := range m.Blocks[0].Filter {
		m.Blocks[0].Filter[i] = 1e-4 * float32(math.Sin(float64(i*i)))
	}
	f, err := m.File(seededCard("euler"), denoise.Certificate{})
	require.NoError(t, err)
	large := saveWeights(t, "large.safetensors", f)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &cancelling{text: "large.safetensors: its certificate is being proven, which takes long", cancel: cancel}
	var stdout bytes.Buffer
	args := []string{"check", "--progress", "always", "--weights", large}
	require.Equal(t, exitInterrupted, run(ctx, args, strings.NewReader(""), &stdout, stderr))
	require.Empty(t, stdout.String())
}
