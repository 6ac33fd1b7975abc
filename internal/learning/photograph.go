// Package learning holds what the commands share that learn rules from photographs.
package learning

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/internal/imagefile"
)

// Photograph is a clean one, in colour: three planes of values from 0 to 1.
type Photograph struct {
	Pix           []float32
	Height, Width int
}

// Photographs reads those in colour that are in a folder, in the order of their names. It is an error if there are none.
func Photographs(ctx context.Context, folder string) ([]Photograph, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []Photograph
	for _, e := range entries {
		m, err := imagefile.ReadContext(ctx, filepath.Join(folder, e.Name()), imagefile.ReadOptions{})
		if err != nil {
			return nil, err
		}
		if m.Channels == 3 {
			list = append(list, Photograph{m.Pix, m.Height, m.Width})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no colour photographs", folder)
	}
	return list, nil
}

// Crop returns a copy of a part, which must be inside.
func (p Photograph) Crop(top, left, height, width int) Photograph {
	out := Photograph{make([]float32, 0, 3*height*width), height, width}
	for c := range 3 {
		for y := range height {
			out.Pix = append(out.Pix, p.Pix[(c*p.Height+top+y)*p.Width+left:][:width]...)
		}
	}
	return out
}

// Round rounds values to 8 bits.
func (p Photograph) Round() Photograph {
	rounded := make([]float32, len(p.Pix))
	for i, v := range p.Pix {
		rounded[i] = float32(math.Round(255*float64(v)) / 255)
	}
	return Photograph{rounded, p.Height, p.Width}
}

// Between is uniform from low to high.
func Between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }
