package imagefile

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/iccprofile"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/jpegblock"
	"github.com/averaged/imaging/internal/metadata"
)

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
