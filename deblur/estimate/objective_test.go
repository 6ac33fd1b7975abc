package estimate

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/parallel"
)

// A shake pays where it blurred the photograph: with noise and without, sharpened, with glints that are steeper than any kernel
// leaves them, and with a lamp. It does not in a sharp photograph, nor does another shake in a shaken one.
func TestPays(t *testing.T) {
	leaveWhole(t)
	pool := parallel.New(2)
	defer pool.Close()
	k, err := deblur.Shake(11, 3)
	require.NoError(t, err)
	other, err := deblur.Shake(13, 6)
	require.NoError(t, err)
	sharp := still().crop(0, 0, 140, 160)
	pays := func(v plane, k deblur.Kernel, sigma float64) bool {
		p := part{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}
		for i, a := range v.pix {
			if a >= clipping.White {
				p.clipped.pix[i], p.lamps.pix[i] = 1, 1
			}
		}
		e := &estimation{ctx: context.Background(), pool: pool, sigma: sigma, edges: edgesFor(sigma)}
		levels, err := e.levels([]part{p}, 0, 8)
		require.NoError(t, err)
		pays, err := e.pays(levels, supportOf(k, 8))
		require.NoError(t, err)
		return pays
	}
	for _, sigma := range []float64{0, 0.01, 0.03} {
		blurred := photograph(t, sharp, k, sigma)
		require.True(t, pays(blurred, k, sigma), "noise %v", sigma)
		require.False(t, pays(blurred, other, sigma), "noise %v", sigma)
		unblurred, err := deblur.Motion(1, 0)
		require.NoError(t, err)
		require.False(t, pays(photograph(t, sharp, unblurred, sigma), k, sigma), "noise %v", sigma)
	}
	blurred := photograph(t, sharp, k, 0)
	soft := level{h: blurred.h, w: blurred.w, ph: blurred.h, pw: blurred.w, u: append([]float32(nil), blurred.pix...),
		room: make([]float32, len(blurred.pix)), pool: pool, x: [2][]float32{make([]float32, len(blurred.pix)), make([]float32, len(blurred.pix))}}
	soft.soften(binomial)
	glints := newPlane(blurred.h, blurred.w)
	for i, v := range blurred.pix {
		glints.pix[i] = min(max(v+(v-soft.u[i]), 0), 1)
	}
	for i := range 2 {
		glints.pix[(7+i*6)*glints.w+9+i*7] = 0.98
	}
	require.True(t, pays(glints, k, 0))

	lamp := sharp.crop(0, 0, sharp.h, sharp.w)
	for y := range 5 {
		for x := range 5 {
			lamp.row(70 + y)[80+x] = 20
		}
	}
	require.True(t, pays(photograph(t, lamp, k, 0), k, 0))
}

// A kernel of one sample leaves what it is compared with: a photograph is always explained as well by it.
func TestPointPays(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	v := still().crop(10, 10, 40, 50)
	e := &estimation{ctx: context.Background(), pool: pool, edges: edgesFor(0)}
	levels, err := e.levels([]part{{v, newPlane(v.h, v.w), newPlane(v.h, v.w)}}, 0, 2)
	require.NoError(t, err)
	pays, err := e.pays(levels, point(2))
	require.NoError(t, err)
	require.True(t, pays)
}

// Steps are known samples with large differences, in any direction.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const least = 0.04
		h, w := rapid.IntRange(1, 6).Draw(t, "h"), rapid.IntRange(1, 6).Draw(t, "w")
		l := level{known: make([]bool, h*w), x: [2][]float32{make([]float32, h*w), make([]float32, h*w)}}
		want := 0
		for i := range l.known {
			l.known[i] = rapid.Bool().Draw(t, "known")
			for c := range l.x {
				l.x[c][i] = 0.2 * rapid.SampledFrom([]float32{0, 0.5, 0.9, 2, -3}).Draw(t, "x")
			}
			if l.known[i] && math.Hypot(float64(l.x[0][i]), float64(l.x[1][i])) > 0.2 {
				want++
			}
		}
		require.Equal(t, want, l.steps(least))
	})
}
