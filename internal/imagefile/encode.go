package imagefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/averaged/imaging/internal/iccprofile"
	"github.com/averaged/imaging/internal/imagefile/atomicfile"
	"github.com/averaged/imaging/internal/imagefile/bmp"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/pnm"
	"github.com/averaged/imaging/internal/imagefile/tiff"
	"github.com/averaged/imaging/internal/jpegblock"
	"github.com/averaged/imaging/internal/metadata"
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
		err = tiff.Encode(ctx, b, &out, p.depth)
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

// plan is what is going to be written.
type plan struct {
	format   Format
	depth    int
	steps    [2][64]int // of JPEG
	alpha    bool
	metadata metadata.Metadata
	losses   []string
	colour   []string // those losses with which colours look different
}

func (o WriteOptions) plan(m *Image) (*plan, error) {
	p := &plan{format: o.Format, metadata: m.Metadata}
	if p.format == 0 {
		p.format = m.Format
	}
	switch {
	case p.format == 0:
		return nil, fmt.Errorf("%w: no format is given (use PNG, JPEG, TIFF, BMP, PFM, PGM or PPM)", ErrUnknownFormat)
	case p.format == WebP, p.format == GIF:
		return nil, fmt.Errorf("%w: %s is read but not written (use PNG or TIFF, which lose nothing)", ErrUnsupported, p.format)
	case !p.format.CanWrite():
		return nil, fmt.Errorf("%w: format number %d", ErrUnknownFormat, p.format)
	}
	switch {
	case o.Quality < 0 || o.Quality > 100:
		return nil, fmt.Errorf("%w: a JPEG quality is 1 to 100, not %d", ErrUnsupported, o.Quality)
	case o.Quality > 0:
		p.steps = jpegblock.Steps(o.Quality)
	case m.JPEG != nil:
		p.steps = jpeg.Steps(m.JPEG)
	default:
		p.steps = jpegblock.Steps(DefaultQuality)
	}
	if err := p.planDepth(m, o.Depth); err != nil {
		return nil, err
	}
	if err := p.planAlpha(m, o.DropAlpha); err != nil {
		return nil, err
	}
	if err := p.checkSize(m); err != nil {
		return nil, err
	}
	switch {
	case p.format == PGM && m.Channels == 3:
		return nil, fmt.Errorf("%w: PGM holds grey only, and the image has colours (use PPM)", ErrUnsupported)
	case p.format == PPM && m.Channels == 1:
		p.lose("grey becomes RGB, because PPM has no grey")
	}
	if o.DropMetadata {
		p.metadata = colourOnly(m.Metadata)
	}
	p.followSize(m)
	p.planMetadata(m)
	return p, nil
}

func (p *plan) planDepth(m *Image, depth int) error {
	depths := p.format.Depths()
	if depth != 0 && !slices.Contains(depths, depth) {
		return fmt.Errorf("%w: %s has samples of %s bits, not %d", ErrUnsupported, p.format, orList(depths), depth)
	}
	if p.depth = depth; depth == 0 {
		// The smallest depth that holds the image's, else the largest there is.
		p.depth = depths[len(depths)-1]
		for _, d := range depths {
			if d >= m.Depth {
				p.depth = d
				break
			}
		}
	}
	switch {
	case depth != 0 || p.depth >= m.Depth:
		// Wanted, or nothing lost.
	case m.Depth == 32:
		p.lose("float samples are clipped to [0,1] and rounded to %d bits", p.depth)
	default:
		p.lose("%d-bit samples are rounded to %d bits", m.Depth, p.depth)
	}
	return nil
}

func orList(depths []int) string {
	s := ""
	for i, d := range depths {
		switch {
		case i > 0 && i == len(depths)-1:
			s += " or "
		case i > 0:
			s += ", "
		}
		s += fmt.Sprint(d)
	}
	return s
}

func (p *plan) planAlpha(m *Image, drop bool) error {
	canHold := p.format == PNG || p.format == TIFF || p.format == BMP
	p.alpha = m.Alpha != nil && canHold && !drop
	if m.Alpha == nil || canHold || drop || m.Opaque() {
		return nil
	}
	return fmt.Errorf("%w in %s: write PNG or TIFF, or drop the alpha channel", ErrAlpha, p.format)
}

// checkSize refuses what the size fields of a format cannot express.
func (p *plan) checkSize(m *Image) error {
	largest := 1<<31 - 1
	if p.format == JPEG {
		largest = 65535
	}
	if m.Width > largest || m.Height > largest {
		return fmt.Errorf("%w: %s holds at most %d pixels a side, not %d×%d (use PNG)", ErrUnsupported, p.format, largest, m.Width, m.Height)
	}
	return nil
}

// colourOnly returns the part without which the samples would look different.
func colourOnly(d metadata.Metadata) metadata.Metadata {
	kept := metadata.Metadata{ICC: d.ICC}
	for _, c := range d.Chunks {
		if png.AboutColour(c) {
			kept.Chunks = append(kept.Chunks, c)
		}
	}
	return kept
}

// followSize makes metadata true of a size that is not the one that was read.
func (p *plan) followSize(m *Image) {
	size := [2]int{m.Width, m.Height}
	if m.Described() == size || m.Described() == [2]int{} {
		return
	}
	f, err := p.metadata.Follow(metadata.Change{Orientation: 1, From: m.Described(), To: size})
	for _, what := range f.Lost {
		p.lose("%s, because the size is another one", what)
	}
	if err != nil {
		p.lose("XMP, because %v", err)
		p.metadata.XMP = nil
	}
}

// planMetadata takes out what the format cannot hold.
func (p *plan) planMetadata(m *Image) {
	d := &p.metadata
	space := iccprofile.Space(d.ICC)
	bare := p.format == PFM || p.format == PGM || p.format == PPM || p.format == PNM // nothing but pixels
	switch {
	case d.ICC == nil:
		p.planMeaning(m, bare)
	case p.format == PNG && space == "RGB " && m.Channels == 1:
		// PNG has no use for a profile of the other kind, and libpng ignores one
		// with a warning.
		p.lose("the colour profile")
		d.ICC = nil
	case bare, p.format == JPEG && len(d.ICC) > jpeg.MaxProfile, space == "GRAY" && m.Channels == 3:
		p.lose("the colour profile")
		if !iccprofile.IsSRGB(d.ICC) {
			p.colour = p.losses[len(p.losses)-1:]
		}
		d.ICC = nil
	}
	if d.EXIF != nil && (bare || p.format == BMP || p.format == JPEG && len(d.EXIF) > metadata.MaxJPEGEXIF) {
		p.lose("EXIF")
		d.EXIF = nil
	}
	if d.XMP != nil && (bare || p.format == BMP || p.format == JPEG && len(d.XMP) > jpeg.MaxXMP) {
		p.lose("XMP")
		d.XMP = nil
	}
	if d.IPTC != nil && (bare || p.format == BMP || p.format == JPEG && len(metadata.IPTCSegment(d.IPTC)) > metadata.MaxSegment) {
		p.lose("IPTC")
		d.IPTC = nil
	}
	if d.Resolution.Known() && (bare || p.format == BMP && d.Resolution.Unit == metadata.Aspect) {
		p.lose("the resolution")
		d.Resolution = metadata.Resolution{}
	}
	if p.format == BMP && p.alpha && m.Channels == 1 {
		p.lose("grey becomes RGB, because BMP has no grey with alpha")
	}
	// Chunks about colour: see planMeaning. IPTC of segments is in d.IPTC.
	lostOther := false
	if p.format != PNG {
		lostOther = slices.ContainsFunc(d.Chunks, func(c metadata.Chunk) bool { return !png.AboutColour(c) })
		d.Chunks = nil
	}
	if p.format != JPEG {
		lostOther = lostOther || slices.ContainsFunc(d.Segments, func(s metadata.Segment) bool { return !s.OnlyIPTC() })
		d.Segments = nil
	}
	if lostOther {
		p.lose("texts and other parts that only the source's format can hold")
	}
}

// planMeaning puts a colour profile in place of PNG's chunks about colour, for an image without one.
func (p *plan) planMeaning(m *Image, bare bool) {
	d := &p.metadata
	if p.format == PNG || !slices.ContainsFunc(d.Chunks, png.AboutColour) {
		return
	}
	meant, name, known := png.ColourSpace(d)
	if known && meant.LikeSRGB() {
		return // it is what everybody assumes
	}
	var profile []byte
	if known && !bare {
		profile, _ = meant.Profile(m.Channels)
	}
	switch {
	case profile == nil:
		p.loseColour("%s, so colours look different", name)
	case meant.HighRange():
		d.ICC = profile
		p.loseColour("%s; a colour profile says the same, but programs that know no HDR show the picture dark", name)
	default:
		d.ICC = profile
		p.lose("%s, but a colour profile says the same", name)
	}
}

func (p *plan) loseColour(format string, args ...any) {
	p.lose(format, args...)
	p.colour = append(p.colour, p.losses[len(p.losses)-1])
}

func (p *plan) lose(format string, args ...any) {
	p.losses = append(p.losses, fmt.Sprintf(format, args...))
}
