package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func files(t *testing.T, names ...string) {
	t.Chdir(t.TempDir())
	for _, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, nil, 0o666))
	}
}

// Of a folder the images are taken, but not the results of an earlier batch, and what is in the way of a result is said.
func TestTasks(t *testing.T) {
	files(t, "a.png", "in/b.jpg", "in/b.new.jpg", "in/below/c.webp", "in/.hidden.png", "in/notes.txt", "in/d.png", "in/d.new.png", "raw.DNG")
	d := &Destination{Suffix: ".new", Recursive: true, RawPhotos: true}
	tasks, err := d.Tasks(t.Context(), []string{"a.png", "in", "missing.png", "raw.DNG"})
	require.NoError(t, err)
	at := func(name string) string { return filepath.FromSlash(name) }
	require.Len(t, tasks, 6)
	for i, want := range [][2]string{{"a.png", "a.new.png"}, {at("in/b.jpg"), at("in/b.new.jpg")}, {at("in/below/c.webp"), at("in/below/c.new.png")}, {at("in/d.png"), at("in/d.new.png")}} {
		require.Equal(t, want, [2]string{tasks[i].Input, tasks[i].Output})
	}
	require.NoError(t, tasks[0].Err)
	require.ErrorAs(t, tasks[1].Err, &ExistsError{})
	require.ErrorIs(t, tasks[4].Err, os.ErrNotExist)
	require.True(t, tasks[5].Raw)
	require.Equal(t, "raw.new.DNG", tasks[5].Output)

	d.SkipExisting = true
	tasks, err = d.Tasks(t.Context(), []string{"in"})
	require.NoError(t, err)
	require.True(t, tasks[0].Exists)
}

// No result takes the place of an input, nor of another result.
func TestCollisions(t *testing.T) {
	files(t, "a.png", "a.jpg", "b.png")
	require.NoError(t, os.Mkdir("out", 0o777))
	for _, args := range [][]string{{"a.png", "b.png"}, {"a.png"}} {
		_, err := (&Destination{Output: "a.png", Force: true}).Tasks(t.Context(), args)
		require.Error(t, err)
	}
	tasks, err := (&Destination{Output: "out", Extension: ".png"}).Tasks(t.Context(), []string{"a.jpg", "a.png", "a.png", "b.png"})
	require.NoError(t, err)
	require.ErrorContains(t, tasks[0].Err, "its result would be that of a.png")
	require.NoError(t, tasks[1].Err)
	require.Equal(t, "is named twice", tasks[2].Unfit)
	require.NoError(t, tasks[3].Err)
}

// A file is the same by whatever name, even if it is not there yet.
func TestSame(t *testing.T) {
	files(t, "a.png", "folder/b.png")
	require.NoError(t, os.Link("a.png", "linked.png"))
	require.True(t, Same("a.png", "linked.png"))
	require.True(t, Same("folder/new.png", "./folder/../folder/new.png"))
	require.False(t, Same("a.png", "folder/b.png"))
	require.False(t, Same("-", "a.png"))
}

// The clean picture of a result stands in the folder of --clean as the result does in that of -o.
func TestClean(t *testing.T) {
	files(t, "in/below/a.png", "in/b.png", "k.png")
	d := &Destination{Output: "out" + string(filepath.Separator), Recursive: true}
	tasks, err := d.Tasks(t.Context(), []string{"in"})
	require.NoError(t, err)
	clean, err := d.Clean("clean/", "k.png", tasks)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.FromSlash("clean/b.png"), filepath.FromSlash("clean/below/a.png")}, clean)
	_, err = d.Clean("k.png", "k.png", tasks)
	require.ErrorContains(t, err, "several inputs need a folder")
	_, err = (&Destination{}).Clean("k.png", "k.png", tasks[:1])
	require.ErrorContains(t, err, "would take the place of k.png")
}
