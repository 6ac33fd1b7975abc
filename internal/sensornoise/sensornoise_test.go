package sensornoise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// estimated is Estimate of planes within their ranges.
func estimated(low, white, step float32, planes ...Plane) (Line, error) {
	for i := range planes {
		planes[i].FindRange(white)
	}
	return Estimate(low, white, step, planes...)
}

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
	q := Plane{Width: p.Width, Height: p.Height, Pix: make([]float32, len(p.Pix))}
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
		got, err := estimated(-1000, 5000, 0, a, b)
		require.NoError(t, err)
		for _, x := range []float64{.05 * top, .2 * top, .5 * top, .9 * top} {
			require.InEpsilon(t, want.At(x), got.At(x), .12, "%v at %v, %v measured", want, x, got)
		}
		if want.Offset == 0 {
			again, err := estimated(-1000, 5000, 0, a, b)
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
	}
}

func TestScale(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a := scene(512, 512, 1000, r).noisy(Line{2, 50}, r)
	got, err := estimated(-1e9, 1e9, 0, a)
	require.NoError(t, err)
	for i := range a.Pix {
		a.Pix[i] /= 1024
	}
	scaled, err := estimated(-1e9, 1e9, 0, a)
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
	got, err := estimated(0, 1000, 0, a)
	require.NoError(t, err)
	require.InEpsilon(t, want.At(500), got.At(500), .15)
}

// Half of the variances are far too large, as in a photograph full of texture, and the line is found by the others.
func TestTexture(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gain := math.Pow(2, rapid.Float64Range(-14, -5).Draw(rt, "gain"))
		read := rapid.Float64Range(1, 5).Draw(rt, "read noise in electrons") * gain
		want := Line{gain, read * read}
		f := fit{usual: usualRead}
		textured := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Draw(rt, "order")[:6]
		for i := range 12 {
			x := .01 * math.Pow(1.45, float64(i))
			v := want.At(x) * rapid.Float64Range(.95, 1.05).Draw(rt, "error")
			if slices.Contains(textured, i) {
				v *= 3 * math.Pow(5, rapid.Float64Range(0, 1).Draw(rt, "texture"))
			}
			f.points = append(f.points, point{x, v})
		}
		got := f.line()
		for i, p := range f.points {
			if slices.Contains(textured, i) {
				continue // What noise is there is known by the others only if they are on both sides.
			}
			ratio := got.At(p.mean) / want.At(p.mean)
			require.True(rt, ratio > .7 && ratio < 1.5, "%.2f times the variance at %.3f", ratio, p.mean)
		}
	})
}

// The numbers of a sensor are whole, and its noise may be less than their distance.
func TestRounding(t *testing.T) {
	const step = 4
	r := rand.New(rand.NewPCG(9, 1))
	for _, deviation := range []float64{.4, 1, 3} {
		p := scene(320, 320, 4000, r).noisy(Line{Offset: step * step * deviation * deviation}, r)
		for i, v := range p.Pix {
			p.Pix[i] = step * float32(math.Round(float64(v)/step))
		}
		got, err := estimated(-1000, 5000, step, p)
		require.NoError(t, err)
		require.GreaterOrEqual(t, got.Offset, step*step/12.)
		require.Less(t, got.At(2000), 1.3*step*step*(deviation*deviation+1/12.))
	}
	flat := Plane{Width: 64, Height: 64, Pix: make([]float32, 64*64)}
	got, err := estimated(-1, 1, 1./4095, flat)
	require.NoError(t, err)
	require.Equal(t, Line{}, got)
}

func TestWithoutNoise(t *testing.T) {
	flat := Plane{Width: 64, Height: 64, Pix: make([]float32, 64*64)}
	got, err := estimated(-1, 1, 0, flat)
	require.NoError(t, err)
	require.Equal(t, Line{}, got)

	_, err = estimated(0, 1, 0, flat)
	require.ErrorIs(t, err, ErrTooLittle, "all is clipped")
	_, err = estimated(-1, 1, 0, Plane{Width: 7, Height: 7, Pix: make([]float32, 49)})
	require.ErrorIs(t, err, ErrTooLittle)
	_, err = estimated(-1, 1, 0)
	require.ErrorIs(t, err, ErrTooLittle)
}

// An overexposed sky of a sensor that ends below white, and a margin of one number above black, are not taken for places without noise.
func TestRange(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	want := Line{1, 30}
	a := scene(512, 512, 1500, r).noisy(want, r)
	for i, v := range a.Pix {
		if a.Pix[i] = min(max(v, -900), 1000); i < 60*512 {
			a.Pix[i] = -900
		}
	}
	a.FindRange(1200)
	require.Equal(t, [2]float32{-900, 1000}, [2]float32{a.Low, a.High})
	got, err := estimated(-1000, 1200, 0, a)
	require.NoError(t, err)
	require.InEpsilon(t, want.At(500), got.At(500), .15)

	for i, v := range a.Pix { // numbers at which pixels saturate differ a little
		if v == 1000 {
			a.Pix[i] += float32(.5 * r.NormFloat64())
		}
	}
	a.FindRange(1200)
	require.InDelta(t, 996, a.High, 2)
	got, err = estimated(-1000, 1200, 0, a)
	require.NoError(t, err)
	require.InEpsilon(t, want.At(500), got.At(500), .15)

	unclipped := scene(64, 64, 1500, r).noisy(want, r)
	without := float32(math.Inf(-1))
	unclipped.FindRange(5000)
	require.Equal(t, [2]float32{without, 5000}, [2]float32{unclipped.Low, unclipped.High}, "the brightest sample is none of many")
	flat := Plane{Width: 64, Height: 64, Pix: make([]float32, 64*64)}
	flat.FindRange(1)
	require.Equal(t, [2]float32{without, 1}, [2]float32{flat.Low, flat.High}, "nothing says where the range of a flat image ends")
	empty := Plane{}
	empty.FindRange(1)
	require.Equal(t, [2]float32{without, 1}, [2]float32{empty.Low, empty.High})
}
