package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/experiments/internal/tinyset"
)

// TestTheExperimentOnATinySet runs all of it twice: the second run computes nothing.
func TestTheExperimentOnATinySet(t *testing.T) {
	data, folder := t.TempDir(), filepath.Join(t.TempDir(), "out")
	tinyset.Write(t, filepath.Join(data, "train"), 2, 40)
	tinyset.Write(t, filepath.Join(data, "val"), 2, 36)
	arguments := []string{"-data", data, "-o", folder, "-methods", "euler,dncnn,tv", "-draws", "2", "-crop", "24", "-example", "16", "-iterations", "4", "-range-iterations", "12", "-decays", "1e-5,1e-1", "-width", "4", "-blocks", "2", "-training-crop", "12"}
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), arguments, &out))
	files := map[string]string{}
	for _, name := range []string{"report.html", "denoising.csv", "psnr.svg", "range-test.csv", "range-test.svg", "weight-decay.csv", "steps.svg", "loss.svg"} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		files[name] = string(b)
	}
	f, err := os.Open(filepath.Join(folder, "denoising.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+4)
	noisy, err := strconv.ParseFloat(rows[1][1], 64)
	require.NoError(t, err)
	for _, row := range rows[2:] {
		v, err := strconv.ParseFloat(row[1], 64)
		require.NoError(t, err)
		require.Greater(t, v, noisy+5, row[0])
	}
	var again bytes.Buffer
	require.NoError(t, run(t.Context(), arguments, &again))
	require.NotContains(t, again.String(), "iteration", "nothing is trained again")
	for name, want := range files {
		b, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, want, string(b), name)
	}
	require.ErrorContains(t, run(t.Context(), append(arguments, "-iterations", "5"), &again), "other options")
}

func TestArguments(t *testing.T) {
	for _, wrong := range [][]string{{"-methods", "x"}, {"-draws", "0"}, {"-limit", "-1"}, {"-decays", "x"}} {
		require.Error(t, run(t.Context(), append([]string{"-data", t.TempDir(), "-o", t.TempDir()}, wrong...), &bytes.Buffer{}), "%v", wrong)
	}
	require.ErrorContains(t, run(t.Context(), []string{"-data", t.TempDir(), "-o", t.TempDir()}, &bytes.Buffer{}), "no image")
}
