package denoising

import (
	"fmt"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noise"
)

// InBrightnessAlone says whether an image has white noise in brightness, and none in its colours but what rounding to bytes leaves.
// Noise of colours in a JPEG, or of a camera, is coarse. So means of squares are looked at, too, the largest first: they show most
// noise, and take least time. What is drawn beside a photograph has no noise of colours, and says nothing of it.
func InBrightnessAlone(p *imageplanes.Planes) (bool, error) {
	p = p.Visible()
	is, err := inBrightnessAlone(p)
	if !is || err != nil {
		return false, err
	}
	return inBrightnessAlone(leaveDrawn(p, denoise.ConstantLevels(p.Height, p.Width, 0)).Visible())
}

func inBrightnessAlone(p *imageplanes.Planes) (bool, error) {
	if p.Channels != 3 || p.Height*p.Width < noise.MinSide*noise.MinSide || min(p.Height, p.Width) < 4 {
		return false, nil
	}
	for _, side := range []int{4, 2, 1} {
		h, w := p.Height/side, p.Width/side
		colours := make([]float32, 0, 2*h*w)
		for _, axis := range [][3]float32{{.5, 0, -.5}, {.25, -.5, .25}} {
			colours = append(colours, alongAxis(p, axis, side)...)
		}
		of, err := noise.MeasureWhite(colours, 2, h, w)
		if err != nil {
			return false, fmt.Errorf("restore: noise level: %w", err)
		}
		// Where colours vary everywhere it is an upper bound.
		if max(of.PerChannel[0], of.PerChannel[1]) > imageplanes.ToneRounding {
			return false, nil
		}
	}
	white, err := noise.MeasureWhite(alongAxis(p, [3]float32{1. / 3, 1. / 3, 1. / 3}, 1), 1, p.Height, p.Width)
	if err != nil {
		return false, fmt.Errorf("restore: noise level: %w", err)
	}
	return white.Reliable && white.Sigma >= noise.Dominance*imageplanes.ToneRounding, nil
}

// alongAxis returns the positions of an image's colours on an axis, as the means of the whole squares of so many pixels a side.
func alongAxis(p *imageplanes.Planes, axis [3]float32, side int) []float32 {
	rows, columns := p.Height/side, p.Width/side
	out := make([]float32, rows*columns)
	for c, weight := range axis {
		plane := p.Plane(c)
		weight /= float32(side * side)
		for y := range rows * side {
			row, to := plane[y*p.Width:], out[y/side*columns:]
			for x := range columns * side {
				to[x/side] += weight * row[x]
			}
		}
	}
	return out
}
