package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/memory"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/maskimage"
	"github.com/averaged/imaging/restore"
)

// reading holds the flags about how images are read.
type reading struct {
	maxPixels int64
	damaged   choice
	flags     *pflag.FlagSet
	mask      image.Image // of inpaint: samples under it may be no numbers
	noise     bool        // the noise of the coding of a JPEG is measured, for what estimates without it go wrong by
}

func (r *reading) bind(c *cobra.Command) {
	r.flags = c.Flags()
	r.flags.Int64Var(&r.maxPixels, "max-pixels", imagefile.DefaultMaxPixels,
		"refuse images of more `PIXELS`, before they are decoded")
	r.damaged = newChoice("refuse", "fill")
	r.flags.Var(&r.damaged, "damaged", "a broken PNG or JPEG: refuse it, or read what is there and fill the rest with grey")
	completeChoice(c, "damaged", &r.damaged)
	manual.Expert(c, "max-pixels")
}

func (r *reading) check() error {
	if r.maxPixels < 1 {
		return usagef("--max-pixels %d: want 1 or more", r.maxPixels)
	}
	return nil
}

// read reads an image file or standard input, and notes what it could not keep. Its errors are fileErrors.
func (a *app) read(ctx context.Context, path string, r reading) (*imagefile.Image, error) {
	m, err := a.readFrom(ctx, a.stdin, path, r)
	if err != nil {
		return nil, err
	}
	a.warn(path, m)
	return m, nil
}

// warn notes what reading an image could not keep.
func (a *app) warn(path string, m *imagefile.Image) {
	for _, w := range m.Warnings {
		a.Remark(path, "%s", w)
	}
}

// readFrom is read with a standard input of its own, and without the notes.
func (a *app) readFrom(ctx context.Context, stdin io.Reader, path string, r reading) (*imagefile.Image, error) {
	opt := imagefile.ReadOptions{Damaged: r.damaged.value == "fill", NotFinite: r.mask != nil, CodingNoise: r.noise}
	if r.flags.Changed("max-pixels") {
		opt.MaxPixels = r.maxPixels // and however small the file is
	}
	var m *imagefile.Image
	var err error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case path != message.StandardStream:
		m, err = imagefile.Read(ctx, path, opt)
	case terminal.Is(a.stdin):
		err = errors.New("is a terminal; pipe an image into it, or name a file")
	default:
		m, err = imagefile.Decode(ctx, stdin, opt)
	}
	if err != nil && !opt.Damaged && imagefile.MaySalvage(err) {
		err = fmt.Errorf("%w; --damaged fill reads what can be read", err)
	}
	if err != nil {
		return nil, fileError{path, err}
	}
	if r.mask != nil {
		if err := maskimage.ForgetMissing((*imageplanes.Planes)(planarOf(m)), r.mask); err != nil {
			return nil, fileError{path, err}
		}
		if err := m.CheckFinite(); err != nil {
			return nil, fileError{path, fmt.Errorf("%w; the mask may cover it", err)}
		}
	}
	if err := m.CheckMagnitude(); err != nil {
		return nil, fileError{path, err}
	}
	memory.AfterReading(m.Width * m.Height)
	return m, nil
}

// planarOf is an image for the computation. They share the samples and the opacities.
func planarOf(m *imagefile.Image) *restore.Planar {
	return &restore.Planar{Width: m.Width, Height: m.Height, Channels: m.Channels, Pix: m.Pix, Alpha: m.Alpha}
}

// writing holds the flags about how results are written.
type writing struct {
	depth, quality  int
	metadata, alpha choice
	qualityGiven    func() bool
}

func (w *writing) bind(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&w.depth, "depth", 0, "`BITS` per sample: 8, 16 or 32 (float); default: as the input, if the format can")
	f.IntVar(&w.quality, "quality", 0, fmt.Sprintf("JPEG quality `Q`, 1 to 100; default: as a JPEG input, or %d; colour always 4:4:4", imagefile.DefaultQuality))
	w.qualityGiven = func() bool { return f.Changed("quality") }
	w.metadata = newChoice("keep", "none")
	f.Var(&w.metadata, "metadata", "EXIF, XMP, resolution and texts; the colour profile is always kept")
	w.alpha = newChoice("keep", "drop")
	f.Var(&w.alpha, "alpha", "transparency, for formats that have none")
	completeChoice(c, "metadata", &w.metadata)
	completeChoice(c, "alpha", &w.alpha)
}

// check finds what is wrong for every input. output is as -o gives it.
func (w *writing) check(output string) error {
	if w.depth != 0 && w.depth != 8 && w.depth != 16 && w.depth != 32 {
		return usagef("--depth %d: want 8, 16 or 32", w.depth)
	}
	if w.qualityGiven() && (w.quality < 1 || w.quality > 100) {
		return usagef("--quality %d: want 1 to 100", w.quality)
	}
	if f, err := imagefile.FormatOf(output); err == nil && w.depth != 0 && !slices.Contains(f.Depths(), w.depth) {
		return usagef("--depth %d: %s has samples of %s bits", w.depth, f, orNumbers(f.Depths()))
	}
	return nil
}

func orNumbers(n []int) string {
	words := make([]string, len(n))
	for i, v := range n {
		words[i] = fmt.Sprint(v)
	}
	return message.Or(words)
}

// options are those for writing m to path.
func (w *writing) options(m *imagefile.Image, path string, overwrite bool) imagefile.WriteOptions {
	opt := imagefile.WriteOptions{
		Depth: w.depth, Quality: w.quality, Overwrite: overwrite,
		DropMetadata: w.metadata.value == "none", DropAlpha: w.alpha.value == "drop",
	}
	if opt.Format = m.Format; !opt.Format.CanWrite() {
		opt.Format = imagefile.PNG
	}
	if path != message.StandardStream {
		if f, err := plan.OutputFormat("-o", path, opt.Format); err == nil {
			opt.Format = f
		} // else writing says what is wrong
	}
	return opt
}

// refuseTerminal is an error if standard output is to carry an image and a
// person would see its bytes, or JSON would be mixed with them.
func (a *app) refuseTerminal(output string) error {
	switch {
	case output != message.StandardStream:
		return nil
	case terminal.Is(a.stdout.w):
		return usagef("standard output is a terminal, which cannot show an image; write -o FILE, or redirect it")
	case a.json:
		return usagef("--json and the image both need standard output; write -o FILE")
	}
	return nil
}

// write writes a result, whole or not at all.
func (a *app) write(ctx context.Context, path string, m *imagefile.Image, opt imagefile.WriteOptions) error {
	colour := imagefile.ColourLosses(m, opt)
	for _, loss := range imagefile.Losses(m, opt) {
		text := fmt.Sprintf("not kept in %s: %s", opt.Format, loss)
		if slices.Contains(colour, loss) {
			a.Remark(a.Input, "%s", text)
			continue
		}
		a.Detail("%s: %s", message.OutputName(path), text)
		a.Notes = append(a.Notes, text)
	}
	if c := m.JPEG; c != nil && opt.Format == imagefile.JPEG && opt.Quality == 0 {
		a.Detail("%s: JPEG with the quantisation tables of its input, %s", message.OutputName(path), codingName(c))
	}
	if path == message.StandardStream {
		if err := imagefile.Encode(ctx, a.stdout, m, opt); err != nil {
			return fileError{message.OutputName(path), err}
		}
		return nil
	}
	if err := makeFolder(path); err != nil {
		return fileError{path, err}
	}
	if err := imagefile.Write(ctx, path, m, opt); err != nil {
		return fileError{path, err}
	}
	return nil
}

// makeFolder makes the folder of a file.
func makeFolder(path string) error { return os.MkdirAll(filepath.Dir(path), 0o777) }

// codingName says how a JPEG was coded, and what becomes of its chroma.
func codingName(c *imagefile.JPEGCoding) string {
	text := fmt.Sprintf("near those of quality %d", c.Quality)
	if c.Standard {
		text = fmt.Sprintf("quality %d", c.Quality)
	}
	subsampling := map[[2]int]string{{2, 1}: "4:2:2", {2, 2}: "4:2:0", {1, 2}: "4:4:0", {4, 1}: "4:1:1"}
	if before, known := subsampling[[2]int{c.ChromaX, c.ChromaY}]; known {
		text += ", chroma at full resolution (" + before + " before)"
	}
	return text
}
