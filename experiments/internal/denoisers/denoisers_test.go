package denoisers

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/weights"
)

func TestAllMethodsDenoise(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	c := NewCollection(dev, t.TempDir()) // without any file: those that ship
	defer c.Free()
	shape := backend.Image(3, 16, 16)
	clean, noisy, out := alloc(t, dev, shape), alloc(t, dev, shape), alloc(t, dev, shape)
	require.NoError(t, dev.Fill(clean, 0.4))
	require.NoError(t, Noisy(dev, noisy, clean, 1))
	errorOf := func(b backend.Buffer) float64 {
		var sum [1]float64
		require.NoError(t, dev.Reduce(sum[:], backend.Reduction{Kind: backend.DiffSquares, X: b, Y: clean}))
		return sum[0] / float64(shape.Len())
	}
	require.InDelta(t, Sigma*Sigma, errorOf(noisy), 0.002)
	proven := map[string]bool{Euler: true, Heun: true, RK4: true, BackwardEuler: true, DnCNN: false}
	names := Names()
	if testing.Short() {
		names = []string{Euler, DnCNN, TV} // the others take a proof, or many stages
	}
	for _, name := range names {
		require.NotEmpty(t, Title(name))
		require.NoError(t, c.Apply(t.Context(), name, out, noisy))
		require.Less(t, errorOf(out), 0.1*Sigma*Sigma, name)
		if name == TV {
			continue
		}
		n, err := c.Network(t.Context(), name)
		require.NoError(t, err)
		_, is := n.Averagedness()
		require.Equal(t, proven[name], is, name)
		again, err := c.Network(t.Context(), name)
		require.NoError(t, err)
		require.Same(t, n, again)
		count, err := Parameters(name, "")
		require.NoError(t, err)
		require.Equal(t, map[bool]int{true: 369_360, false: 670_531}[name != DnCNN], count, "without running means")
	}
	_, err := c.Network(t.Context(), "x")
	require.ErrorContains(t, err, "no network")
}

func alloc(t *testing.T, dev backend.Device, s backend.Shape) backend.Buffer {
	b, err := dev.Alloc(s)
	require.NoError(t, err)
	return b
}

func TestWeightsOfAFolder(t *testing.T) {
	folder := t.TempDir()
	f, err := weights.Open("small") // stands for another Euler
	require.NoError(t, err)
	b, err := f.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "euler.safetensors"), b, 0o666))
	own, err := Parameters(Euler, folder)
	require.NoError(t, err)
	require.Less(t, own, 100_000)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rk4.safetensors"), []byte("x"), 0o666))
	_, err = Parameters(RK4, folder)
	require.Error(t, err, "a broken file is not passed over")
}

func TestPhotographs(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "b"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "readme.txt"), []byte("no image"), 0o666))
	for i, name := range []string{"a.png", "b/c.png"} {
		img := image.NewNRGBA(image.Rect(0, 0, 5+i, 4))
		for p := range 4 * (5 + i) {
			img.SetNRGBA(p%(5+i), p/(5+i), color.NRGBA{uint8(p), uint8(2 * p), uint8(3 * p), 255})
		}
		f, err := os.Create(filepath.Join(folder, name))
		require.NoError(t, err)
		require.NoError(t, png.Encode(f, img))
		require.NoError(t, f.Close())
	}
	list, err := Read(t.Context(), folder, 0, 0)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "b/c.png", list[1].Name)
	require.Equal(t, backend.Image(3, 4, 6), list[1].Shape())
	require.InDelta(t, 2*7./255, list[1].Samples[24+7], 1e-7)
	list, err = Read(t.Context(), folder, 1, 2)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, [2]int{2, 2}, [2]int{list[0].H, list[0].W})
	require.InDelta(t, 6./255, list[0].Samples[0], 1e-7, "row 1, column 1")
	_, err = Read(t.Context(), t.TempDir(), 0, 0)
	require.ErrorContains(t, err, "no image")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "broken.png"), []byte("x"), 0o666))
	_, err = Read(t.Context(), folder, 0, 0)
	require.ErrorContains(t, err, "broken.png")
}
