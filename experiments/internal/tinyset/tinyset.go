// Package tinyset is what the tests of the experiments have in common: photographs that they run
// on, runs that are repeated, and tables that are read.
package tinyset

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Write makes n pictures of side×side pixels in a folder, which is made: stripes and a disk.
func Write(t testing.TB, folder string, n, side int) {
	require.NoError(t, os.MkdirAll(folder, 0o777))
	for i := range n {
		img := image.NewNRGBA(image.Rect(0, 0, side, side))
		for p := range side * side {
			x, y := float64(p%side)/float64(side), float64(p/side)/float64(side)
			v := 0.5 + 0.3*math.Sin(12*x+float64(i)*y*9)
			if math.Hypot(x-0.5, y-0.4) < 0.25 {
				v = 0.9 - 0.2*float64(i)/float64(n)
			}
			img.SetNRGBA(p%side, p/side, color.NRGBA{uint8(255 * v), uint8(200 * v), uint8(150 * v), 255})
		}
		f, err := os.Create(filepath.Join(folder, fmt.Sprintf("%d.png", i)))
		require.NoError(t, err)
		require.NoError(t, png.Encode(f, img))
		require.NoError(t, f.Close())
	}
}

// Run is an experiment.
type Run func(ctx context.Context, arguments []string, out io.Writer) error

// Twice runs an experiment that writes to a folder, and once more, which must compute nothing that
// is there and leave the same bytes in its report and in the files that are named. It returns what
// the runs printed.
func Twice(t testing.TB, run Run, folder string, arguments []string, names ...string) (first, again string) {
	arguments = append([]string{"-o", folder}, arguments...)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), arguments, &out))
	first = out.String()
	files := map[string][]byte{}
	for _, name := range append(names, "report.html") {
		files[name] = read(t, folder, name)
	}
	out.Reset()
	require.NoError(t, run(t.Context(), arguments, &out))
	for name, want := range files {
		require.Equal(t, string(want), string(read(t, folder, name)), name)
	}
	require.NotContains(t, string(files["report.html"]), "CONTRADICTION")
	return first, out.String()
}

func read(t testing.TB, folder, name string) []byte {
	b, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return b
}

// Refuses requires that none of the additions to the arguments of an experiment is accepted.
func Refuses(t testing.TB, run Run, arguments []string, wrong ...[]string) {
	for _, w := range wrong {
		err := run(t.Context(), append(append([]string{"-o", t.TempDir()}, arguments...), w...), io.Discard)
		require.Error(t, err, "%v", w)
		require.NotContains(t, err.Error(), "\n")
	}
}

// Rows reads a table that an experiment wrote; the first row is its header.
func Rows(t testing.TB, folder, name string) [][]string {
	rows, err := csv.NewReader(bytes.NewReader(read(t, folder, name))).ReadAll()
	require.NoError(t, err)
	return rows
}
