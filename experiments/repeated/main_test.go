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

func TestTheExperimentOnATinySet(t *testing.T) {
	data, folder := t.TempDir(), filepath.Join(t.TempDir(), "out")
	tinyset.Write(t, data, 2, 20)
	arguments := []string{"-data", data, "-o", folder, "-repetitions", "15", "-picture", "2", "-crop", "16"}
	var first, again bytes.Buffer
	require.NoError(t, run(t.Context(), arguments, &first))
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	require.NotContains(t, string(page), "CONTRADICTION")
	require.Equal(t, 1+3*3+1, bytes.Count(page, []byte("<img ")), "the picture, three of each map, and a figure")
	f, err := os.Open(filepath.Join(folder, "residuals.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"k", "Euler", "Euler: bound", "Euler, projected onto [0, 1]", "Euler, projected onto [0, 1]: bound", "DnCNN"}, rows[0])
	value := func(row, column int) float64 {
		v, err := strconv.ParseFloat(rows[row][column], 64)
		require.NoError(t, err)
		return v
	}
	require.Less(t, value(3, 1), value(1, 1))
	for row := 2; row <= 3; row++ {
		for _, column := range []int{1, 3} {
			require.Less(t, value(row, column), value(row, column+1)*1.001)
		}
	}
	// What was computed is there.
	kept, err := os.Stat(filepath.Join(folder, "repetitions.json"))
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), arguments, &again))
	require.Equal(t, first.String(), again.String())
	after, err := os.Stat(filepath.Join(folder, "repetitions.json"))
	require.NoError(t, err)
	require.Equal(t, kept.ModTime(), after.ModTime())

	for _, wrong := range [][]string{{"-repetitions", "1"}, {"-picture", "0"}, {"-picture", "3"}, {"-crop", "-1"}} {
		require.Error(t, run(t.Context(), append(arguments, wrong...), &again), "%v", wrong)
	}
}
