package rawdenoise

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/dng"
	"github.com/averaged/imaging/internal/sensornoise"
)

const (
	black = 256
	white = 4095
)

// photograph is a DNG file of 16-bit samples, with a margin of two rows and one column at the left and the
// top. The mosaic begins with green in the active area.
func photograph(t *testing.T, width, height, samples int, pix []uint16, profile []float64) *dng.Raw {
	t.Helper()
	le := binary.LittleEndian
	file := append([]byte("II*\x00"), 0, 0, 0, 0)
	for _, v := range pix {
		file = le.AppendUint16(file, v)
	}
	var noise []byte
	for _, v := range profile {
		noise = le.AppendUint64(noise, math.Float64bits(v))
	}
	noiseAt := len(file)
	file = append(file, noise...)
	areaAt := len(file)
	for _, v := range []int{2, 1, height, width} {
		file = le.AppendUint32(file, uint32(v))
	}
	bitsAt := len(file)
	if samples == 2 {
		bitsAt = 16<<16 | 16 // which has room in the directory
	}
	for range samples {
		file = le.AppendUint16(file, 16)
	}
	file = append(file, make([]byte, len(file)%4)...)
	const short, long, double = 3, 4, 12
	photometric, bits, filters := 32803, 16, 4
	if samples > 1 {
		photometric, bits, filters = 34892, bitsAt, 0
	}
	entries := [][4]int{ // tag, type, count, value
		{254, long, 1, 0}, {256, long, 1, width}, {257, long, 1, height}, {258, short, samples, bits}, {259, short, 1, 1},
		{262, short, 1, photometric}, {273, long, 1, 8}, {277, short, 1, samples}, {278, long, 1, height}, {279, long, 1, 2 * len(pix)},
		{33421, short, 2, 2<<16 | 2}, {33422, 1, filters, 1 | 2<<8 | 0<<16 | 1<<24}, {50706, 1, 4, 1 | 4<<8},
		{50714, short, 1, black}, {50717, short, 1, white}, {50829, long, 4, areaAt}, {51041, double, len(profile), noiseAt},
	}
	le.PutUint32(file[4:], uint32(len(file)))
	file = le.AppendUint16(file, uint16(len(entries)))
	for _, e := range entries {
		file = le.AppendUint16(le.AppendUint16(file, uint16(e[0])), uint16(e[1]))
		file = le.AppendUint32(le.AppendUint32(file, uint32(e[2])), uint32(e[3]))
	}
	file = append(file, 0, 0, 0, 0)
	m, err := dng.Read(bytes.NewReader(file), int64(len(file)), dng.Options{})
	require.NoError(t, err)
	return m
}

var line = sensornoise.Line{Gain: 2e-3, Offset: 1e-5}

// lights are those of red, green and blue.
var lights = [3]float64{.02, .3, .1}

// exposed is a flat area, whose pixel in column 7 of row 9 is saturated.
func exposed(t *testing.T, width, height, samples int) *dng.Raw {
	r := rand.New(rand.NewPCG(1, uint64(width)))
	pix := make([]uint16, width*height*samples)
	pattern := [2][2]int{{1, 2}, {0, 1}}
	for y := range height {
		for x := range width {
			for s := range samples {
				c := s
				if samples == 1 {
					c = pattern[y%2][(x+1)%2]
				}
				v := lights[c] + math.Sqrt(line.At(lights[c]))*r.NormFloat64()
				if x == 7 && y == 9 {
					v = 1
				}
				pix[(y*width+x)*samples+s] = uint16(math.Round(min(max(black+(white-black)*v, 0), white)))
			}
		}
	}
	return photograph(t, width, height, samples, pix, nil)
}

// averages is the denoiser that knows that planes are flat, and checks what it gets: noise that is white with
// the deviation that it is told.
func averages(t *testing.T, calls *int) Denoiser {
	return func(_ context.Context, p Picture, sigma float64) error {
		*calls++
		for c, plane := range p.Planes {
			require.Len(t, plane, p.Width*p.Height)
			var sum, squares float64
			n := 0.
			saturated := slices.Max(plane)
			for _, v := range plane {
				if v < saturated {
					sum, squares, n = sum+float64(v), squares+float64(v)*float64(v), n+1
				}
			}
			mean := sum / n
			require.InEpsilon(t, sigma, math.Sqrt(squares/n-mean*mean), .12, "plane %d", c)
			for i := range plane {
				plane[i] = float32(mean)
			}
		}
		return nil
	}
}

// Means are kept: those of light, not of its transform.
func TestMeans(t *testing.T) {
	for _, c := range []struct{ width, height, samples, calls int }{{257, 258, 1, 4}, {258, 259, 1, 4}, {129, 130, 3, 1}, {129, 130, 2, 2}} {
		m := exposed(t, c.width, c.height, c.samples)
		calls := 0
		pix, report, err := Denoise(context.Background(), m, 1, averages(t, &calls))
		require.NoError(t, err)
		require.Equal(t, c.calls, calls)
		require.False(t, report.Claimed)
		for i, l := range report.Noise {
			require.InEpsilon(t, line.At(lights[i]), l.At(lights[i]), .15)
		}
		for y := range c.height {
			for x := range c.width {
				for s := range c.samples {
					at := (y*c.width+x)*c.samples + s
					colour := s
					if m.Mosaic {
						colour = int(m.Colour(x, y))
					}
					want, bound := black+(white-black)*lights[colour], 12.
					if y < 2 || x < 1 || x == 7 && y == 9 { // margins and saturated pixels stay
						want, bound = float64(m.Pix[at]), 0
					}
					if math.Abs(float64(pix[at])-want) > bound {
						t.Fatalf("column %d, row %d: %d, not %g ± %g", x, y, pix[at], want, bound)
					}
				}
			}
		}
	}
}

// A denoiser that loses a tenth of the light gets it back, whatever the image is, but for the noise
// of means.
func TestKeepMeans(t *testing.T) {
	const w, h = 150, 90
	r := rand.New(rand.NewPCG(9, 9))
	measured, light := make([]float32, w*h), make([]float32, w*h)
	for i := range measured {
		v := .1 + .5*float64(i%w)/w
		measured[i] = float32(v + .05*r.NormFloat64())
		light[i] = float32(.9 * v)
	}
	measured[0] = 2 // saturated
	keepMeans(light, measured, w)
	for i, v := range light {
		if want := .1 + .5*float64(i%w)/w; math.Abs(float64(v)-want) > .012 {
			t.Fatalf("sample %d: %g, not %g", i, v, want)
		}
	}
	few := []float32{1, 2, 3}
	keepMeans(few, []float32{.1, .2, .3}, 3)
	require.InDeltaSlice(t, []float32{-.8, .2, 1.2}, few, 1e-6)
}

func TestStrength(t *testing.T) {
	m := exposed(t, 129, 130, 1)
	never := func(context.Context, Picture, float64) error { return errors.New("called") }
	pix, _, err := Denoise(context.Background(), m, 0, never)
	require.NoError(t, err)
	require.Equal(t, m.Pix, pix)
	_, _, err = Denoise(context.Background(), m, 1, never)
	require.EqualError(t, err, "called")

	var told []float64
	listen := func(_ context.Context, _ Picture, sigma float64) error { told = append(told, sigma); return nil }
	for _, strength := range []float64{1, 2} {
		_, _, err := Denoise(context.Background(), m, strength, listen)
		require.NoError(t, err)
	}
	require.Len(t, told, 8)
	require.InEpsilon(t, 2*told[0], told[4], 1e-12)
	for _, strength := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, _, err := Denoise(context.Background(), m, strength, listen)
		require.Error(t, err)
	}
}

// What is too small to be measured has the noise that the camera claims, or none that is known.
func TestClaimedNoise(t *testing.T) {
	called := 0
	count := func(context.Context, Picture, float64) error { called++; return nil }
	pix := make([]uint16, 5*6)
	_, _, err := Denoise(context.Background(), photograph(t, 5, 6, 1, pix, nil), 1, count)
	require.ErrorIs(t, err, ErrNoNoise)
	_, _, err = Denoise(context.Background(), photograph(t, 5, 6, 1, pix, []float64{-1, 0}), 1, count)
	require.ErrorIs(t, err, ErrNoNoise)
	require.Zero(t, called)
	_, report, err := Denoise(context.Background(), photograph(t, 5, 6, 1, pix, []float64{2e-3, 1e-5}), 1, count)
	require.NoError(t, err)
	require.Equal(t, Report{Noise: []sensornoise.Line{line, line, line}, Claimed: true}, report)
	require.Equal(t, 4, called)
}

// A flat image has no noise, and comes back as it is.
func TestWithoutNoise(t *testing.T) {
	samples := make([]uint16, 200*200)
	for i := range samples {
		samples[i] = 1000
	}
	m := photograph(t, 200, 200, 1, samples, nil)
	out, _, err := Denoise(context.Background(), m, 1, func(context.Context, Picture, float64) error { return errors.New("called") })
	require.NoError(t, err)
	require.Equal(t, m.Pix, out)
}
