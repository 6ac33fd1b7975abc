package rawdenoise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/raw"
)

// sky is a mosaic of a slope of light with noise, and stars as lenses make them, white and of one colour each.
func sky(width, height, stars int, r *rand.Rand) *raw.Image {
	light := make([]float64, width*height)
	m := &raw.Image{Width: width, Height: height, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Low: -1}
	for i := range light {
		light[i] = .02 + .1*float64(i%width)/float64(width)
	}
	for k := range stars {
		cy, cx, bright := 4+r.Float64()*float64(height-8), 4+r.Float64()*float64(width-8), .05+.9*r.Float64()
		for y := int(cy) - 3; y <= int(cy)+4; y++ {
			for x := int(cx) - 3; x <= int(cx)+4; x++ {
				d := (float64(y)-cy)*(float64(y)-cy) + (float64(x)-cx)*(float64(x)-cx)
				v := bright * math.Exp(-d/(2*.7*.7))
				if colour := k % 4; colour < 3 && int(m.Colour(x, y)) != colour {
					v /= 4
				}
				light[y*width+x] += v
			}
		}
	}
	for _, v := range light {
		m.Pix = append(m.Pix, float32(min(1, v+math.Sqrt(sensorNoise.At(v))*r.NormFloat64())))
	}
	return m
}

// Hot and dead pixels among stars are filled, one that is saturated too, and no star is: the filled ones are near what they were.
func TestHotPixels(t *testing.T) {
	same := func(_ context.Context, p Picture, _ float64) ([]float32, error) { return p.Pix, nil }
	for _, share := range []float64{0, 1e-4, 1e-3} {
		r := rand.New(rand.NewPCG(4, 2))
		const w, h = 601, 400
		m := sky(w, h, 300, r)
		before := append([]float32(nil), m.Pix...)
		hot := map[int]bool{}
		for range int(share * w * h) {
			at := r.IntN(w * h)
			hot[at] = true
			m.Pix[at] = []float32{.6, 1, 1.1}[r.IntN(3)]
		}
		out, report, err := Denoise(t.Context(), m, always(m), same)
		require.NoError(t, err)
		filled := 0
		for at := range hot {
			if math.Abs(float64(out.Pix[at]-before[at])) < .1 {
				filled++
			}
		}
		require.GreaterOrEqual(t, float64(filled), .9*float64(len(hot)), "%d of %d at %g", filled, len(hot), share)
		require.InDelta(t, filled, report.Hot, .02*float64(len(hot)))
		for i, v := range before {
			if !hot[i] {
				bound := 1e-3
				if v < .05 { // the inverse of the transform has a least light
					bound = .02
				}
				require.InDelta(t, v, out.Pix[i], bound, "a pixel that is not hot, %d of %d", i, w)
			}
		}
	}
}

// Texture that is as sharp as the sensor has no hot pixels: they crowd, or have a tail.
func TestTextureIsNotHot(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	const w, h = 400, 300
	for name, texture := range map[string]func(x, y int) float64{
		"sand":  func(int, int) float64 { return .1 * math.Exp(.8*r.NormFloat64()) },
		"lines": func(x, y int) float64 { return .1 + .5*float64((x+3*y)/7%9/8) },
		"dots":  func(x, y int) float64 { return .05 + .6*float64((x%10/9)*(y%10/9)) },
	} {
		m := &raw.Image{Width: w, Height: h, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{0, 1}, {1, 2}}, Low: -1, Noise: []raw.Noise{sensorNoise}}
		for i := range w * h {
			v := texture(i%w, i/w)
			m.Pix = append(m.Pix, float32(min(1, v+math.Sqrt(sensorNoise.At(v))*r.NormFloat64())))
		}
		s, err := stabilise(m, []raw.Noise{sensorNoise, sensorNoise, sensorNoise})
		require.NoError(t, err)
		require.Empty(t, s.hot, name)
	}
}
