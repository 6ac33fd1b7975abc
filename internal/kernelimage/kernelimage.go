// Package kernelimage reads kernels from image files as people make them: bright on black, in an alpha channel, on grey, or dark
// on white. It makes images of kernels, too.
package kernelimage

import (
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/picture"
)

// Kernel makes a kernel of an image: of one that is transparent except for the kernel, and of one colour, from its alpha
// channel, and of one on grey or white without that background. The background of a floating-point image is data. It may change
// m. Notes say what it did.
func Kernel(m *picture.Image) (k deblur.Kernel, notes []string, err error) {
	notes = takeWeights(m)
	k, err = deblur.KernelFromPlanes(m.Pix, m.Channels, m.Height, m.Width)
	if err != nil {
		return deblur.Kernel{}, nil, err
	}
	if foreground, ok := k.Foreground(); ok && m.Depth != 32 {
		return foreground, append(notes, "its background is not black and was left out; a kernel is bright on black"), nil
	}
	return k, notes, nil
}

// Grid makes kernels of a sheet of them, as Kernel does of one, but on black only.
func Grid(m *picture.Image, rows, columns int) (g deblur.Grid, notes []string, err error) {
	notes = takeWeights(m)
	g, err = deblur.GridFromPlanes(m.Pix, m.Channels, m.Height, m.Width, rows, columns)
	return g, notes, err
}

// takeWeights makes the samples of an image weights.
func takeWeights(m *picture.Image) (notes []string) {
	if hasOneColour(m) && slices.Max(m.Alpha) != slices.Min(m.Alpha) {
		notes = append(notes, "its visible part has one colour, so the kernel is taken from its alpha channel")
		m.Channels, m.Pix = 1, make([]float32, len(m.Alpha))
		for i, v := range m.Alpha {
			m.Pix[i] = float32(v)
		}
	}
	if share := shareBelowZero(m.Pix); share > 0 && share < maxBelowZero {
		notes = append(notes, fmt.Sprintf("its weights below 0, %.2g %% of all, count as 0", 100*share))
		for i, v := range m.Pix {
			m.Pix[i] = max(v, 0)
		}
	}
	return notes
}

// maxBelowZero is how much of a kernel may be negative and still be the rounding or the ringing of another program.
const maxBelowZero = 0.05

// shareBelowZero returns the sum of the negative samples, as a share of the sum of all magnitudes.
func shareBelowZero(pix []float32) float64 {
	below, all := 0.0, 0.0
	for _, v := range pix {
		all += math.Abs(float64(v))
		below += math.Abs(min(float64(v), 0))
	}
	if all == 0 {
		return 0
	}
	return below / all
}

// hasOneColour says whether a picture with an alpha channel has one colour wherever it is not wholly
// transparent. What programs write where it is, often black, was never seen.
func hasOneColour(m *picture.Image) bool {
	seen := -1
	for i, alpha := range m.Alpha {
		if alpha == 0 {
			continue
		}
		if seen < 0 {
			seen = i
		}
		for c := range m.Channels {
			if plane := m.Plane(c); plane[i] != plane[seen] {
				return false
			}
		}
	}
	return seen >= 0
}

// Of is the image of a kernel for a file of a format.
func Of(k deblur.Kernel, f format.Format) (*picture.Image, error) {
	if f == format.PFM {
		return &picture.Image{Width: k.W, Height: k.H, Channels: 1, Pix: k.Weights, Depth: 32, Format: f}, nil
	}
	grey, err := k.Image()
	if err != nil {
		return nil, err
	}
	return picture.FromImage(grey)
}

// Sheet is the image of a grid of kernels for a file of a format.
func Sheet(g deblur.Grid, f format.Format) (*picture.Image, error) {
	pix, h, w, err := g.Sheet()
	if err != nil {
		return nil, err
	}
	depth := 16
	if f == format.PFM {
		depth = 32
	}
	return &picture.Image{Width: w, Height: h, Channels: 1, Pix: pix, Depth: depth, Format: f}, nil
}
