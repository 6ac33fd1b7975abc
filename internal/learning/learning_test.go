package learning

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
)

func saved(t *testing.T, folder, name string, channels int) {
	m := &imagefile.Image{Channels: channels, Height: 3, Width: 4, Pix: make([]float32, channels*12), Depth: 8}
	for i := range m.Pix {
		m.Pix[i] = float32(i*5) / 255
	}
	require.NoError(t, imagefile.Write(filepath.Join(folder, name), m, imagefile.WriteOptions{}))
}

func TestPhotographs(t *testing.T) {
	folder := t.TempDir()
	_, err := Photographs(t.Context(), folder)
	require.ErrorContains(t, err, "no colour photographs")
	saved(t, folder, "a.png", 1)
	saved(t, folder, "b.png", 3)
	list, err := Photographs(t.Context(), folder)
	require.NoError(t, err)
	require.Len(t, list, 1)
	p := list[0].Crop(1, 2, 2, 2)
	require.Equal(t, []int{2, 2}, []int{p.Height, p.Width})
	for c, first := range []int{6, 18, 30} {
		for i, at := range []int{first, first + 1, first + 4, first + 5} {
			require.InDelta(t, float64(at*5)/255, p.Pix[4*c+i], 1e-6)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "c.png"), []byte("no picture"), 0o644))
	_, err = Photographs(t.Context(), folder)
	require.Error(t, err)
	require.Equal(t, []float32{0, 1. / 255, 1}, Photograph{Pix: []float32{0.001, 0.0041, 0.9999}}.Round().Pix)
}

// What is kept is not made again, and what cannot be read is no reason to make it again.
func TestKept(t *testing.T) {
	path, made := filepath.Join(t.TempDir(), "kept.json"), 0
	make := func() ([]int, error) { made++; return []int{made}, nil }
	for range 2 {
		v, err := Kept(path, make)
		require.NoError(t, err)
		require.Equal(t, []int{1}, v)
	}
	_, err := Kept("", make)
	require.NoError(t, err)
	require.Equal(t, 2, made)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o644))
	_, err = Kept(path, make)
	require.Error(t, err)
	require.Equal(t, 2, made)
	failure := errors.New("no")
	other := filepath.Join(t.TempDir(), "other.json")
	_, err = Kept(other, func() (int, error) { return 0, failure })
	require.ErrorIs(t, err, failure)
	require.NoFileExists(t, other)
}

// All keeps the order, leaves out what is not ok, uses no worker twice at a time, and returns an error.
func TestAll(t *testing.T) {
	busy := make([]atomic.Bool, Workers())
	squares := func(worker, number int) (int, bool, error) {
		if !busy[worker].CompareAndSwap(false, true) {
			return 0, false, errors.New("busy")
		}
		defer busy[worker].Store(false)
		return number * number, number%3 > 0, nil
	}
	list, err := All(8, squares)
	require.NoError(t, err)
	require.Equal(t, []int{1, 4, 16, 25, 49}, list)
	none, err := All(0, squares)
	require.NoError(t, err)
	require.Empty(t, none)
	failure := errors.New("no")
	_, err = All(50, func(_, number int) (int, bool, error) {
		if number == 20 {
			return 0, false, failure
		}
		return number, true, nil
	})
	require.ErrorIs(t, err, failure)
}
