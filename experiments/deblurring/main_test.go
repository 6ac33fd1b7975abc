package main

import (
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
	tinyset.Write(t, data, 2, 28)
	methods := "euler,heun,rk4,tv,dncnn"
	if testing.Short() {
		methods = "euler,tv"
	}
	arguments := []string{"-data", data, "-methods", methods, "-iterations", "12", "-limit", "1", "-crop", "24", "-length", "5"}
	first, again := tinyset.Twice(t, run, folder, arguments, "residuals.svg", "psnr.svg")
	require.Equal(t, first, again)
	rows := tinyset.Rows(t, folder, "deblurring.csv")
	for _, row := range rows[1:] {
		var v [5]float64
		for i := range v {
			var err error
			if v[i], err = strconv.ParseFloat(row[i+1], 64); i < 4 {
				require.NoError(t, err)
			}
		}
		require.Less(t, v[3], v[2], "%s: residuals fall", row[0])
		if row[0] == "DnCNN" {
			require.Equal(t, "nothing is proven", row[5])
		} else {
			require.Greater(t, v[4], v[3], row[0])
		}
	}
	kept, err := os.Stat(filepath.Join(folder, "deblurring.json"))
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), append(arguments, "-o", folder), io.Discard))
	after, err := os.Stat(filepath.Join(folder, "deblurring.json"))
	require.NoError(t, err)
	require.Equal(t, kept.ModTime(), after.ModTime(), "nothing is computed again")

	tinyset.Refuses(t, run, arguments, []string{"-methods", "backward-euler"}, []string{"-sigma", "2"}, []string{"-level", "0"}, []string{"-iterations", "1"}, []string{"-length", "0"})
}
