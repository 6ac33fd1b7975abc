package atomicfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// requireOnly checks that a folder holds these files and nothing else.
func requireOnly(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		got[e.Name()] = string(b)
	}
	require.Equal(t, want, got)
}

func TestWriteAndOverwrite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.png")
	ctx := context.Background()
	require.NoError(t, Write(ctx, path, false, text("one")))
	requireOnly(t, folder, map[string]string{"out.png": "one"})

	called := false
	err := Write(ctx, path, false, func(io.Writer) error { called = true; return nil })
	require.ErrorIs(t, err, fs.ErrExist)
	require.False(t, called, "an existing file is found before the work is done")
	requireOnly(t, folder, map[string]string{"out.png": "one"})

	require.NoError(t, Write(ctx, path, true, text("two")))
	requireOnly(t, folder, map[string]string{"out.png": "two"})
}

func TestFailureLeavesNoTrace(t *testing.T) {
	full := errors.New("no space left on device")
	for _, before := range []map[string]string{{}, {"out.png": "old"}} {
		folder := t.TempDir()
		path := filepath.Join(folder, "out.png")
		for name, content := range before {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
		}
		err := Write(context.Background(), path, true, func(w io.Writer) error {
			if err := text("half")(w); err != nil {
				return err
			}
			return full
		})
		require.ErrorIs(t, err, full)
		requireOnly(t, folder, before)

		require.PanicsWithValue(t, "bug", func() {
			_ = Write(context.Background(), path, true, func(io.Writer) error { panic("bug") })
		})
		requireOnly(t, folder, before)

		ctx, cancel := context.WithCancel(context.Background())
		err = Write(ctx, path, true, func(w io.Writer) error {
			cancel() // the last byte is written, but the user has asked to stop
			return text("all")(w)
		})
		require.ErrorIs(t, err, context.Canceled)
		requireOnly(t, folder, before)
		require.ErrorIs(t, Write(ctx, path, true, text("more")), context.Canceled)
		requireOnly(t, folder, before)
	}
}

func TestFileThatAppearsMeanwhileIsNotTouched(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.png")
	err := Write(context.Background(), path, false, func(w io.Writer) error {
		require.NoError(t, os.WriteFile(path, []byte("someone else"), 0o600))
		return text("mine")(w)
	})
	require.ErrorIs(t, err, fs.ErrExist)
	requireOnly(t, folder, map[string]string{"out.png": "someone else"})
}

func TestOnlyOneOfManyWins(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.png")
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			switch err := Write(context.Background(), path, false, text("whole")); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, wins.Load())
	requireOnly(t, folder, map[string]string{"out.png": "whole"})
}

func TestReserveWhereLinksAreMissing(t *testing.T) {
	folder := t.TempDir()
	temp, path := filepath.Join(folder, "temp"), filepath.Join(folder, "out.png")
	require.NoError(t, os.WriteFile(temp, []byte("new"), 0o600))
	require.NoError(t, reserve(temp, path))
	requireOnly(t, folder, map[string]string{"out.png": "new"})
	require.NoError(t, os.WriteFile(temp, []byte("newer"), 0o600))
	require.ErrorIs(t, reserve(temp, path), fs.ErrExist)
	require.NoError(t, os.Remove(temp))
	requireOnly(t, folder, map[string]string{"out.png": "new"})
	// A failed rename gives the name back.
	require.Error(t, reserve(temp, filepath.Join(folder, "other.png")))
	requireOnly(t, folder, map[string]string{"out.png": "new"})
}

func TestFolders(t *testing.T) {
	folder := t.TempDir()
	require.ErrorContains(t, Write(context.Background(), folder, true, text("x")), "folder")
	require.ErrorIs(t, Write(context.Background(), filepath.Join(folder, "no", "out.png"), true, text("x")), fs.ErrNotExist)
	requireOnly(t, folder, map[string]string{})
}

func TestPermissionsLinksAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no Unix permissions or device files, and symbolic links need a privilege")
	}
	folder := t.TempDir()
	target, link := filepath.Join(folder, "target.png"), filepath.Join(folder, "link.png")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, Write(context.Background(), link, true, text("new")))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink, "the link is still one")
	info, err = os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	requireOnly(t, folder, map[string]string{"target.png": "new", "link.png": "new"})

	for _, mode := range []fs.FileMode{0o664, 0o444, 0o751} {
		require.NoError(t, os.Chmod(target, mode))
		require.NoError(t, Write(context.Background(), target, true, text("new")))
		info, err = os.Stat(target)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}

	require.NoError(t, Write(context.Background(), os.DevNull, false, text("gone")))
	info, err = os.Stat(os.DevNull)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeDevice, "a device stays one")
}
