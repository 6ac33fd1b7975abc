package tiff

import (
	"image"
	"io"
	"math"

	"github.com/averaged/imaging/internal/imagefile/chroma"
	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/tiffdir"
)

// TIFF with luma and chroma (TIFF 6.0, section 21). The samples of all strips or tiles are
// put into one image, so that chroma is interpolated across their borders, too.

// chromaShare is how many pixels share a sample of chroma in a row and in a column.
type chromaShare struct{ x, y int }

// ratios are those that image.YCbCr has.
var ratios = map[chromaShare]image.YCbCrSubsampleRatio{
	{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {2, 2}: image.YCbCrSubsampleRatio420,
	{1, 2}: image.YCbCrSubsampleRatio440, {4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410,
}

// ycbcrBlock is a strip or tile: luma, Cb and Cr, or, in a file of planes, one of them.
type ycbcrBlock struct {
	planes  [3][]byte
	strides [3]int
	share   chromaShare
}

// readYCbCr decodes all strips or tiles.
func (d *decoder) readYCbCr(m *picture.Image) error {
	if !d.jpeg() {
		if err := d.readChromaShare(); err != nil {
			return err
		}
	}
	planes := 1
	if d.planar {
		planes = d.samples
	}
	var whole *image.YCbCr
	var share chromaShare
	i := 0
	for plane := range planes {
		for by := range d.down() {
			for bx := range d.across() {
				x, y := bx*d.blockW, by*d.blockH
				b, err := d.readYCbCrBlock(i, x, y)
				if err != nil {
					return err
				}
				if whole == nil {
					if whole, err = d.newYCbCr(b.share); err != nil {
						return err
					}
					share = b.share
				}
				if b.share != share {
					return malformed("chroma of different resolutions in its strips or tiles")
				}
				d.place(whole, b, plane, x, y)
				i++
			}
		}
	}
	convert := chroma.JFIFToRGB
	if d.compression != compressionJPEG {
		var err error
		if convert, err = d.ycbcrToRGB(); err != nil {
			return err
		}
	}
	m.FillSmooth(whole, convert)
	return nil
}

// readChromaShare reads tag 530. JPEG says it by itself.
func (d *decoder) readChromaShare() error {
	d.chroma = chromaShare{2, 2}
	if f, ok := tiffdir.Find(d.fields, tagYCbCrSubsampling); ok && f.Count >= 2 {
		v, err := d.Uints(f.First(2))
		if err != nil {
			return malformed("%v", err)
		}
		for _, n := range v {
			if n != 1 && n != 2 && n != 4 {
				return malformed("%d×%d pixels with the same chroma", v[0], v[1])
			}
		}
		d.chroma = chromaShare{int(v[0]), int(v[1])}
	}
	if d.chroma == (chromaShare{1, 1}) {
		return nil
	}
	if d.planar {
		return unsupported("chroma of a lower resolution in a plane of its own (save it as RGB)")
	}
	if d.predictor != predictorNone {
		return unsupported("predictor %d and chroma of a lower resolution (save it as RGB)", d.predictor)
	}
	return nil
}

// newYCbCr makes room for the image. Rows of chroma are repeated where image.YCbCr has no
// such ratio, or strips end within one.
func (d *decoder) newYCbCr(share chromaShare) (*image.YCbCr, error) {
	if d.across() > 1 && d.blockW%share.x != 0 {
		return nil, malformed("tiles of %d columns, of which %d share chroma", d.blockW, share.x)
	}
	if share.y > 2 || d.down() > 1 && d.blockH%share.y != 0 {
		share.y = 1
	}
	return image.NewYCbCr(image.Rect(0, 0, d.width, d.height), ratios[share]), nil
}

// place copies the samples of a block whose first pixel is at column x and row y.
func (d *decoder) place(whole *image.YCbCr, b *ycbcrBlock, plane, x, y int) {
	width, height := min(d.blockW, d.width-x), min(d.blockH, d.height-y)
	copyPlane := func(dst []byte, stride, at int, k int) {
		for row := range height {
			copy(dst[at+row*stride:][:width], b.planes[k][row*b.strides[k]:])
		}
	}
	if d.planar {
		dst := [3][]byte{whole.Y, whole.Cb, whole.Cr}[plane]
		copyPlane(dst, whole.YStride, y*whole.YStride+x, 0) // all have the same size
		return
	}
	copyPlane(whole.Y, whole.YStride, whole.YOffset(x, y), 0)
	across := (width + b.share.x - 1) / b.share.x
	for row := range height {
		at := whole.COffset(x, y+row)
		if row > 0 && at == whole.COffset(x, y+row-1) {
			continue
		}
		for k, dst := range [2][]byte{whole.Cb, whole.Cr} {
			copy(dst[at:][:across], b.planes[1+k][row/b.share.y*b.strides[1+k]:])
		}
	}
}

// readYCbCrBlock decodes the i-th strip or tile, whose first pixel is at column x and row y.
func (d *decoder) readYCbCrBlock(i, x, y int) (*ycbcrBlock, error) {
	if d.jpeg() {
		img, err := d.decodeJPEGBlock(i, x, y)
		if err != nil {
			return nil, err
		}
		return d.jpegPlanes(img)
	}
	r, err := d.openBlock(i, x, y)
	if err != nil {
		return nil, err
	}
	width, height := d.blockW, min(d.blockH, d.height-y)
	if d.planar {
		b := &ycbcrBlock{share: d.chroma}
		b.planes[0], b.strides[0] = make([]byte, width*height), width
		if _, err := io.ReadFull(r, b.planes[0]); err != nil {
			return nil, format.Foreign(format.TIFF, err)
		}
		d.undoDifferences(b.planes[0], width, 1)
		return b, nil
	}
	return d.unpackUnits(r, width, height)
}

// unpackUnits reads the samples of pixels that share chroma, which follow each other: their
// luma row by row, Cb, and Cr.
func (d *decoder) unpackUnits(r io.Reader, width, height int) (*ycbcrBlock, error) {
	b := &ycbcrBlock{share: d.chroma}
	across, down := (width+b.share.x-1)/b.share.x, (height+b.share.y-1)/b.share.y
	size := b.share.x*b.share.y + 2
	b.strides = [3]int{across * b.share.x, across, across}
	b.planes[0] = make([]byte, b.strides[0]*down*b.share.y)
	b.planes[1], b.planes[2] = make([]byte, across*down), make([]byte, across*down)
	row := make([]byte, across*size)
	for v := range down {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, format.Foreign(format.TIFF, err)
		}
		d.undoDifferences(row, len(row), size)
		for u := range across {
			unit := row[u*size : (u+1)*size]
			for i := range b.share.y {
				copy(b.planes[0][(v*b.share.y+i)*b.strides[0]+u*b.share.x:], unit[i*b.share.x:(i+1)*b.share.x])
			}
			b.planes[1][v*across+u], b.planes[2][v*across+u] = unit[size-2], unit[size-1]
		}
	}
	return b, nil
}

// undoDifferences undoes the horizontal predictor in rows of some bytes.
func (d *decoder) undoDifferences(p []byte, row, step int) {
	if d.predictor != predictorHorizontal {
		return
	}
	for ; len(p) > 0; p = p[row:] {
		for i := step; i < row; i++ {
			p[i] += p[i-step]
		}
	}
}

// ycbcrToRGB returns the conversion that tags 529, the weights of red, green and blue in
// luma, and 532, black and white of each component, ask for.
func (d *decoder) ycbcrToRGB() (func(luma, cb, cr byte) (r, g, b byte), error) {
	weights, err := d.rationals(tagYCbCrCoefficients, []float64{0.299, 0.587, 0.114})
	if err != nil {
		return nil, err
	}
	reference, err := d.rationals(tagReferenceBlackWhite, []float64{0, 255, 128, 255, 128, 255})
	if err != nil {
		return nil, err
	}
	red, green, blue := weights[0], weights[1], weights[2]
	if green == 0 {
		return nil, malformed("no green in luma (tag %d)", tagYCbCrCoefficients)
	}
	// levels are the values of a component whose code is its index: luma from 0 to 255, chroma from
	// −127 to 127.
	levels := func(k int, white float64) (t [256]float64) {
		from, to := reference[2*k], reference[2*k+1]
		if from == to {
			to++
		}
		for v := range t {
			t[v] = (float64(v) - from) * white / (to - from)
		}
		return t
	}
	y, u, v := levels(0, 255), levels(1, 127), levels(2, 127)
	clip := func(x float64) byte { return byte(min(max(math.Round(x), 0), 255)) }
	return func(luma, cb, cr byte) (byte, byte, byte) {
		r := y[luma] + (2-2*red)*v[cr]
		b := y[luma] + (2-2*blue)*u[cb]
		return clip(r), clip((y[luma] - red*r - blue*b) / green), clip(b)
	}, nil
}

// rationals returns the fractions of a field, or what is to be assumed without it.
func (d *decoder) rationals(tag uint16, otherwise []float64) ([]float64, error) {
	f, ok := tiffdir.Find(d.fields, tag)
	if !ok {
		return otherwise, nil
	}
	if f.Count < uint32(len(otherwise)) {
		return nil, malformed("tag %d is not %d fractions", tag, len(otherwise))
	}
	v, err := d.Numbers(f.First(uint32(len(otherwise)))) // Old writers have whole numbers.
	if err != nil {
		return nil, malformed("%v", err)
	}
	return v, nil
}
