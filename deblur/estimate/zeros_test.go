package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// The zeros of long motions and of disks in the power spectra of a photograph, with noise whose power falls with the frequency,
// give their numbers. Other blurs show none.
func TestZerosAreSeen(t *testing.T) {
	leaveWhole(t)
	pool := parallel.New(0)
	defer pool.Close()
	for name, c := range map[string]struct {
		kernel func() (deblur.Kernel, error)
		want   Shape
	}{
		"motion":   {func() (deblur.Kernel, error) { return deblur.Motion(24, 130) }, Shape{Kind: Motion, Length: 24, Angle: 130}},
		"across":   {func() (deblur.Kernel, error) { return deblur.Motion(9, 1) }, Shape{Kind: Motion, Length: 9, Angle: 1}},
		"disk":     {func() (deblur.Kernel, error) { return deblur.Disk(6) }, Shape{Kind: Disk, Radius: 6}},
		"none":     {func() (deblur.Kernel, error) { return deblur.Motion(1, 0) }, Shape{}},
		"Gaussian": {func() (deblur.Kernel, error) { return deblur.Gaussian(2.5) }, Shape{}},
		"shake":    {func() (deblur.Kernel, error) { return deblur.Shake(19, 4) }, Shape{}},
	} {
		k, err := c.kernel()
		require.NoError(t, err)
		p := photograph(t, still(), k, 0)
		random := rand.New(rand.NewPCG(7, 8))
		noise := newPlane(p.h, p.w)
		for i := range noise.pix {
			noise.pix[i] = float32(0.02 * random.NormFloat64())
		}
		for y := range p.h - 1 {
			for x := range p.w - 1 {
				p.pix[y*p.w+x] += (noise.pix[y*p.w+x] + noise.pix[(y+1)*p.w+x] + noise.pix[y*p.w+x+1] + noise.pix[(y+1)*p.w+x+1]) / 4
			}
		}
		s, err := newSpectra(context.Background(), pool, p, 0.01, 128, lastZerosCycle)
		require.NoError(t, err)
		got := common([]*spectra{s}).shape(t.Context(), 5, 60)
		require.Equal(t, c.want.Kind, got.Kind, name)
		require.InDelta(t, c.want.Length, got.Length, 0.05*c.want.Length, name)
		require.InDelta(t, 0, math.Remainder(c.want.Angle-got.Angle, 180), 4, name)
		require.InDelta(t, c.want.Radius, got.Radius, 0.05*c.want.Radius, name)
	}
}

// Zeros show a kernel where the way from coarse to fine does not lead to it.
func TestLongMotions(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Motion(26, 45)
	require.NoError(t, err)
	v := photograph(t, still(), k, 0.01)
	e, err := Kernel(t.Context(), v.pix, 1, v.h, v.w, Options{})
	require.NoError(t, err)
	require.InDelta(t, 26, e.Shape.Length, 1)
	require.InDelta(t, 45, e.Shape.Angle, 2)
	want, err := e.Shape.Kernel()
	require.NoError(t, err)
	require.Equal(t, want, e.Kernel)
}

// A shape that explains the photograph worse than what is found from coarse to fine changes nothing.
func TestShapesHaveToExplainMore(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(15, 2)
	require.NoError(t, err)
	v := photograph(t, still(), k, 0.01)
	p, err := newPhoto(t.Context(), v.pix, 1, v.h, v.w, Options{Size: 31})
	require.NoError(t, err)
	want, _, err := p.kernel(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, Free, want.Shape.Kind)
	got, shaped, err := p.kernel(t.Context(), []Shape{{Kind: Motion, Length: 8, Angle: 20}, {Kind: Disk, Radius: 4}})
	require.NoError(t, err)
	require.False(t, shaped)
	require.Equal(t, want, got)
}

// The response is that of the kernels that package deblur makes, but for what samples do to them.
func TestResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, angle := rapid.Float64Range(3, 12).Draw(t, "size"), rapid.Float64Range(0, 180).Draw(t, "angle")
		// Farther out the pixels of an oblique motion, which are a little wider than it is, count more: 0.146 at (0.1, 0.1).
		fy, fx := rapid.Float64Range(-.07, .07).Draw(t, "fy"), rapid.Float64Range(-.07, .07).Draw(t, "fx")
		s := &spectra{fy: []float64{fy}, fx: []float64{fx}}
		for kind, shape := range map[smearKind]Shape{
			motionSmear: {Kind: Motion, Length: size, Angle: angle}, diskSmear: {Kind: Disk, Radius: size},
			normalSmear: {Kind: Gaussian, Std: size / math.Sqrt2},
		} {
			k, err := shape.Kernel()
			require.NoError(t, err)
			re, im := 0.0, 0.0
			for i, w := range k.Weights {
				sin, cos := math.Sincos(2 * math.Pi * (fy*float64(i/k.W) + fx*float64(i%k.W)))
				re, im = re+float64(w)*cos, im+float64(w)*sin
			}
			got := smear{kind, -angle * math.Pi / 180, 1, math.Log(size), 0, 0}.response(s)[0]
			require.InDelta(t, re*re+im*im+leak, got, 0.09, "%v", shape)
		}
	})
}

// Noise of which the model knows the fall explains its power better than white noise does.
func TestMisfitOfColouredNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fall := rapid.Float64Range(1, 4).Draw(t, "fall")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		const n = 600
		s := &spectra{pool: parallel.New(1), squares: make([]square, 1)}
		defer s.pool.Close()
		for range n {
			f := .02 + .38*random.Float64()
			s.fy, s.fx, s.length = append(s.fy, 0), append(s.fx, f), append(s.length, math.Log(f))
		}
		s.length[0] = math.Log(.4)
		for d := range directions + 1 {
			s.first = append(s.first, d*n/directions)
		}
		for _, l := range s.length {
			s.squares[0].power = append(s.squares[0].power, math.Exp(fall*(1-math.Exp(l)/.4))*random.ExpFloat64())
		}
		none := func(to []float64, _ square) {
			for i := range to {
				to[i] = 1e-15
			}
		}
		right := s.misfit(2, fall, none)
		require.Less(t, right, s.misfit(2, 0, none))
		require.Less(t, right, s.misfit(2, fall+1.5, none))
	})
}

// A search computes nothing once its context has ended.
func TestSearchesEndWithTheirContext(t *testing.T) {
	s := &spectra{squares: []square{{power: []float64{1, 2}}}, columns: 1, fy: []float64{0, 0}, fx: []float64{.1, .2}, length: []float64{-2, -1}, first: []int{0, 2}}
	require.Panics(t, func() { s.smearMisfit(smear{}, 1) }, "there is no pool")
	ended, end := context.WithCancel(t.Context())
	end()
	require.NotPanics(t, func() {
		s.shape(ended, 5, 60)
		s.turn(ended, 1)
	})
}
