package main

import (
	"io"
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
	arguments := []string{"-data", data, "-methods", "euler,dncnn,tv", "-draws", "2", "-crop", "24", "-example", "16", "-iterations", "4", "-range-iterations", "12", "-decays", "1e-5,1e-1", "-width", "4", "-blocks", "2", "-training-crop", "12"}
	_, again := tinyset.Twice(t, run, folder, arguments, "denoising.csv", "psnr.svg", "range-test.csv", "range-test.svg", "weight-decay.csv", "steps.svg", "loss.svg")
	require.NotContains(t, again, "iteration", "nothing is trained again")
	rows := tinyset.Rows(t, folder, "denoising.csv")
	require.Len(t, rows, 1+4)
	noisy, err := strconv.ParseFloat(rows[1][1], 64)
	require.NoError(t, err)
	for _, row := range rows[2:] {
		v, err := strconv.ParseFloat(row[1], 64)
		require.NoError(t, err)
		require.Greater(t, v, noisy+5, row[0])
	}
	require.ErrorContains(t, run(t.Context(), append(arguments, "-o", folder, "-iterations", "5"), io.Discard), "other options")
}

func TestArguments(t *testing.T) {
	tinyset.Refuses(t, run, []string{"-data", t.TempDir()}, []string{"-methods", "x"}, []string{"-draws", "0"}, []string{"-limit", "-1"}, []string{"-decays", "x"})
	require.ErrorContains(t, run(t.Context(), []string{"-data", t.TempDir(), "-o", t.TempDir()}, io.Discard), "no image")
}
