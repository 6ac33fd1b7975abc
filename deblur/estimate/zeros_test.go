package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
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
		got := common([]*spectra{s}).shape(5, 60)
		require.Equal(t, c.want.Kind, got.Kind, name)
		require.InDelta(t, c.want.Length, got.Length, 0.05*c.want.Length, name)
		require.InDelta(t, 0, math.Remainder(c.want.Angle-got.Angle, 180), 4, name)
		require.InDelta(t, c.want.Radius, got.Radius, 0.05*c.want.Radius, name)
	}
}

// From zeros a kernel is estimated where the way from coarse to fine does not lead to it.
func TestShapedFindsLongMotions(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Motion(26, 45)
	require.NoError(t, err)
	v := photograph(t, still(), k, 0.01)
	p, err := newPhoto(t.Context(), v.pix, 1, v.h, v.w, Options{})
	require.NoError(t, err)
	e, err := p.shaped(t.Context())
	require.NoError(t, err)
	require.NotNil(t, e)
	require.InDelta(t, 26, e.Shape.Length, 1)
	require.InDelta(t, 45, e.Shape.Angle, 2)
	want, err := e.Shape.Kernel()
	require.NoError(t, err)
	require.Equal(t, want, e.Kernel)
}

// A shape that the photograph does not confirm is not taken, and the progress of what is tried then goes on from there.
func TestShapeIsConfirmed(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(15, 2)
	require.NoError(t, err)
	v := photograph(t, still(), k, 0.01)
	last := 0.0
	p, err := newPhoto(t.Context(), v.pix, 1, v.h, v.w, Options{Size: 31, Progress: func(p backend.Progress) error {
		require.GreaterOrEqual(t, p.Fraction, last)
		last = p.Fraction
		return nil
	}})
	require.NoError(t, err)
	pool := parallel.New(0)
	defer pool.Close()
	e, err := p.confirmed(t.Context(), pool, pieces(p.whole, p.largest()), Shape{Kind: Motion, Length: 8, Angle: 20})
	require.NoError(t, err)
	require.Nil(t, e)
	require.Positive(t, last)
	e, err = p.free(t.Context())
	require.NoError(t, err)
	require.Equal(t, Free, e.Shape.Kind)
	require.Equal(t, 1.0, last)

	// A kernel is kept if it explains the photograph better than the one that is found from coarse to fine.
	p, err = newPhoto(t.Context(), v.pix, 1, v.h, v.w, Options{Size: 31})
	require.NoError(t, err)
	wrong := &Estimate{Shape: Shape{Kind: Motion, Length: 8, Angle: 20}}
	wrong.Kernel, err = wrong.Shape.Kernel()
	require.NoError(t, err)
	better, err := p.better(t.Context(), wrong)
	require.NoError(t, err)
	require.Equal(t, e.Kernel, better.Kernel)
	better, err = p.better(t.Context(), &Estimate{Kernel: k})
	require.NoError(t, err)
	require.Equal(t, k, better.Kernel)
}

// The response is that of the kernels that package deblur makes, but for what samples do to them.
func TestResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, angle := rapid.Float64Range(3, 12).Draw(t, "size"), rapid.Float64Range(0, 180).Draw(t, "angle")
		fy, fx := rapid.Float64Range(-.1, .1).Draw(t, "fy"), rapid.Float64Range(-.1, .1).Draw(t, "fx")
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

// Two shapes are the same by numbers, not by how they are written.
func TestLike(t *testing.T) {
	motion := Shape{Kind: Motion, Length: 20, Angle: 179}
	require.True(t, motion.like(Shape{Kind: Motion, Length: 21, Angle: 2}))
	require.False(t, motion.like(Shape{Kind: Motion, Length: 23, Angle: 179}))
	require.False(t, motion.like(Shape{Kind: Motion, Length: 20, Angle: 10}))
	require.False(t, motion.like(Shape{}))
	require.True(t, Shape{Kind: Disk, Radius: 5}.like(Shape{Kind: Disk, Radius: 5.3}))
	require.False(t, Shape{Kind: Disk, Radius: 5}.like(Shape{Kind: Disk, Radius: 6}))
}
