package jpeg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"math"

	"github.com/averaged/imaging/internal/imagecheck"
	"github.com/averaged/imaging/internal/imagefile/jpeg/segment"
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/imagefile/source"
	"github.com/averaged/imaging/internal/jpegblock"
)

// Steps are the tables to write an image with, as finely as it was coded. Steps above 255,
// which baseline JPEG does not have, become 255.
func Steps(c *picture.JPEGCoding) [2][64]int {
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
func findQuality(c *picture.JPEGCoding) {
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

// frameHeader is what the tables and the frame header before the first scan say.
type frameHeader struct {
	tables     [4]*[64]uint16
	components []component
}

type component struct{ across, down, table int }

// readTables reads the data of a DQT segment. What is broken there is image/jpeg's to report.
func (f *frameHeader) readTables(data []byte) {
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
func (f *frameHeader) readComponents(data []byte) {
	const before, each = 6, 3
	f.components = nil
	for i := before; i+each <= len(data) && len(f.components) < int(data[before-1]); i += each {
		f.components = append(f.components, component{across: int(data[i+1] >> 4), down: int(data[i+1] & 15), table: int(data[i+2])})
	}
}

// coding returns how a decoded image was coded, or nil if that is not known, or its components
// are neither grey nor luma and chroma; and, if asked, the noise of that.
func (f *frameHeader) coding(img image.Image, noise bool) *picture.JPEGCoding {
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
	c := &picture.JPEGCoding{Luma: *f.tables[luma.table], ChromaX: 1, ChromaY: 1}
	if channels == 3 {
		cb, cr := f.components[1], f.components[2]
		for i := range c.Chroma {
			c.Chroma[i] = min(f.tables[cb.table][i], f.tables[cr.table][i])
		}
		c.ChromaX, c.ChromaY = max(luma.across/cb.across, 1), max(luma.down/cb.down, 1)
	}
	findQuality(c)
	if noise {
		c.Noise = jpegblock.RoundingNoise(y, stride, img.Bounds().Dx(), img.Bounds().Dy(), &c.Luma)
	}
	return c
}

// CodingOf tells how a file was coded that somebody else has decoded into img, and the noise of that. It reads what comes before
// the first scan, and decodes nothing. It returns nil for what is no JPEG, or has components that are neither grey nor luma and
// chroma.
func CodingOf(file []byte, img image.Image) (*picture.JPEGCoding, error) {
	if !bytes.HasPrefix(file, []byte{0xff, segment.SOI}) {
		return nil, nil
	}
	config, parts, err := open(source.File(context.Background(), bytes.NewReader(file), int64(len(file)), -1))
	if err != nil {
		return nil, err
	}
	var c *picture.JPEGCoding
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
