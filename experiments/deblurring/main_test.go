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
	tinyset.Write(t, data, 2, 28)
	methods := "euler,heun,rk4,tv,dncnn"
	if testing.Short() {
		methods = "euler,tv"
	}
	arguments := []string{"-data", data, "-o", folder, "-methods", methods, "-iterations", "12", "-limit", "1", "-crop", "24", "-length", "5"}
	var first, again bytes.Buffer
	require.NoError(t, run(t.Context(), arguments, &first))
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	require.NotContains(t, string(page), "CONTRADICTION")
	f, err := os.Open(filepath.Join(folder, "deblurring.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		var v [5]float64
		for i := range v {
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
	for _, name := range []string{"residuals.svg", "psnr.svg"} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	kept, err := os.Stat(filepath.Join(folder, "deblurring.json"))
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), arguments, &again))
	require.Equal(t, first.String(), again.String())
	after, err := os.Stat(filepath.Join(folder, "deblurring.json"))
	require.NoError(t, err)
	require.Equal(t, kept.ModTime(), after.ModTime(), "nothing is computed again")

	for _, wrong := range [][]string{{"-methods", "backward-euler"}, {"-sigma", "2"}, {"-level", "0"}, {"-iterations", "1"}, {"-length", "0"}} {
		require.Error(t, run(t.Context(), append(arguments, wrong...), &again), "%v", wrong)
	}
}
