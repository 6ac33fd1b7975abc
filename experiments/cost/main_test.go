package main

import (
	"io"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/experiments/internal/tinyset"
)

// TestTheExperimentOnATinySet: all rows are there, and the memory is what counting arrays says.
func TestTheExperimentOnATinySet(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	arguments := []string{"-data", t.TempDir(), "-o", folder, "-batch", "2", "-images", "1", "-height", "12", "-width", "16", "-repetitions", "1",
		"-channels", "4", "-blocks", "2", "-widths", "3,4", "-classifier-blocks", "1", "-training-attack-iterations", "1"}
	require.NoError(t, run(t.Context(), arguments, io.Discard))
	require.FileExists(t, filepath.Join(folder, "report.html"))
	rows := map[string][]string{}
	for name, want := range map[string]int{"classification": 4, "denoising": 8} {
		read := tinyset.Rows(t, folder, name+".csv")
		require.Len(t, read, 1+want)
		for _, r := range read[1:] {
			rows[r[0]] = r
		}
	}
	steps := func(name string) int {
		n, err := strconv.Atoi(rows[name][1])
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, steps("NonExpNet, initial"))
	require.Equal(t, 4, steps("NonExpNet, four steps a block"))
	for _, name := range []string{"Euler", "Heun", "RK4"} {
		require.Equal(t, 2, steps(name+", initial"))
		require.Equal(t, 4, steps(name+", two steps a block"))
	}
	tinyset.Refuses(t, run, arguments, []string{"-batch", "0"})
}

func TestCountedMemory(t *testing.T) {
	o := &options{images: 1, height: 8, width: 8, repetitions: 1, channels: 4, blocks: 2}
	c, err := o.averaged(t.Context(), "euler", 1)
	require.NoError(t, err)
	// Two blocks of a step: z before each and after the last, the hidden layer of each, and the
	// gradient, which is that of z and of the hidden layer.
	array := int64(4 * 4 * 8 * 8)
	require.GreaterOrEqual(t, c.training, 5*array)
	require.LessOrEqual(t, c.training, 9*array)
}
