package denoising

import (
	"fmt"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
)

// colourScales are the sides of the squares whose means are looked at for noise in colour: that of a JPEG, or of a camera, is coarse.
var colourScales = []int{1, 2, 4}

// InBrightnessAlone says whether an image has white noise in brightness, and none in its colours at any scale but what rounding to
// bytes leaves.
func InBrightnessAlone(p *imageplanes.Planes) (bool, error) {
	if p.Channels != 3 {
		return false, nil
	}
	p = p.Visible()
	n := p.Width * p.Height
	red, green, blue := p.Plane(0), p.Plane(1), p.Plane(2)
	bright, colours := make([]float32, n), make([]float32, 2*n)
	for i := range n {
		bright[i] = (red[i] + green[i] + blue[i]) / 3
		colours[i], colours[n+i] = (red[i]-blue[i])/2, (red[i]-2*green[i]+blue[i])/4
	}
	white, err := noise.MeasureWhite(bright, 1, p.Height, p.Width)
	if err != nil {
		return false, fmt.Errorf("restore: noise level: %w", err)
	}
	if !white.Reliable || white.Sigma < noise.Dominance*imageplanes.ToneRounding {
		return false, nil
	}
	for _, side := range colourScales {
		of, err := noise.MeasureWhite(means(colours, p.Height, p.Width, side), 2, p.Height/side, p.Width/side)
		if err != nil {
			return false, fmt.Errorf("restore: noise level: %w", err)
		}
		// Where colours vary everywhere it is an upper bound.
		if max(of.PerChannel[0], of.PerChannel[1]) > imageplanes.ToneRounding {
			return false, nil
		}
	}
	return true, nil
}

// means returns the means of the whole squares of so many samples a side of two planes.
func means(planes []float32, h, w, side int) []float32 {
	if side == 1 {
		return planes
	}
	rows, columns := h/side, w/side
	out := make([]float32, 2*rows*columns)
	for i := range out {
		y, x := i/columns%rows, i%columns
		plane, sum := planes[i/(rows*columns)*h*w:], 0.0
		for dy := range side {
			for dx := range side {
				sum += float64(plane[(y*side+dy)*w+x*side+dx])
			}
		}
		out[i] = float32(sum / float64(side*side))
	}
	return out
}
