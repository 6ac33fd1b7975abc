package sensornoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// scene is a plane of light from dark to bright, with texture in three quarters of it.
func scene(w, h int, top float64, r *rand.Rand) Plane {
	p := Plane{Width: w, Height: h, Pix: make([]float32, w*h)}
	for y := range h {
		for x := range w {
			v := top * (.02 + .95*float64(x)/float64(w))
			if y%128 > 32 {
				v *= 1 + .2*math.Sin(float64(x*x+3*y)/40)*math.Sin(float64(y)) + .05*(r.Float64()-.5)
			}
			p.Pix[y*w+x] = float32(v)
		}
	}
	return p
}

func (p Plane) noisy(l Line, r *rand.Rand) Plane {
	q := Plane{p.Width, p.Height, make([]float32, len(p.Pix))}
	for i, v := range p.Pix {
		q.Pix[i] = v + float32(math.Sqrt(l.At(float64(v)))*r.NormFloat64())
	}
	return q
}

func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const top = 4000.
	for _, want := range []Line{{1, 0}, {0, 100}, {.5, 20}, {4, 400}, {20, 3}} {
		clean := scene(512, 512, top, r)
		a, b := clean.noisy(want, r), clean.noisy(want, r)
		got, err := Estimate(-1000, 5000, a, b)
		require.NoError(t, err)
		for _, x := range []float64{.05 * top, .2 * top, .5 * top, .9 * top} {
			require.InEpsilon(t, want.At(x), got.At(x), .12, "%v at %v, %v measured", want, x, got)
		}
		again, err := Estimate(-1000, 5000, a, b)
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
}

func TestScale(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a := scene(512, 512, 1000, r).noisy(Line{2, 50}, r)
	got, err := Estimate(-1e9, 1e9, a)
	require.NoError(t, err)
	for i := range a.Pix {
		a.Pix[i] /= 1024
	}
	scaled, err := Estimate(-1e9, 1e9, a)
	require.NoError(t, err)
	require.InEpsilon(t, got.Gain/1024, scaled.Gain, 1e-6)
	require.InEpsilon(t, got.Offset/1024/1024, scaled.Offset, 1e-6)
}

// Clipped areas, whose noise is cut off, do not count.
func TestClipping(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	want := Line{1, 30}
	a := scene(512, 512, 1500, r).noisy(want, r)
	for i, v := range a.Pix {
		a.Pix[i] = min(max(v, 0), 1000)
	}
	got, err := Estimate(0, 1000, a)
	require.NoError(t, err)
	require.InEpsilon(t, want.At(500), got.At(500), .15)
}

func TestWithoutNoise(t *testing.T) {
	flat := Plane{64, 64, make([]float32, 64*64)}
	got, err := Estimate(-1, 1, flat)
	require.NoError(t, err)
	require.Equal(t, Line{}, got)

	_, err = Estimate(0, 1, flat)
	require.ErrorIs(t, err, ErrTooLittle, "all is clipped")
	_, err = Estimate(-1, 1, Plane{7, 7, make([]float32, 49)})
	require.ErrorIs(t, err, ErrTooLittle)
	_, err = Estimate(-1, 1)
	require.ErrorIs(t, err, ErrTooLittle)
}
