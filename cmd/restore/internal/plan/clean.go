package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/imagefile"
)

// Clean returns for each task the file of --clean, a file or a folder, empty where none is to be written. A file that
// must not be overwritten is an error of its task. A kernel's file may be read besides.
func (d *Destination) Clean(to, kernel string, tasks []Task) ([]string, error) {
	files := make([]string, len(tasks))
	if to == "" {
		return files, nil
	}
	if to == message.StandardStream {
		return nil, fmt.Errorf("--clean -: standard output is for the result; name a file")
	}
	folder := os.IsPathSeparator(to[len(to)-1]) || IsFolder(to)
	switch f, err := imagefile.FormatOf(to); {
	case folder:
	case len(tasks) > 1 || d.Recursive:
		return nil, fmt.Errorf("--clean %s: several inputs need a folder; write --clean DIR/", message.OneLine(to))
	case err != nil:
		return nil, fmt.Errorf("--clean %s: %w", message.OneLine(to), err)
	case !f.CanWrite():
		return nil, fmt.Errorf("--clean %s: %s is read but not written; use .png or .tif, which lose nothing", message.OneLine(to), f)
	}
	taken := make(map[string]string)
	for _, t := range tasks {
		taken[Identity(t.Input)] = t.Input
		if t.Output != message.StandardStream {
			taken[Identity(t.Output)] = t.Output
		}
	}
	if kernel != "" {
		taken[Identity(kernel)] = kernel
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Err != nil || t.Unfit != "" {
			continue
		}
		file := to
		if folder {
			file = filepath.Join(to, d.nameInFolder(*t))
		}
		id := Identity(file)
		if other, there := taken[id]; there {
			return nil, fmt.Errorf("--clean %s: the clean picture of %s would take the place of %s; give another name", message.OneLine(to), message.FileName(t.Input), message.OneLine(other))
		}
		taken[id] = file
		_, err := os.Stat(file)
		switch {
		case err == nil && d.SkipExisting: // left as it is
		case err == nil && !d.Force:
			t.Err = ExistsError{Path: file}
		default:
			files[i] = file
		}
	}
	return files, nil
}

// nameInFolder is the name of a result, with its folders below that of -o.
func (d *Destination) nameInFolder(t Task) string {
	switch {
	case t.Output == message.StandardStream && t.Input == message.StandardStream:
		return "clean.png"
	case t.Output == message.StandardStream:
		base := filepath.Base(t.Input)
		return strings.TrimSuffix(base, filepath.Ext(base)) + imagefile.WritableExtension(t.Input)
	}
	if relative, err := filepath.Rel(d.Output, t.Output); d.Output != "" && err == nil && filepath.IsLocal(relative) && relative != "." {
		return relative
	}
	return filepath.Base(t.Output)
}
