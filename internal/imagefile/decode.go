package imagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/averaged/imaging/internal/openfile"
)

// DefaultMaxPixels is the limit that a MaxPixels of 0 stands for: 2²⁸ pixels,
// 268 megapixels, which take 3 GiB in three float32 planes. Half of that is the limit on 32 bits.
const DefaultMaxPixels = 1 << 28

// ReadOptions says how to read. The zero value is a useful one.
type ReadOptions struct {
	// MaxPixels is the largest width × height that is accepted; 0 means
	// DefaultMaxPixels, or 50 million for a file of less than a byte for 128 pixels,
	// and a negative number means no limit.
	MaxPixels int64
	// KeepOrientation leaves pixels and EXIF as stored. By default an orientation
	// other than 1 is applied to the pixels, and its tag set to 1.
	KeepOrientation bool
	// Damaged reads what is there of a PNG or JPEG file that ends early or is broken.
	// Pixels that cannot be read are grey. Image.Lost says where they are, and a warning
	// how many. By default such a file is an error.
	Damaged bool
	// CodingNoise measures what the coding of a JPEG has changed in its samples (JPEGCoding.Noise).
	CodingNoise bool
	// NotFinite accepts float samples that are infinite or not a number, which are an
	// error by default. CheckFinite finds them.
	NotFinite bool
}

// Limits on what a file may claim, apart from its pixels.
const (
	// A photograph takes a byte for a few pixels, and a uniform area in JPEG one
	// for at most 100. A file with fewer unpacks to much from nearly nothing:
	// plausiblePixels are accepted of it, unless a limit is given.
	plausiblePixels  = 50_000_000
	plausiblePacking = 128
)

// Read reads an image file. Its errors begin with the path. The format is found
// from the content; the extension of the path means nothing. It stops waiting for a
// pipe or a device, with the context's error, when ctx is done.
func Read(ctx context.Context, path string, opt ReadOptions) (*Image, error) {
	f, err := openfile.Open(ctx, path, os.O_RDONLY)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer f.Close() // Nothing was written, so closing cannot lose anything.
	info, err := f.Stat()
	if err != nil {
		return nil, pathError(path, err)
	}
	var m *Image
	switch {
	case info.IsDir():
		err = fmt.Errorf("%w: it is a folder, not an image file", ErrUnknownFormat)
	case info.Mode().IsRegular():
		m, err = DecodeAt(f, info.Size(), opt)
	default:
		m, err = Decode(ctx, f, opt)
	}
	if err != nil {
		return nil, pathError(path, err)
	}
	return m, nil
}

// pathError puts the path before the message, in place of the operation and the
// (perhaps temporary) name that errors of package os begin with.
func pathError(path string, err error) error {
	switch e := err.(type) {
	case *os.PathError:
		err = e.Err
	case *os.LinkError:
		err = e.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Decode reads an image from a stream, and keeps the stream's bytes in memory
// while it decodes them. It reads no further than the image needs, so a stream
// that begins with something else is given up at once; of what follows the image
// it discards up to 32 MB. Where there is an io.ReaderAt, DecodeAt needs less
// memory.
//
// It stops waiting for r, with the context's error, when ctx is done. A Read of r may
// then still be under way.
func Decode(ctx context.Context, r io.Reader, opt ReadOptions) (*Image, error) {
	s := &stream{r: interruptibleReader{ctx, r}, limit: maxBeforeSize}
	m, err := decodeSource(s, 0, s, opt)
	if err != nil {
		return nil, err
	}
	return m, s.drain()
}

// DecodeAt reads an image from the first size bytes of r. Bytes after the end of
// the image are ignored.
//
// Its errors wrap ErrUnknownFormat, ErrMalformed, ErrUnsupported,
// ErrTooManyPixels or ErrNotFinite, or are those of r.
func DecodeAt(r io.ReaderAt, size int64, opt ReadOptions) (*Image, error) {
	return decodeSource(r, max(size, 0), nil, opt)
}

func decodeSource(r io.ReaderAt, size int64, s *stream, opt ReadOptions) (*Image, error) {
	disk := &Recorder{ReaderAt: r}
	src := source{disk, size, s}
	head, err := src.start(sniffLength)
	if err != nil {
		return nil, err
	}
	f := sniff(head)
	if f == 0 {
		switch what := foreign(head); {
		case len(head) == 0:
			return nil, fmt.Errorf("%w: the file is empty", ErrMalformed)
		case what != "":
			return nil, fmt.Errorf("%w: it is %s (%s are read)", ErrUnknownFormat, what, readable)
		}
		return nil, fmt.Errorf("%w: the content is not of a known kind (%s are read)", ErrUnknownFormat, readable)
	}
	if s != nil && f == TIFF {
		s.limit = maxBeforeSizeTIFF
	}
	m, err := decodeFormat(f, src, opt)
	switch {
	case disk.Err != nil:
		return nil, disk.Err
	case err != nil && s != nil && s.err != nil && s.err != io.EOF:
		return nil, s.err
	case err != nil:
		return nil, err
	}
	m.Format = f
	return m, nil
}

// decodeFormat calls the reader of a format. Decoders of other packages run
// inside it on bytes that may be hostile: a panic in one becomes an error here.
func decodeFormat(f Format, src source, opt ReadOptions) (m *Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%w: the %s decoder failed: %v", ErrMalformed, f, r)
		}
	}()
	switch f {
	case PNG:
		m, err = decodePNG(src, opt)
		m, err = salvage(m, err, src, opt, salvagePNG)
	case JPEG:
		m, err = decodeJPEG(src, opt)
		m, err = salvage(m, err, src, opt, salvageJPEG)
	case TIFF:
		m, err = decodeTIFF(src, opt)
	case BMP:
		m, err = decodeBMP(src, opt)
	case WebP:
		m, err = decodeWebP(src, opt)
	case GIF:
		m, err = decodeGIF(src, opt)
	case PFM:
		m, err = decodePFM(src, opt)
	case PGM, PPM:
		m, err = decodeNetpbm(src, f, opt)
	}
	if err != nil {
		return nil, err
	}
	m.warnOthers(m.orient(opt))
	return m, nil
}

func (o ReadOptions) maxPixels() int64 {
	switch {
	case o.MaxPixels == 0:
		return DefaultMaxPixels
	case o.MaxPixels < 0:
		return 1<<62 - 1
	}
	return o.MaxPixels
}

// addressable is the number of pixels whose three float32 planes and alpha can be addressed, whatever the limit is.
const addressable = math.MaxInt / 16

// checkSize is called with the size in a file's header, before any pixel is
// decoded.
func (o ReadOptions) checkSize(src source, f Format, width, height int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("%w: the %s header says %d×%d pixels, at least 1×1 is needed", ErrMalformed, f, width, height)
	}
	if limit := min(o.maxPixels(), addressable); int64(height) > limit/int64(width) {
		return fmt.Errorf("%w: the %s header says %d×%d, which is more than the limit of %d pixels", ErrTooManyPixels, f, width, height, limit)
	}
	pixels := int64(width) * int64(height)
	if src.stream != nil {
		src.stream.allow(min(pixels, 1<<50)*maxBytesPerPixel + maxBeforeSize)
	}
	if o.MaxPixels == 0 && pixels > plausiblePixels && !src.has(pixels/plausiblePacking) {
		return fmt.Errorf("%w: the %s header says %d×%d, and the file is too small to hold a picture of that size (a decompression bomb?)",
			ErrTooManyPixels, f, width, height)
	}
	return nil
}

// truncated returns the error for a file that ends early.
func truncated(f Format) error {
	return fmt.Errorf("%w: the %s data ends early (a truncated file?)", ErrMalformed, f)
}

// foreignError wraps the error of another package's decoder, whose text begins
// with the name of that package.
func foreignError(f Format, err error) error {
	if errors.Is(err, ErrMalformed) || errors.Is(err, ErrUnsupported) {
		return err // it was found here
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return truncated(f)
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "short Huffman data"), strings.Contains(text, "short chunk"), strings.Contains(text, "short chunk header"),
		strings.HasSuffix(text, io.ErrUnexpectedEOF.Error()), strings.HasSuffix(text, ": EOF"), text == "gif: not enough image data":
		return truncated(f)
	case !strings.Contains(strings.ToLower(text), strings.ToLower(f.String())):
		text = f.String() + ": " + text
	}
	return fmt.Errorf("%w: %s", ErrMalformed, text)
}
