package denoisers

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imagefile"
)

// Photograph is a colour image: three planes of samples in [0, 1].
type Photograph struct {
	Name    string
	H, W    int
	Samples []float32
}

// Shape is that of the image on a device.
func (p *Photograph) Shape() backend.Shape { return backend.Image(3, p.H, p.W) }

// Read reads the first limit images (0: all) of a folder and of those below it, in the order of
// their names, and with crop above 0 takes the middle of each, at most crop×crop pixels. Grey ones
// become three equal planes. A file that is no image is an error.
func Read(ctx context.Context, folder string, limit, crop int) ([]Photograph, error) {
	var list []Photograph
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir() || !isImage(path):
			return nil
		case limit > 0 && len(list) == limit:
			return fs.SkipAll
		}
		m, err := imagefile.Read(ctx, path, imagefile.ReadOptions{})
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		list = append(list, middle(m, filepath.ToSlash(name), crop))
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no image in %q", folder)
	}
	return list, err
}

// isImage tells by the name of a file whether it may be one.
func isImage(path string) bool {
	_, err := imagefile.FormatOf(path)
	return err == nil
}

func middle(m *imagefile.Image, name string, crop int) Photograph {
	p := Photograph{Name: name, H: m.Height, W: m.Width, Samples: make([]float32, 3*m.Height*m.Width)}
	plane := m.Height * m.Width
	for c := range 3 {
		copy(p.Samples[c*plane:][:plane], m.Pix[min(c, m.Channels-1)*plane:])
	}
	if crop == 0 {
		return p
	}
	return p.Middle(crop)
}

// Middle returns the middle, at most side×side pixels.
func (p *Photograph) Middle(side int) Photograph {
	h, w := min(p.H, side), min(p.W, side)
	part := Photograph{Name: p.Name, H: h, W: w, Samples: make([]float32, 3*h*w)}
	top, left := (p.H-h)/2, (p.W-w)/2
	for c := range 3 {
		for y := range h {
			copy(part.Samples[(c*h+y)*w:][:w], p.Samples[(c*p.H+top+y)*p.W+left:])
		}
	}
	return part
}
