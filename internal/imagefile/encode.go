package imagefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/internal/imagefile/bmp"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/pnm"
	"github.com/averaged/imaging/internal/imagefile/tiff"
)

// DefaultQuality is the JPEG quality that a Quality of 0 stands for, unless the image was read
// from JPEG.
const DefaultQuality = 95

// WriteOptions says how to write. The zero value writes an image as it was read.
type WriteOptions struct {
	// Format is the format to write; 0 means that of the path's extension (Write)
	// or that in which the image was read (Encode).
	Format Format
	// Depth is the bits per sample, 8, 16 or 32 (float); 0 means that of the
	// image, or the nearest that the format has.
	Depth int
	// Quality is the JPEG quality from 1 to 100; 0 means the quantisation tables of the file that
	// was read (Image.JPEG), or DefaultQuality where there are none.
	Quality int
	// DropMetadata leaves out EXIF, XMP, IPTC, resolution and texts. What the samples
	// need to look right, the colour profile and PNG's chunks about colour, stays.
	DropMetadata bool
	// DropAlpha leaves out alpha. Without it, writing an image that has a
	// transparent pixel in a format that has none (JPEG, PFM, PGM, PPM) is an error.
	DropAlpha bool
	// Threads is how many threads compress at most; 0, the default, means as many as
	// runtime.GOMAXPROCS says. The bytes do not depend on it.
	Threads int
	// Overwrite lets Write replace a file. Without it an existing file is an error
	// that wraps fs.ErrExist.
	Overwrite bool
}

// Encode writes m to w. Samples are rounded to nearest and, for integer depths,
// clipped to [0,1]. Its errors wrap ErrInvalidImage, ErrNotFinite (for every
// format), ErrAlpha or ErrUnsupported, or are those of w or of ctx, with which it ends.
func Encode(ctx context.Context, w io.Writer, m *Image, opt WriteOptions) error {
	if err := m.Validate(); err != nil {
		return err
	}
	p, err := opt.plan(m)
	if err != nil {
		return err
	}
	if err := m.CheckFinite(); err != nil {
		return err
	}
	out := *m
	out.Metadata = p.metadata
	if !p.alpha {
		out.Alpha = nil
	}
	b := bufio.NewWriterSize(contextWriter{ctx, w}, 1<<16)
	switch p.format {
	case PNG:
		err = png.Encode(b, &out, p.depth, opt.Threads)
	case JPEG:
		err = jpeg.Encode(b, &out, p.steps)
	case TIFF:
		err = tiff.Encode(ctx, b, &out, p.depth, opt.Threads)
	case BMP:
		err = bmp.Encode(b, &out)
	case PFM:
		err = pnm.EncodePFM(b, &out)
	case PGM, PPM, PNM:
		err = pnm.Encode(b, &out, p.depth, p.format == PPM)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// contextWriter fails once its context is done.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// Write writes m to a file, all of it or nothing: see package atomicfile. Its
// errors begin with the path. It stops with the context's error, leaving no trace,
// when ctx is done.
func Write(ctx context.Context, path string, m *Image, opt WriteOptions) error {
	if opt.Format == 0 {
		f, err := FormatOf(path)
		if err != nil {
			return pathError(path, err)
		}
		opt.Format = f
	}
	// Errors that can be known before the first byte are returned before a file is made.
	if err := CheckWrite(m, opt); err != nil {
		return pathError(path, err)
	}
	return writeWhole(ctx, path, opt.Overwrite, func(w io.Writer) error {
		return Encode(ctx, w, m, opt)
	})
}

// WriteCopy writes what r has to a file as Write writes an image.
func WriteCopy(ctx context.Context, path string, r io.Reader, overwrite bool) error {
	return writeWhole(ctx, path, overwrite, func(w io.Writer) error {
		_, err := io.Copy(contextWriter{ctx, w}, r)
		return err
	})
}

func writeWhole(ctx context.Context, path string, overwrite bool, write func(w io.Writer) error) error {
	err := atomicfile.Write(ctx, path, overwrite, write)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w (it is replaced only if overwriting is asked for)", path, fs.ErrExist)
	case err != nil:
		return pathError(path, err)
	}
	return nil
}

// Recoding says why an image, with its samples and its size as they were read, cannot be written by copying the file
// that it was read from, such as "with quality 60": "" if it can. The copy keeps all that the file has, and its
// orientation as a tag.
func Recoding(m *Image, opt WriteOptions) string {
	format := opt.Format
	if format == 0 || format == PNM && (m.Format == PGM || m.Format == PPM) {
		format = m.Format
	}
	switch {
	case format != m.Format || m.Format == 0:
		return "as " + opt.Format.String()
	case m.Damaged:
		return "whole, as the file is damaged"
	case opt.Depth != 0 && opt.Depth != m.Depth:
		return fmt.Sprintf("with %d bits", opt.Depth)
	case opt.Quality != 0 && format == JPEG:
		return fmt.Sprintf("with quality %d", opt.Quality)
	case opt.DropMetadata:
		return "without metadata"
	case opt.DropAlpha && m.Alpha != nil:
		return "without transparency"
	}
	return ""
}

// CheckWrite returns the error that Encode would return for m whatever its
// samples are, such as one that wraps ErrAlpha, and does so at once: to be asked
// before long work on the samples. A Format of 0 is the image's own, as in Encode.
func CheckWrite(m *Image, opt WriteOptions) error {
	if err := m.Validate(); err != nil {
		return err
	}
	_, err := opt.plan(m)
	return err
}

// Losses says, a line each, what of m the format or the depth of opt cannot
// hold: nothing, if the same format and depth are written again. What DropAlpha
// and DropMetadata leave out is wanted, and not listed. An image that cannot be
// written at all is Encode's error. A Format of 0 is the image's own, as in
// Encode: for a path, ask FormatOf.
func Losses(m *Image, opt WriteOptions) []string { return planned(m, opt).losses }

// ColourLosses are those of Losses with which colours may look different.
func ColourLosses(m *Image, opt WriteOptions) []string { return planned(m, opt).colour }

// planned is the plan of what can be written.
func planned(m *Image, opt WriteOptions) *plan {
	if m.Validate() != nil {
		return &plan{}
	}
	p, err := opt.plan(m)
	if err != nil {
		return &plan{}
	}
	return p
}
