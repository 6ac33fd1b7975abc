package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/imagefile/atomicfile"
)

// simulateRaw writes the raw photograph that a camera takes of a picture. Its width and height are even.
func (a *app) simulateRaw(ctx context.Context, d *degradeFlags, m *imagefile.Image, c cameranoise.Camera, seed uint64, t task) (*outcome, string, error) {
	seconds := stopwatch()
	h, w := m.Height&^1, m.Width&^1
	if h < 2 || w < 2 {
		return nil, "", fileError{t.input, fmt.Errorf("a raw photograph has at least 2×2 pixels, and not %d×%d", m.Width, m.Height)}
	}
	m.Alpha = nil
	m.Crop(h, w, 0, 0)
	light, err := c.Mosaic(m.Pix, h, w, seed, true)
	if err != nil {
		return nil, "", err
	}
	write := func(w io.Writer) error { return dng.Create(w, mosaicFile(c, light, h, m.Width)) }
	if err = makeFolder(t.output); err == nil {
		err = atomicfile.Write(ctx, t.output, d.force, write)
	}
	if err != nil {
		return nil, "", fileError{outputName(t.output), err}
	}
	o := &outcome{Width: w, Height: h, Channels: 1, Seed: &seed, Camera: cameraInfoOf(c), Seconds: seconds()}
	return o, fmt.Sprintf("raw photograph, %s, seed %d, %d×%d", describeCamera(c), seed, w, h), nil
}

// mosaicFile is the file of a raw image, of samples where 0 is black and 1 is saturation.
func mosaicFile(c cameranoise.Camera, light []float32, h, w int) dng.Mosaic {
	bits := c.Bits
	if bits == 0 {
		bits = 16
	}
	white := float64(int(1)<<bits - 1)
	black := math.Round(c.BlackLevel * white)
	f := dng.Mosaic{
		Width: w, Height: h, Pix: make([]uint16, h*w), Black: uint16(black), White: uint16(white),
		Neutral: [3]float64{1 / c.WhiteBalance[0], 1, 1 / c.WhiteBalance[1]},
		Matrix:  c.XYZToSensor(), Exposure: -math.Log2(c.Exposure),
		Noise: [2]float64{c.ShotNoise(), c.ReadVariance()}, Model: "Simulated camera",
	}
	for i, colour := range c.Pattern.Filters() {
		f.Pattern[i/2][i%2] = dng.Colour(colour)
	}
	for i, v := range light {
		f.Pix[i] = uint16(math.Round(min(max(black+float64(v)*(white-black), 0), white)))
	}
	return f
}
