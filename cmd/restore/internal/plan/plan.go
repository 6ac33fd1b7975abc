// Package plan tells which inputs make which results: from the names on the command line, and what there is.
package plan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/imagefile"
)

// Destination says where results go.
type Destination struct {
	Suffix    string // put before the extension of a result that stands beside its input
	Extension string // of all results; empty: that of the input, or .png where that cannot be written

	RawResults bool // -o may name a raw photograph that is made of a picture
	RawPhotos  bool // raw photographs are inputs, too, whose results are raw photographs

	Output              string // of -o
	Recursive           bool
	Force, SkipExisting bool
}

// Task is one input and where its result goes.
type Task struct {
	Input, Output string // message.StandardStream for standard input and output
	Err           error  // why it cannot be done, known before the work begins
	Exists        bool   // the result does, and is left as it is
	Unfit         string // why the input is left out: what it is
	Raw           bool   // the input is a raw photograph
}

// Source is an input file, and what its name is in an output folder.
type Source struct {
	Path, Relative string
	Err            error
	Unfit          string // why it is left out: what it is
}

// Tasks lists the tasks for the inputs on the command line, in their order. With an
// error nothing is done. What is wrong with one input only is in its task.
func (d *Destination) Tasks(ctx context.Context, args []string) ([]Task, error) {
	if d.Force && d.SkipExisting {
		return nil, fmt.Errorf("--force and --skip-existing contradict each other; give one of them")
	}
	if slices.Contains(args, message.StandardStream) && len(args) > 1 {
		return nil, fmt.Errorf("- (standard input) must be the only input")
	}
	folder := d.Output != "" && (os.IsPathSeparator(d.Output[len(d.Output)-1]) || IsFolder(d.Output))
	if d.Output != "" && !folder {
		if len(args) > 1 || d.Recursive {
			return nil, fmt.Errorf("-o %s: several inputs need a folder; write -o DIR/ or leave -o out", message.OneLine(d.Output))
		}
		if d.Output != message.StandardStream && !((d.RawPhotos || d.RawResults) && IsRaw(d.Output)) {
			if _, err := OutputFormat("-o", d.Output, imagefile.PNG); err != nil {
				return nil, err
			}
		}
	}
	sources, err := d.Sources(ctx, args, folder)
	if err != nil {
		return nil, err
	}
	tasks := make([]Task, len(sources))
	for i, s := range sources {
		t := Task{Input: s.Path, Err: s.Err, Unfit: s.Unfit, Raw: d.RawPhotos && IsRaw(s.Path)}
		switch {
		case !t.Raw && !folder && IsRaw(d.Output) && !d.RawResults:
			return nil, fmt.Errorf("-o %s: the result of a picture is none of a raw photograph; give the name of a picture", message.OneLine(d.Output))
		case s.Err != nil || s.Unfit != "":
		case s.Path == message.StandardStream && folder:
			return nil, fmt.Errorf("-o %s: standard input has no name to use in a folder; write -o FILE", message.OneLine(d.Output))
		case s.Path == message.StandardStream && d.Output == "":
			t.Output = message.StandardStream
		case d.Output == "":
			t.Output = strings.TrimSuffix(s.Path, filepath.Ext(s.Path)) + d.Suffix + d.extensionFor(s.Path)
		case folder:
			t.Output = filepath.Join(d.Output, strings.TrimSuffix(s.Relative, filepath.Ext(s.Relative))+d.extensionFor(s.Path))
		default:
			t.Output = d.Output
		}
		tasks[i] = t
	}
	if err := checkCollisions(tasks); err != nil {
		return nil, err
	}
	for i := range tasks {
		d.checkExisting(&tasks[i])
	}
	return tasks, nil
}

// extensionFor is the extension of the result of an input.
func (d *Destination) extensionFor(path string) string {
	if d.RawPhotos && IsRaw(path) {
		return filepath.Ext(path)
	}
	if d.Extension != "" {
		return d.Extension
	}
	return imagefile.WritableExtension(path)
}

// OutputFormat is the format that the extension of the file of a flag stands for. A device or a pipe needs
// none: what is written to it has the other format.
func OutputFormat(flag, path string, otherwise imagefile.Format) (imagefile.Format, error) {
	f, err := imagefile.FormatOf(path)
	if err != nil {
		if info, errStat := os.Stat(path); errStat == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return otherwise, nil
		}
		return 0, fmt.Errorf("%s %s: %w", flag, message.OneLine(path), err)
	}
	if !f.CanWrite() {
		return 0, fmt.Errorf("%s %s: %s is read but not written; use .png or .tif, which lose nothing", flag, message.OneLine(path), f)
	}
	return f, nil
}

// IsFolder tells whether there is a folder of that name.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Sources lists the input files; those of a folder in the order of their names.
func (d *Destination) Sources(ctx context.Context, args []string, toFolder bool) ([]Source, error) {
	var list []Source
	for _, arg := range args {
		if arg == message.StandardStream {
			list = append(list, Source{Path: arg})
			continue
		}
		switch info, err := os.Stat(arg); {
		case err != nil:
			list = append(list, Source{Path: arg, Err: err})
		case !info.IsDir():
			list = append(list, Source{Path: arg, Relative: filepath.Base(arg)})
		case !d.Recursive:
			list = append(list, Source{Path: arg, Err: errors.New("is a folder; --recursive takes the images in it")})
		default:
			found, err := d.walk(ctx, arg, toFolder)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// walk lists the images in a folder by their extensions. Left out are hidden
// files and folders, results of this command that stand beside their inputs
// (without an output folder), and the output folder: running a batch again must
// not process its results.
func (d *Destination) walk(ctx context.Context, root string, toFolder bool) ([]Source, error) {
	var list []Source
	var target os.FileInfo
	if toFolder {
		if info, err := os.Stat(d.Output); err == nil {
			target = info
		}
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			list = append(list, Source{Path: path, Err: err})
			return nil // the rest of the tree may be readable
		}
		hidden := path != root && strings.HasPrefix(entry.Name(), ".")
		if entry.IsDir() {
			if hidden {
				return fs.SkipDir
			}
			if info, err := entry.Info(); err == nil && target != nil && path != root && os.SameFile(info, target) {
				return fs.SkipDir
			}
			return nil
		}
		stem := strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name()))
		if _, err := imagefile.FormatOf(path); err != nil && !(d.RawPhotos && IsRaw(path)) || hidden || !toFolder && strings.HasSuffix(stem, d.Suffix) {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		unfit, err := Unfitness(path)
		list = append(list, Source{Path: path, Relative: relative, Err: err, Unfit: unfit})
		return nil
	})
	return list, err
}

// Unfitness says why what was found in a folder is not to be read, although it has the name of an
// image: a pipe or a device may keep its reader waiting for ever. A link is what it leads to.
func Unfitness(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "is a link to a folder", nil // WalkDir has gone into all others
	case !info.Mode().IsRegular():
		return "is no regular file", nil
	}
	return "", nil
}

// checkCollisions refuses an output that is an input. Of inputs that share an output one is done: one whose extension the
// output has, if there is one, else the first. The others fail.
func checkCollisions(tasks []Task) error {
	done := make(map[string]int, len(tasks)) // by output, the index of the task
	read := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		read[Identity(t.Input)] = true
	}
	keepsExtension := func(t Task) bool { return filepath.Ext(t.Input) == filepath.Ext(t.Output) }
	for i, t := range tasks {
		if t.Err != nil || t.Unfit != "" || t.Output == message.StandardStream {
			continue
		}
		id := Identity(t.Output)
		switch other, taken := done[id]; {
		case !taken:
			done[id] = i
		case keepsExtension(t) && !keepsExtension(tasks[other]):
			done[id] = i
			tasks[other].Err = sharedError{t}
		case Identity(t.Input) == Identity(tasks[other].Input):
			tasks[i].Unfit = "is named twice"
		default:
			tasks[i].Err = sharedError{tasks[other]}
		}
		if sameFile(t.Input, t.Output) {
			return fmt.Errorf("%s: the result would take the place of its input; write -o to another file or folder", message.OneLine(t.Input))
		}
		if read[id] {
			return fmt.Errorf("%s: the result of %s would take the place of this other input; write -o to another folder",
				message.OneLine(t.Output), message.OneLine(t.Input))
		}
	}
	return nil
}

// Identity is the same for all ways to write a file's name, as far as that can
// be told for a file that need not exist: links in its folder are followed, and
// letters count alike where file systems usually see it so.
func Identity(path string) string {
	if path == message.StandardStream {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		path = whole
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		path = strings.ToLower(path)
	}
	return path
}

// sameFile tells whether two names are of one file, by hard links too.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Same tells whether two names are of one file, or will be.
func Same(a, b string) bool { return Identity(a) == Identity(b) || sameFile(a, b) }

// IsRaw tells whether a file has the name of a raw photograph.
func IsRaw(path string) bool { return strings.EqualFold(filepath.Ext(path), ".dng") }

// checkExisting decides about a result that exists.
func (d *Destination) checkExisting(t *Task) {
	if t.Err != nil || t.Unfit != "" || t.Output == message.StandardStream {
		return
	}
	info, err := os.Stat(t.Output)
	switch {
	case err != nil: // it does not exist, or writing will say what is wrong
	case info.IsDir():
		t.Err = fmt.Errorf("its result %s is a folder; give another name with -o", message.OneLine(t.Output))
	case !info.Mode().IsRegular(): // a device or a pipe takes what is written to it
	case d.SkipExisting:
		t.Exists = true
	case !d.Force:
		t.Err = ExistsError{t.Output}
	}
}

// sharedError is about an input that has the same result as one that is done.
type sharedError struct{ done Task }

func (e sharedError) Error() string {
	return fmt.Sprintf("its result would be that of %s, too: %s; give it another name or do it apart", message.OneLine(e.done.Input), message.OneLine(e.done.Output))
}

// ExistsError is about a result that exists and must not be overwritten.
type ExistsError struct{ Path string }

func (e ExistsError) Error() string {
	return fmt.Sprintf("its result %s exists already; --force overwrites it, --skip-existing leaves it", message.OneLine(e.Path))
}
