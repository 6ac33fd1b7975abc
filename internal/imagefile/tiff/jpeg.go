package tiff

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/jpeg"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/tiffdir"
)

// TIFF whose strips or tiles are JPEG files (TIFF technical note 2). Tables that all of them
// share are in a tag, and are put in front of each.

// jpeg tells whether strips or tiles are JPEG.
func (d *decoder) jpeg() bool { return d.compression == compressionJPEG || d.oldJPEG() }

// oldJPEG tells whether they are as TIFF 6.0 had it.
func (d *decoder) oldJPEG() bool { return d.compression == compressionOldJPEG }

// jpegBlock returns the i-th strip or tile, whose first row is y, as a whole JPEG file. A mark says that it is JFIF, and
// one for four components that they are inks, so that image/jpeg leaves them as they are.
func (d *decoder) jpegBlock(i, y int) (io.Reader, error) {
	block, err := d.block(i)
	if err != nil {
		return nil, err
	}
	soi := [2]byte{0xff, segment.SOI}
	if d.oldJPEG() {
		block, err = d.openOldJPEG(y, block)
	} else if _, err = io.ReadFull(block, soi[:]); err == nil && soi != [2]byte{0xff, segment.SOI} {
		err = malformed("a strip or tile is not JPEG, as its compression says")
	}
	if err != nil {
		return nil, format.Foreign(format.TIFF, err)
	}
	head := segment.AppendJFIF(soi[:], metadata.Resolution{})
	if d.samples == 4 && !d.planar {
		head = segment.Append(head, segment.APP14, "Adobe", []byte{0, 100, 0, 0, 0, 0, 0})
	}
	head = append(head, d.jpegTables...)
	return io.MultiReader(bytes.NewReader(head), block), nil
}

// readJPEGTables reads tag 347, without the marks at its ends.
func (d *decoder) readJPEGTables() error {
	if d.oldJPEG() {
		return d.readOldJPEG()
	}
	f, ok := tiffdir.Find(d.fields, tagJPEGTables)
	if !ok {
		return nil
	}
	// Each strip or tile is decoded with them. All tables that JPEG can have take less.
	const largest = 1 << 12
	if f.Size > largest {
		return malformed("JPEG tables of %d bytes, up to %d are read", f.Size, largest)
	}
	b, err := d.Bytes(f)
	if err != nil {
		return malformed("the value of tag %d lies outside the file", f.Tag)
	}
	b = bytes.TrimPrefix(b, []byte{0xff, segment.SOI})
	d.jpegTables = bytes.TrimSuffix(b, []byte{0xff, segment.EOI})
	return nil
}

// decodeJPEGBlock decodes the i-th strip or tile, whose first pixel is at column x and row y.
func (d *decoder) decodeJPEGBlock(i, x, y int) (image.Image, error) {
	file, err := d.jpegBlock(i, y)
	if err != nil {
		return nil, err
	}
	config, err := stdjpeg.DecodeConfig(file)
	if err != nil {
		return nil, errorOfJPEG(err)
	}
	// Some writers fill the last block up, others end it where the image ends.
	width, height := min(d.blockW, d.width-x), min(d.blockH, d.height-y)
	const padding = 64
	if config.Width < width || config.Height < height || config.Width > d.blockW+padding || config.Height > d.blockH+padding {
		return nil, malformed("JPEG of %d×%d in a strip or tile of %d×%d", config.Width, config.Height, d.blockW, d.blockH)
	}
	samples := map[color.Model]int{color.GrayModel: 1, color.YCbCrModel: 3, color.RGBAModel: 3, color.CMYKModel: 4}[config.ColorModel]
	if want := d.samplesPerBlock(); samples != want {
		return nil, malformed("JPEG of %d components where there are %d samples per pixel", samples, want)
	}
	if file, err = d.jpegBlock(i, y); err != nil {
		return nil, err
	}
	img, err := stdjpeg.Decode(jpeg.LimitScans(file))
	if err != nil {
		return nil, errorOfJPEG(err)
	}
	return img, nil
}

func errorOfJPEG(err error) error {
	var u stdjpeg.UnsupportedError
	if errors.As(err, &u) {
		return unsupported("JPEG compression of a kind that is not read: %s", jpeg.Unread(u))
	}
	return format.Foreign(format.TIFF, err)
}

// openJPEG decodes a strip or tile that is not of luma and chroma, and returns its samples.
func (d *decoder) openJPEG(i, x, y int) (io.Reader, error) {
	img, err := d.decodeJPEGBlock(i, x, y)
	if err != nil {
		return nil, err
	}
	b := img.Bounds()
	width, height := min(b.Dx(), d.blockW), min(b.Dy(), d.blockH)
	n := d.samplesPerBlock()
	raw := make([]byte, d.blockW*height*n)
	for y := range height {
		row := raw[y*d.blockW*n:][:width*n]
		switch s := img.(type) {
		case *image.Gray:
			copy(row, s.Pix[s.PixOffset(0, y):])
		case *image.YCbCr:
			luma := s.YOffset(0, y)
			for x := range width {
				at := s.COffset(x, y)
				row[3*x], row[3*x+1], row[3*x+2] = s.Y[luma+x], s.Cb[at], s.Cr[at]
			}
		case *image.RGBA: // whose components have no other names
			p := s.Pix[s.PixOffset(0, y):]
			for x := range width {
				copy(row[3*x:3*x+3], p[4*x:])
			}
		case *image.CMYK:
			p := s.Pix[s.PixOffset(0, y):]
			for x := range row {
				row[x] = 255 - p[x] // image/jpeg has turned them round, as Adobe's files ask for
			}
		}
	}
	return bytes.NewReader(raw), nil
}

// jpegPlanes returns the components of a strip or tile of luma and chroma.
func (d *decoder) jpegPlanes(img image.Image) (*ycbcrBlock, error) {
	b := &ycbcrBlock{share: chromaShare{1, 1}}
	switch s := img.(type) {
	case *image.Gray: // a plane
		b.planes[0], b.strides[0] = s.Pix, s.Stride
	case *image.YCbCr:
		b.planes, b.strides = [3][]byte{s.Y, s.Cb, s.Cr}, [3]int{s.YStride, s.CStride, s.CStride}
		for share, ratio := range ratios {
			if ratio == s.SubsampleRatio {
				b.share = share
			}
		}
	default:
		return nil, unsupported("JPEG compression of components that are not luma and chroma, as its colour model says (save it as RGB)")
	}
	return b, nil
}
