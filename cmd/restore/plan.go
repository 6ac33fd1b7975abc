package main

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

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/imagefile"
)

// destination holds the flags about where results go.
type destination struct {
	suffix    string // put before the extension of a result that stands beside its input
	extension string // of all results; empty: that of the input, or .png where that cannot be written

	rawResults bool // -o may name a raw photograph that is made of a picture
	rawPhotos  bool // raw photographs are inputs, too, whose results are raw photographs

	output              string
	recursive           bool
	force, skipExisting bool
}

func (d *destination) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&d.output, "output", "o", "",
		fmt.Sprintf("write to `FILE`, DIR/ or - (standard output); default: NAME%s.EXT beside the input", d.suffix))
	f.BoolVar(&d.recursive, "recursive", false, "take all images in folders and in the folders below")
	f.BoolVar(&d.force, "force", false, "overwrite results that exist")
	f.BoolVar(&d.skipExisting, "skip-existing", false, "skip inputs whose result exists, to resume a batch")
}

// task is one input and where its result goes.
type task struct {
	input, output string // message.StandardStream for standard input and output
	err           error  // why it cannot be done, known before the work begins
	exists        bool   // the result does, and is left as it is
	unfit         string // why the input is left out: what it is
	raw           bool   // the input is a raw photograph
}

// source is an input file, and what its name is in an output folder.
type source struct {
	path, relative string
	err            error
	unfit          string // why it is left out: what it is
}

// plan lists the tasks for the inputs on the command line, in their order. Its
// error is a usageError: nothing is done then. What is wrong with one input only
// is in its task.
func (d *destination) plan(ctx context.Context, args []string) ([]task, error) {
	if d.force && d.skipExisting {
		return nil, usagef("--force and --skip-existing contradict each other; give one of them")
	}
	if slices.Contains(args, message.StandardStream) && len(args) > 1 {
		return nil, usagef("- (standard input) must be the only input")
	}
	folder := d.output != "" && (os.IsPathSeparator(d.output[len(d.output)-1]) || isFolder(d.output))
	if d.output != "" && !folder {
		if len(args) > 1 || d.recursive {
			return nil, usagef("-o %s: several inputs need a folder; write -o DIR/ or leave -o out", message.OneLine(d.output))
		}
		if d.output != message.StandardStream && !((d.rawPhotos || d.rawResults) && isRaw(d.output)) {
			if _, err := outputFormat("-o", d.output, imagefile.PNG); err != nil {
				return nil, err
			}
		}
	}
	sources, err := d.sources(ctx, args, folder)
	if err != nil {
		return nil, err
	}
	tasks := make([]task, len(sources))
	for i, s := range sources {
		t := task{input: s.path, err: s.err, unfit: s.unfit, raw: d.rawPhotos && isRaw(s.path)}
		switch {
		case !t.raw && !folder && isRaw(d.output) && !d.rawResults:
			return nil, usagef("-o %s: the result of a picture is none of a raw photograph; give the name of a picture", message.OneLine(d.output))
		case s.err != nil || s.unfit != "":
		case s.path == message.StandardStream && folder:
			return nil, usagef("-o %s: standard input has no name to use in a folder; write -o FILE", message.OneLine(d.output))
		case s.path == message.StandardStream && d.output == "":
			t.output = message.StandardStream
		case d.output == "":
			t.output = strings.TrimSuffix(s.path, filepath.Ext(s.path)) + d.suffix + d.extensionFor(s.path)
		case folder:
			t.output = filepath.Join(d.output, strings.TrimSuffix(s.relative, filepath.Ext(s.relative))+d.extensionFor(s.path))
		default:
			t.output = d.output
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
func (d *destination) extensionFor(path string) string {
	if d.rawPhotos && isRaw(path) {
		return filepath.Ext(path)
	}
	if d.extension != "" {
		return d.extension
	}
	return imagefile.WritableExtension(path)
}

// outputFormat is the format that the extension of the file of a flag stands for. A device or a pipe needs
// none: what is written to it has the other format.
func outputFormat(flag, path string, otherwise imagefile.Format) (imagefile.Format, error) {
	f, err := imagefile.FormatOf(path)
	if err != nil {
		if info, errStat := os.Stat(path); errStat == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return otherwise, nil
		}
		return 0, usageError{fmt.Errorf("%s %s: %w", flag, message.OneLine(path), err)}
	}
	if !f.CanWrite() {
		return 0, usagef("%s %s: %s is read but not written; use .png or .tif, which lose nothing", flag, message.OneLine(path), f)
	}
	return f, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sources lists the input files; those of a folder in the order of their names.
func (d *destination) sources(ctx context.Context, args []string, toFolder bool) ([]source, error) {
	var list []source
	for _, arg := range args {
		if arg == message.StandardStream {
			list = append(list, source{path: arg})
			continue
		}
		switch info, err := os.Stat(arg); {
		case err != nil:
			list = append(list, source{path: arg, err: err})
		case !info.IsDir():
			list = append(list, source{path: arg, relative: filepath.Base(arg)})
		case !d.recursive:
			list = append(list, source{path: arg, err: errors.New("is a folder; --recursive takes the images in it")})
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
func (d *destination) walk(ctx context.Context, root string, toFolder bool) ([]source, error) {
	var list []source
	var target os.FileInfo
	if toFolder {
		if info, err := os.Stat(d.output); err == nil {
			target = info
		}
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			list = append(list, source{path: path, err: err})
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
		if _, err := imagefile.FormatOf(path); err != nil && !(d.rawPhotos && isRaw(path)) || hidden || !toFolder && strings.HasSuffix(stem, d.suffix) {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		unfit, err := unfitness(path)
		list = append(list, source{path: path, relative: relative, err: err, unfit: unfit})
		return nil
	})
	return list, err
}

// unfitness says why what was found in a folder is not to be read, although it has the name of an
// image: a pipe or a device may keep its reader waiting for ever. A link is what it leads to.
func unfitness(path string) (string, error) {
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
func checkCollisions(tasks []task) error {
	done := make(map[string]int, len(tasks)) // by output, the index of the task
	read := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		read[identity(t.input)] = true
	}
	keepsExtension := func(t task) bool { return filepath.Ext(t.input) == filepath.Ext(t.output) }
	for i, t := range tasks {
		if t.err != nil || t.unfit != "" || t.output == message.StandardStream {
			continue
		}
		id := identity(t.output)
		switch other, taken := done[id]; {
		case !taken:
			done[id] = i
		case keepsExtension(t) && !keepsExtension(tasks[other]):
			done[id] = i
			tasks[other].err = sharedError{t}
		case identity(t.input) == identity(tasks[other].input):
			tasks[i].unfit = "is named twice"
		default:
			tasks[i].err = sharedError{tasks[other]}
		}
		if sameFile(t.input, t.output) {
			return usagef("%s: the result would take the place of its input; write -o to another file or folder", message.OneLine(t.input))
		}
		if read[id] {
			return usagef("%s: the result of %s would take the place of this other input; write -o to another folder",
				message.OneLine(t.output), message.OneLine(t.input))
		}
	}
	return nil
}

// identity is the same for all ways to write a file's name, as far as that can
// be told for a file that need not exist: links in its folder are followed, and
// letters count alike where file systems usually see it so.
func identity(path string) string {
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

// checkExisting decides about a result that exists.
func (d *destination) checkExisting(t *task) {
	if t.err != nil || t.unfit != "" || t.output == message.StandardStream {
		return
	}
	info, err := os.Stat(t.output)
	switch {
	case err != nil: // it does not exist, or writing will say what is wrong
	case info.IsDir():
		t.err = fmt.Errorf("its result %s is a folder; give another name with -o", message.OneLine(t.output))
	case !info.Mode().IsRegular(): // a device or a pipe takes what is written to it
	case d.skipExisting:
		t.exists = true
	case !d.force:
		t.err = existsError{t.output}
	}
}

// sharedError is about an input that has the same result as one that is done.
type sharedError struct{ done task }

func (e sharedError) Error() string {
	return fmt.Sprintf("its result would be that of %s, too: %s; give it another name or do it apart", message.OneLine(e.done.input), message.OneLine(e.done.output))
}

// existsError is about a result that exists and must not be overwritten.
type existsError struct{ path string }

func (e existsError) Error() string {
	return fmt.Sprintf("its result %s exists already; --force overwrites it, --skip-existing leaves it", message.OneLine(e.path))
}
