package train

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
)

// Picture is a decoded image, Channels planes of Height rows of Width samples in [0,1].
type Picture struct {
	Channels, Height, Width int
	Samples                 []float32
}

// Decoder reads an image file.
type Decoder func(ctx context.Context, path string) (Picture, error)

// Pictures are the images of a folder, in memory. A sample takes one byte if all samples of the picture are
// multiples of 1/255, and four otherwise.
type Pictures struct {
	channels int
	list     []picture
	digest   string
}

// picture has either levels, multiples of 1/255, or samples.
type picture struct {
	h, w    int
	levels  []uint8
	samples []float32
}

// LeftOut is a file that is not among the pictures, and why.
type LeftOut struct {
	Path   string
	Reason error
}

// ReadPictures reads all files of a folder and of its subfolders, in the order of their names. It leaves out
// and lists files that cannot be read, that have fewer pixels than smallest in height or width, or that have
// another number of channels; grey pictures are copied to all channels.
func ReadPictures(ctx context.Context, folder string, decode Decoder, channels, smallest int) (*Pictures, []LeftOut, error) {
	if decode == nil {
		return nil, nil, errors.New("train: pictures need a decoder")
	}
	folder, err := filepath.EvalSymlinks(folder) // which WalkDir does not follow
	if err != nil {
		return nil, nil, err
	}
	set := collect(channels)
	var leftOut []LeftOut
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if path == folder {
				return err
			}
			leftOut = append(leftOut, LeftOut{path, err})
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		p, err := decode(ctx, path)
		if err == nil {
			err = p.check(channels, smallest)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			leftOut = append(leftOut, LeftOut{path, err})
			return nil
		}
		set.add(p)
		return nil
	})
	if err != nil {
		return nil, leftOut, err
	}
	if len(set.list) == 0 {
		reason := "it is empty"
		if len(leftOut) > 0 {
			reason = fmt.Sprintf("%d files were left out, the first because: %v", len(leftOut), leftOut[0].Reason)
		}
		return nil, leftOut, fmt.Errorf("no picture in %q: %s", folder, reason)
	}
	return set.pictures(), leftOut, nil
}

// check returns an error unless the picture can be used.
func (p Picture) check(channels, smallest int) error {
	switch {
	case p.Height < 1 || p.Width < 1 || p.Height > math.MaxInt/p.Width || len(p.Samples) != p.Channels*p.Height*p.Width:
		return fmt.Errorf("%d samples in %d channels of %d×%d", len(p.Samples), p.Channels, p.Width, p.Height)
	case p.Height < smallest || p.Width < smallest:
		return fmt.Errorf("%d×%d pixels, must be at least %d×%d", p.Width, p.Height, smallest, smallest)
	case p.Channels != channels && p.Channels != 1:
		return fmt.Errorf("%d colour channels, must have %d", p.Channels, channels)
	}
	for _, v := range p.Samples {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("a sample is %v, must be finite", v)
		}
	}
	return nil
}

// NewPictures makes a set of images that are already in memory.
func NewPictures(channels int, list []Picture) (*Pictures, error) {
	set := collect(channels)
	for i, p := range list {
		if err := p.check(channels, 1); err != nil {
			return nil, fmt.Errorf("picture %d: %w", i, err)
		}
		set.add(p)
	}
	return set.pictures(), nil
}

// collector makes Pictures, one at a time: decoded they take four times the memory.
type collector struct {
	Pictures
	digest hash.Hash // its Write never returns an error
}

func collect(channels int) *collector {
	c := &collector{Pictures{channels: channels}, sha256.New()}
	c.number(channels)
	return c
}

func (c *collector) number(n int) { c.digest.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

// add takes up a picture that has been checked.
func (c *collector) add(p Picture) {
	s := picture{h: p.Height, w: p.Width, levels: levels(p.Samples)}
	if s.levels == nil {
		s.samples = slices.Clone(p.Samples)
	}
	c.list = append(c.list, s)
	for _, n := range []int{p.Channels, p.Height, p.Width} {
		c.number(n)
	}
	c.digest.Write(s.levels)
	row := make([]byte, 0, 4*s.w)
	for rest := s.samples; len(rest) > 0; rest = rest[s.w:] {
		row = row[:0]
		for _, v := range rest[:s.w] {
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v))
		}
		c.digest.Write(row)
	}
}

func (c *collector) pictures() *Pictures {
	set := c.Pictures
	set.digest = "sha256:" + hex.EncodeToString(c.digest.Sum(nil))
	return &set
}

// levels returns the samples as multiples of 1/255, or nil if they are not.
func levels(samples []float32) []uint8 {
	b := make([]uint8, len(samples))
	for i, v := range samples {
		k := math.Round(float64(v) * 255)
		if !(k >= 0 && k <= 255) || level(uint8(k)) != v {
			return nil
		}
		b[i] = uint8(k)
	}
	return b
}

func level(k uint8) float32 { return float32(k) / 255 }

// Len returns the number of pictures.
func (p *Pictures) Len() int {
	if p == nil {
		return 0
	}
	return len(p.list)
}

// smallest returns the least height or width.
func (p *Pictures) smallest() int {
	n := math.MaxInt
	for _, s := range p.list {
		n = min(n, s.h, s.w)
	}
	return n
}

// row copies samples of one row of channel c.
func (s *picture) row(dst []float32, c, y, x int) {
	plane := s.h * s.w
	if n := max(len(s.levels), len(s.samples)); n == plane {
		c = 0 // grey
	}
	at := c*plane + y*s.w + x
	if s.levels == nil {
		copy(dst, s.samples[at:])
		return
	}
	for i, k := range s.levels[at:][:len(dst)] {
		dst[i] = level(k)
	}
}
