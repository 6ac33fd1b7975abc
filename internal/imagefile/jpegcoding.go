package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"math"

	"github.com/averaged/imaging/internal/imagecheck"
	"github.com/averaged/imaging/internal/jpegblock"
)

// JPEGCoding is how the samples of a JPEG file were coded: what it says of the noise in them,
// and of how finely they are to be written again.
type JPEGCoding struct {
	// Luma and Chroma are the quantisation steps of the coefficients of an 8×8 block, in units of
	// 1/255 of the full range of a sample: row v, column u, at 8·v+u, is the coefficient of
	// vertical frequency v and horizontal frequency u, [0] that of the mean. Chroma is the finer of
	// the tables of Cb and Cr where they differ, and all 0 in a grey image. The transform is
	// orthonormal (annex A.3.3 of ISO/IEC 10918-1), so a step is one of the coefficient itself.
	Luma, Chroma [64]uint16
	// ChromaX and ChromaY are how many samples of luma there are for one of chroma in a row and
	// in a column: 1 and 1 is 4:4:4, 2 and 1 is 4:2:2, 2 and 2 is 4:2:0. They are 1 in a grey image.
	ChromaX, ChromaY int
	// Quality, 1 to 100, is the one at which the tables of the Independent JPEG Group are nearest;
	// Standard tells whether they are the same.
	Quality  int
	Standard bool
	// Noise is the standard deviation of what the coding has changed in luma, where 1 is white, as far as the
	// coefficients tell. It is 0 unless ReadOptions.CodingNoise was set.
	Noise float64
}

// CodingNoise is the standard deviation of what compression has changed in luma, where 1 is white: 0 for all but a JPEG that
// was read with ReadOptions.CodingNoise.
func (m *Image) CodingNoise() float64 {
	if m.JPEG == nil {
		return 0
	}
	return m.JPEG.Noise
}

// transpose follows an image whose rows have become columns.
func (c *JPEGCoding) transpose() {
	for i := range 8 {
		for j := range i {
			a, b := 8*i+j, 8*j+i
			c.Luma[a], c.Luma[b] = c.Luma[b], c.Luma[a]
			c.Chroma[a], c.Chroma[b] = c.Chroma[b], c.Chroma[a]
		}
	}
	c.ChromaX, c.ChromaY = c.ChromaY, c.ChromaX
}

// steps are the tables to write an image with, as finely as it was coded. Steps above 255,
// which baseline JPEG does not have, become 255.
func (c *JPEGCoding) steps() [2][64]int {
	steps := jpegblock.Steps(c.Quality)
	for t, table := range [2]*[64]uint16{&c.Luma, &c.Chroma} {
		if table[0] == 0 {
			continue // a grey image that has become one of colour
		}
		for i, s := range table {
			steps[t][i] = int(min(s, 255))
		}
	}
	return steps
}

// findQuality sets Quality and Standard. The distance of two tables is the mean of the absolute
// logarithms of the ratios of their steps.
func (c *JPEGCoding) findQuality() {
	least := math.Inf(1)
	for q := 1; q <= 100; q++ {
		distance := 0.0
		for t, table := range [2]*[64]uint16{&c.Luma, &c.Chroma} {
			if table[0] == 0 {
				continue
			}
			for i, s := range jpegblock.Steps(q)[t] {
				distance += math.Abs(math.Log(float64(table[i]) / float64(s)))
			}
		}
		// The highest of the qualities with the same tables counts.
		if distance <= least {
			least, c.Quality, c.Standard = distance, q, distance == 0
		}
	}
}

// jpegFrame is what the tables and the frame header before the first scan say.
type jpegFrame struct {
	tables     [4]*[64]uint16
	components []jpegComponent
}

type jpegComponent struct{ across, down, table int }

// readTables reads the data of a DQT segment. What is broken there is image/jpeg's to report.
func (f *jpegFrame) readTables(data []byte) {
	for len(data) > 0 {
		wide, number := data[0]>>4, data[0]&15
		size := 64
		if wide != 0 {
			size = 128
		}
		if data = data[1:]; len(data) < size || int(number) >= len(f.tables) {
			return
		}
		t := new([64]uint16)
		for i, at := range zigzag {
			if wide != 0 {
				t[at] = binary.BigEndian.Uint16(data[2*i:])
			} else {
				t[at] = uint16(data[i])
			}
		}
		f.tables[number] = t
		data = data[size:]
	}
}

// readComponents reads the data of a frame header.
func (f *jpegFrame) readComponents(data []byte) {
	const before, each = 6, 3
	f.components = nil
	for i := before; i+each <= len(data) && len(f.components) < int(data[before-1]); i += each {
		f.components = append(f.components, jpegComponent{across: int(data[i+1] >> 4), down: int(data[i+1] & 15), table: int(data[i+2])})
	}
}

// coding returns how a decoded image was coded, or nil if that is not known, or its components
// are neither grey nor luma and chroma; and, if asked, the noise of that.
func (f *jpegFrame) coding(img image.Image, noise bool) *JPEGCoding {
	channels, y, stride := 0, []uint8(nil), 0
	switch m := img.(type) {
	case *image.Gray:
		channels, y, stride = 1, m.Pix, m.Stride
	case *image.YCbCr:
		channels, y, stride = 3, m.Y, m.YStride
	}
	if channels == 0 || len(f.components) != channels {
		return nil
	}
	for _, k := range f.components {
		if k.across == 0 || k.down == 0 || k.table >= len(f.tables) || f.tables[k.table] == nil {
			return nil
		}
		for _, step := range f.tables[k.table] {
			if step == 0 {
				return nil // it is none
			}
		}
	}
	luma := f.components[0]
	c := &JPEGCoding{Luma: *f.tables[luma.table], ChromaX: 1, ChromaY: 1}
	if channels == 3 {
		cb, cr := f.components[1], f.components[2]
		for i := range c.Chroma {
			c.Chroma[i] = min(f.tables[cb.table][i], f.tables[cr.table][i])
		}
		c.ChromaX, c.ChromaY = max(luma.across/cb.across, 1), max(luma.down/cb.down, 1)
	}
	c.findQuality()
	if noise {
		c.Noise = jpegblock.RoundingNoise(y, stride, img.Bounds().Dx(), img.Bounds().Dy(), &c.Luma)
	}
	return c
}

// CodingOf tells how a file was coded that somebody else has decoded into img, and the noise of that. It reads what comes before
// the first scan, and decodes nothing. It returns nil for what is no JPEG, or has components that are neither grey nor luma and
// chroma.
func CodingOf(file []byte, img image.Image) (*JPEGCoding, error) {
	if !bytes.HasPrefix(file, []byte{0xff, markerSOI}) {
		return nil, nil
	}
	config, parts, err := openJPEG(source{bytes.NewReader(file), int64(len(file)), nil}, ReadOptions{MaxPixels: -1})
	if err != nil {
		return nil, err
	}
	var c *JPEGCoding
	err = imagecheck.Read(img, func() error {
		if b := img.Bounds(); b.Dx() != config.Width || b.Dy() != config.Height {
			return fmt.Errorf("the file has %d×%d pixels and the image %d×%d: it must be as it was decoded, not turned, cut or resized", config.Width, config.Height, b.Dx(), b.Dy())
		}
		c = parts.frame.coding(withLuma(img, len(parts.frame.components) == 1), true)
		return nil
	})
	return c, err
}

// withLuma returns an image that has luma in a plane, as that of image/jpeg has: img, or the luma of its colours.
func withLuma(img image.Image, grey bool) image.Image {
	switch img.(type) {
	case *image.Gray, *image.YCbCr:
		return img
	}
	b := img.Bounds()
	luma := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(luma, luma.Rect, img, b.Min, draw.Src)
	if grey {
		return luma
	}
	return &image.YCbCr{Y: luma.Pix, YStride: luma.Stride, Rect: luma.Rect}
}
