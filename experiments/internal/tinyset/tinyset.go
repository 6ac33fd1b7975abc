// Package tinyset writes photographs that the tests of the experiments run on.
package tinyset

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
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
