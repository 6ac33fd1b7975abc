package restore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// blotched is a picture of edges and a ramp with coloured blotches.
func blotched(h, w int, amount float64, seed uint64) *Planar {
	r := rand.New(rand.NewPCG(seed, 5))
	p := NewPlanar(3, h, w)
	for c := range 3 {
		period, phase := 14+6*r.Float64(), 6*r.Float64()
		for i := range p.Plane(c) {
			y, x := float64(i/w), float64(i%w)
			v := 0.3 + 0.2*x/float64(w)
			if int(y/9+x/13)%3 == 0 {
				v += 0.25
			}
			v += amount * math.Sin(2*math.Pi*y/period+phase) * math.Cos(2*math.Pi*x/period)
			p.Plane(c)[i] = float32(v + 0.005*r.NormFloat64())
		}
	}
	return p
}

// coarseColourOf is Ψ of the method "fast" for an image.
func coarseColourOf(t *testing.T, p *Planar, sigma float64) *coarseColour {
	r, err := New(Method("fast"))
	require.NoError(t, err)
	c, done, err := r.begin(t.Context(), taskDenoise, nil)
	require.NoError(t, err)
	k, err := c.newCoarseColour(t.Context(), c.on(), p, sigma)
	require.NoError(t, err)
	t.Cleanup(func() {
		k.free()
		done()
		require.NoError(t, r.Close())
	})
	return k
}

func (p *Planar) plus(factor float64, d []float64) *Planar {
	q := NewPlanar(p.Channels, p.Height, p.Width)
	for i, v := range p.Pix {
		q.Pix[i] = float32(float64(v) + factor*d[i])
	}
	return q
}

func difference(p, q *Planar) []float64 {
	d := make([]float64, len(p.Pix))
	for i, v := range p.Pix {
		d[i] = float64(v) - float64(q.Pix[i])
	}
	return d
}

func squareOf(d []float64) (sum float64) {
	for _, v := range d {
		sum += v * v
	}
	return sum
}

// TestCoarseColourIsAveraged tries to refute it: from random differences of several sizes on, each
// becomes what Ψ made of the one before, which finds the directions that are made least shorter.
func TestCoarseColourIsAveraged(t *testing.T) {
	for _, size := range [][2]int{{48, 64}, {45, 39}} {
		h, w := size[0], size[1]
		k := coarseColourOf(t, blotched(h, w, 0.04, 1), 0.05)
		alpha, certified := k.phi.Averagedness()
		require.True(t, certified)
		for seed, large := range []float64{0.003, 0.03, 0.3, 0.03, 0.3} {
			x := blotched(h, w, 0.1, uint64(seed))
			r := rand.New(rand.NewPCG(uint64(seed), 6))
			d := make([]float64, len(x.Pix))
			for i := range d {
				d[i] = r.NormFloat64()
				if seed > 2 { // in brightness alone, which must not become one in colour
					d[i] = d[i%(h*w)]
				}
			}
			for range 12 {
				y := x.plus(large/math.Sqrt(squareOf(d)/float64(len(d))), d)
				fx, fy := x.plus(0, d), y.plus(0, d)
				require.NoError(t, k.apply(t.Context(), fx))
				require.NoError(t, k.apply(t.Context(), fy))
				before, after := difference(y, x), difference(fy, fx)
				moved := make([]float64, len(d))
				for i := range moved {
					moved[i] = before[i] - after[i]
				}
				rounding := 1e-6 * math.Sqrt(squareOf(before)*float64(len(d)))
				require.LessOrEqual(t, squareOf(after)+(1-alpha)/alpha*squareOf(moved), squareOf(before)+rounding)
				d = after
			}
		}
	}
}

// TestCoarseColourKeepsBrightness: blotches become weaker, and the mean of the channels stays.
func TestCoarseColourKeepsBrightness(t *testing.T) {
	const h, w = 66, 71
	p, calm := blotched(h, w, 0.02, 2), blotched(h, w, 0, 2)
	k := coarseColourOf(t, p, 0.03)
	q := p.plus(0, make([]float64, len(p.Pix)))
	require.NoError(t, k.apply(t.Context(), q))
	was, is := p.brightness(), q.brightness()
	for i := range was {
		require.InDelta(t, was[i], is[i], 1e-5)
	}
	off := func(p *Planar) float64 {
		d := NewPlanar(3, h, w)
		for i, v := range difference(p, calm) {
			d.Pix[i] = float32(v)
		}
		d.setBrightness(make([]float32, h*w))
		return math.Sqrt(squareOf(difference(d, NewPlanar(3, h, w))))
	}
	require.Less(t, off(q), 0.7*off(p))
}

// ofCamera is an estimate of noise whose colour is blotched.
func ofCamera() *NoiseEstimate {
	return &NoiseEstimate{Kind: CoarseNoise, Sigma: 0.03, Reliable: true, Bands: []NoiseBand{
		{Period: 24, Colour: 0.06}, {Period: 6, Colour: 0.01}, {Period: 2, Brightness: 0.005},
	}}
}

// TestCoarseColourIsReported: with its level, a second look of the guide, and the constant of the whole.
func TestCoarseColourIsReported(t *testing.T) {
	p := blotched(64, 64, 0.02, 3)
	e := ofCamera()
	with, report, err := Denoise(t.Context(), p, Method("fast"), Noise(*e))
	require.NoError(t, err)
	e.Bands[0].Colour = 0.03
	without, plain, err := Denoise(t.Context(), p, Method("fast"), Noise(*e))
	require.NoError(t, err)
	require.InDelta(t, 0.012, report.CoarseColour, 1e-9)
	require.Zero(t, plain.CoarseColour)
	require.Equal(t, []int{2, 1}, []int{report.Guide.Looks, plain.Guide.Looks})
	require.True(t, report.Certified)
	require.Greater(t, report.Averagedness, plain.Averagedness)
	require.Less(t, report.Averagedness, 1.0)
	require.NotEqual(t, without.(*Planar).Pix, with.(*Planar).Pix)
}

// TestCoarseColourWhere: white noise, weak noise, grey and small pictures, and networks without a guide
// do without.
func TestCoarseColourWhere(t *testing.T) {
	level := func(method string, channels, side int, e *NoiseEstimate, stretch float64) float64 {
		r, err := New(Method(method))
		require.NoError(t, err)
		defer r.close()
		c, done, err := r.begin(t.Context(), taskDenoise, nil)
		require.NoError(t, err)
		defer done()
		sigma := 0.03
		if e != nil {
			sigma = e.Sigma
		}
		return c.coarseColourLevel(NewPlanar(channels, side, side), &Report{Sigma: sigma, Estimate: e, ColourStretch: stretch})
	}
	camera := ofCamera()
	steep := camera.Bands
	require.InDelta(t, 0.012, level("fast", 3, 64, camera, 0), 1e-9)
	for name, got := range map[string]float64{
		"told":       level("fast", 3, 64, nil, 0),
		"white":      level("fast", 3, 64, &NoiseEstimate{Kind: WhiteNoise, Sigma: 0.03, Bands: steep}, 0),
		"weak":       level("fast", 3, 64, &NoiseEstimate{Kind: CoarseNoise, Sigma: 0.01, Bands: steep}, 0),
		"not steep":  level("fast", 3, 64, &NoiseEstimate{Kind: CoarseNoise, Sigma: 0.03, Bands: []NoiseBand{{Period: 24, Colour: 0.03}, {Period: 6, Colour: 0.01}}}, 0),
		"not smooth": level("fast", 3, 64, &NoiseEstimate{Kind: CoarseNoise, Sigma: 0.03, Bands: append(steep[:2:2], NoiseBand{Period: 2, Brightness: 0.03})}, 0),
		"no colour":  level("fast", 3, 64, &NoiseEstimate{Kind: CoarseNoise, Sigma: 0.03, Bands: []NoiseBand{{Period: 24}, {Period: 6}}}, 0),
		"no bands":   level("fast", 3, 64, &NoiseEstimate{Kind: CoarseNoise, Sigma: 0.03}, 0),
		"grey":       level("fast", 1, 64, camera, 0),
		"small":      level("fast", 3, 31, camera, 0),
		"stretched":  level("fast", 3, 64, camera, 2),
		"no guide":   level("small", 3, 64, camera, 0),
	} {
		require.Zero(t, got, name)
	}
}
