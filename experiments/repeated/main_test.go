package main

import (
	"bytes"
	"io"
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
	arguments := []string{"-data", data, "-repetitions", "15", "-picture", "2", "-crop", "16"}
	first, again := tinyset.Twice(t, run, folder, arguments)
	require.Equal(t, first, again)
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	require.Equal(t, 1+3*3, bytes.Count(page, []byte("<img ")), "the picture, and three of each map")
	require.Equal(t, 1, bytes.Count(page, []byte("<svg ")), "and a figure")
	rows := tinyset.Rows(t, folder, "residuals.csv")
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
	require.NoError(t, run(t.Context(), append(arguments, "-o", folder), io.Discard))
	after, err := os.Stat(filepath.Join(folder, "repetitions.json"))
	require.NoError(t, err)
	require.Equal(t, kept.ModTime(), after.ModTime())

	tinyset.Refuses(t, run, arguments, []string{"-repetitions", "1"}, []string{"-picture", "0"}, []string{"-picture", "3"}, []string{"-crop", "-1"})
}
