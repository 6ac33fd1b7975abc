package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/stretchr/testify/require"
)

func TestFullDiskIsReported(t *testing.T) {
	m := imagetest.Random(60, 40, 3, 8, false)
	m.Metadata.ICC = imagetest.Profile("RGB ", 70000)
	for f := PNG; f <= PNM; f++ {
		if !f.CanWrite() || f == PGM { // which has no colours
			continue
		}
		size := len(encode(t, m, WriteOptions{Format: f}))
		for room := 0; room < size; room += 1 + size/50 {
			require.ErrorIs(t, Encode(t.Context(), &imagetest.Disk{Room: room}, m, WriteOptions{Format: f}), imagetest.ErrFull, "%v after %d bytes", f, room)
		}
		require.ErrorIs(t, Encode(t.Context(), &imagetest.Disk{Room: size - 1}, m, WriteOptions{Format: f}), imagetest.ErrFull, f)
		require.NoError(t, Encode(t.Context(), &imagetest.Disk{Room: size}, m, WriteOptions{Format: f}))
	}
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteAndRead(t *testing.T) {
	folder := t.TempDir()
	m := imagetest.Random(9, 7, 3, 8, false)
	path := filepath.Join(folder, "out.png")
	require.NoError(t, Write(t.Context(), path, m, WriteOptions{}))
	got, err := Read(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, m.Pix, got.Pix)

	err = Write(t.Context(), path, m, WriteOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	require.Equal(t, 1, strings.Count(err.Error(), path))
	other := imagetest.Random(5, 5, 1, 8, false)
	require.NoError(t, Write(t.Context(), path, other, WriteOptions{Overwrite: true}))
	got, err = Read(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, other.Pix, got.Pix)
	require.Equal(t, []string{"out.png"}, files(t, folder))
}

func TestWriteThatFailsLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	m := imagetest.Random(300, 200, 3, 16, true)
	bad := imagetest.Random(3, 3, 1, 32, false)
	bad.Pix[4] = float32(math.NaN())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range []error{
		Write(t.Context(), filepath.Join(folder, "a.jpg"), m, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "a.webp"), m, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "a.gif"), m, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "a.txt"), m, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "a.png"), bad, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "a.png"), nil, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "a.png"), m, WriteOptions{Depth: 32}),
		Write(ctx, filepath.Join(folder, "a.png"), m, WriteOptions{}),
		Write(t.Context(), filepath.Join(folder, "none", "a.png"), m, WriteOptions{}),
		Write(t.Context(), folder, m, WriteOptions{Format: PNG}),
	} {
		require.Error(t, err)
		require.ErrorContains(t, err, folder)
		require.NotContains(t, err.Error(), "\n")
		require.Empty(t, files(t, folder))
	}
}

// cancelling is a context that is done after some questions, of any goroutines.
type cancelling struct {
	context.Context
	left atomic.Int64
}

func (c *cancelling) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestInterruptedWriteLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	m := imagetest.Random(300, 200, 3, 16, false)
	for _, name := range []string{"a.png", "a.tif", "a.pfm", "a.bmp", "a.jpg"} {
		path := filepath.Join(folder, name)
		for left := 0; ; left++ {
			ctx := &cancelling{Context: context.Background()}
			ctx.left.Store(int64(left))
			err := Write(ctx, path, m, WriteOptions{})
			if err == nil {
				require.Greater(t, left, 2)
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, files(t, folder))
			left += left / 2
		}
		require.NoError(t, os.Remove(path))
	}
}

func TestConcurrentUse(t *testing.T) {
	folder := t.TempDir()
	m := imagetest.Smooth(40, 30, 3)
	m.Metadata.EXIF = imagetest.EXIF(binary.LittleEndian, 1, 40, 30)
	want := encode(t, m, WriteOptions{Format: TIFF})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for f := PNG; f <= PNM; f++ {
				if f.CanWrite() && f != PGM { // which has no colours
					var b bytes.Buffer
					if err := Encode(t.Context(), &b, m, WriteOptions{Format: f}); err != nil {
						t.Error(err)
					}
					if _, err := Decode(t.Context(), &b, ReadOptions{}); err != nil {
						t.Error(err)
					}
				}
			}
			if err := Write(t.Context(), filepath.Join(folder, "same.tif"), m, WriteOptions{Overwrite: true}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(filepath.Join(folder, "same.tif"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, []string{"same.tif"}, files(t, folder))
}
