package imagefile

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/averaged/imaging/internal/imagefile/bmp"
	"github.com/averaged/imaging/internal/imagefile/gif"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/png"
	"github.com/averaged/imaging/internal/imagefile/pnm"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/imagefile/tiff"
	"github.com/averaged/imaging/internal/imagefile/webp"
	"github.com/averaged/imaging/internal/openfile"
)

// DefaultMaxPixels is the limit that a MaxPixels of 0 stands for: 2²⁸ pixels,
// 268 megapixels, which take 3 GiB in three float32 planes. Half of that is the limit on 32 bits.
const DefaultMaxPixels = source.DefaultMaxPixels

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

// Read reads an image file. Its errors begin with the path. The format is found
// from the content; the extension of the path means nothing. It stops, with the context's
// error, when ctx is done.
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
		m, err = DecodeAt(ctx, f, info.Size(), opt)
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
	src := source.Stream(ctx, r, opt.MaxPixels)
	m, err := decodeSource(src, opt)
	if err != nil {
		return nil, err
	}
	return m, src.Drain()
}

// DecodeAt reads an image from the first size bytes of r. Bytes after the end of
// the image are ignored. It stops with the context's error when ctx is done.
//
// Its errors wrap ErrUnknownFormat, ErrMalformed, ErrUnsupported,
// ErrTooManyPixels or ErrNotFinite, or are those of r.
func DecodeAt(ctx context.Context, r io.ReaderAt, size int64, opt ReadOptions) (*Image, error) {
	return decodeSource(source.File(ctx, r, size, opt.MaxPixels), opt)
}

func decodeSource(src *source.Source, opt ReadOptions) (*Image, error) {
	head, err := src.Start(sniffLength)
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
	if f == TIFF {
		src.AllowLateSize()
	}
	m, err := decodeFormat(f, src, opt)
	if err := src.Cause(err); err != nil {
		return nil, err
	}
	m.Format = f
	return m, nil
}

// decodeFormat calls the reader of a format. Decoders of other packages run
// inside it on bytes that may be hostile: a panic in one becomes an error here.
func decodeFormat(f Format, src *source.Source, opt ReadOptions) (m *Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%w: the %s decoder failed: %v", ErrMalformed, f, r)
		}
	}()
	var others jpeg.Others
	switch f {
	case PNG:
		m, err = png.Decode(src)
		m, err = salvage(m, err, opt, func() (*Image, error) { return png.Salvage(src) })
	case JPEG:
		m, others, err = jpeg.Decode(src, opt.CodingNoise)
		m, err = salvage(m, err, opt, func() (m *Image, err error) {
			m, others, err = jpeg.Salvage(src, opt.CodingNoise)
			return m, err
		})
	case TIFF:
		m, err = tiff.Decode(src)
	case BMP:
		m, err = bmp.Decode(src)
	case WebP:
		m, err = webp.Decode(src)
	case GIF:
		m, err = gif.Decode(src)
	case PFM:
		m, err = pnm.DecodePFM(src)
	case PGM, PPM:
		m, err = pnm.Decode(src, f)
	}
	if err == nil && m.Depth == 32 && !opt.NotFinite {
		err = m.CheckFinite()
	}
	if err != nil {
		return nil, err
	}
	followed := m.Orient(opt.KeepOrientation, others.Found())
	m.Warnings = append(m.Warnings, others.Dropped(followed)...)
	return m, nil
}
