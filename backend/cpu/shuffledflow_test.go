package cpu

import (
	"context"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
)

// coded gives the steps with maps of radii codes of them, and the maps what the codes stand for.
func coded(t testing.TB, d *Device, steps []backend.FlowStep, random *rapid.T) []backend.CodedRadii {
	var all []backend.CodedRadii
	for k := range steps {
		s := steps[k].Radius.Shape()
		r := backend.CodedRadii{Shape: s, Codes: make([]uint8, s.Len()), Tables: make([][256]float32, s.C)}
		for g := range r.Tables {
			scale := rapid.Float32Range(0, 2).Draw(random, "scale")
			for code := range r.Tables[g] {
				r.Tables[g][code] = scale * float32(code) / 255
			}
		}
		radii := make([]float32, s.Len())
		for i := range radii {
			r.Codes[i] = uint8(131 * i * (k + 1) >> 3)
			radii[i] = r.Tables[i/s.Plane()%s.C][r.Codes[i]]
		}
		b, err := d.Wrap(s, radii)
		require.NoError(t, err)
		steps[k].Radius = b
		all = append(all, r)
	}
	return all
}

// TestShuffledFlow: it has the bits of the three operations that it stands for, with every kind of radii, and
// writes nothing else.
func TestShuffledFlow(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	rapid.Check(t, func(random *rapid.T) {
		draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(random, name) }
		q := draw("factor", 1, 3)
		s := backend.Shape{N: draw("N", 1, 2), C: draw("C", 1, 2), H: draw("H", 1, 40), W: draw("W", 1, 40)}
		coarse := s.Unshuffled(q)
		steps := network(t, d, coarse.C+draw("lift", 0, 3), 16, 24)
		defer func() {
			for _, step := range steps {
				step.Filter.Free()
			}
		}()
		kind := rapid.SampledFrom([]string{"activation", "vector", "map", "codes"}).Draw(random, "radii")
		var radii []backend.CodedRadii
		if kind != "activation" {
			project(t, d, steps, 8, 0.5)
		}
		if kind == "map" || kind == "codes" {
			projectByMaps(t, d, steps, coarse, 0.5)
		}
		if kind == "codes" {
			radii = coded(t, d, steps, random)
		}
		src := picture(t, d, s)
		from, _ := blank(t, d, coarse)
		to, _ := blank(t, d, coarse)
		dst, want := blank(t, d, s)
		require.NoError(t, d.Unshuffle(from, src, q))
		require.NoError(t, d.GradientFlow(context.Background(), to, from, coarse.Whole(), steps))
		require.NoError(t, d.Shuffle(dst, to, q))
		require.True(t, d.MakesShuffledFlow(steps, radii))
		guarded := make([]float32, s.Len()+32)
		for i := range guarded {
			guarded[i] = -7
		}
		dst, err := d.Wrap(s, guarded[16:][:s.Len()])
		require.NoError(t, err)
		require.NoError(t, d.ShuffledFlow(context.Background(), dst, src, q, steps, radii))
		require.Equal(t, want, guarded[16:][:s.Len()])
		for i := range 16 {
			require.Equal(t, [2]float32{-7, -7}, [2]float32{guarded[i], guarded[len(guarded)-1-i]})
		}
	})
}

// TestShuffledFlowRefuses: what does not go together, and what the fused path does not make.
func TestShuffledFlowRefuses(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	s := backend.Image(3, 12, 14)
	coarse := s.Unshuffled(2)
	good := func() ([]backend.FlowStep, []backend.CodedRadii) {
		steps := network(t, d, 12, 16)
		steps[0].Activation = backend.Activation{}
		return steps, []backend.CodedRadii{{
			Shape:  backend.Image(2, coarse.H, coarse.W),
			Codes:  make([]uint8, 2*coarse.Plane()),
			Tables: make([][256]float32, 2),
		}}
	}
	src := picture(t, d, s)
	dst, _ := blank(t, d, s)
	other, _ := blank(t, d, backend.Image(3, 12, 15))
	foreign, err := open(t, Threads(1)).Alloc(s)
	require.NoError(t, err)
	call := func(dst backend.Buffer, q int, change func(steps []backend.FlowStep, radii []backend.CodedRadii) []backend.CodedRadii) error {
		steps, radii := good()
		return d.ShuffledFlow(context.Background(), dst, src, q, steps, change(steps, radii))
	}
	as := func(_ []backend.FlowStep, radii []backend.CodedRadii) []backend.CodedRadii { return radii }
	require.NoError(t, call(dst, 2, as))
	require.ErrorIs(t, call(foreign, 2, as), backend.ErrForeign)
	require.ErrorIs(t, call(src, 2, as), backend.ErrAlias)
	for _, factor := range []int{-1, 0, 1, 3, 15, 1 << (bits.UintSize / 2), math.MaxInt} {
		require.Error(t, call(dst, factor, as), "%d", factor)
	}
	require.ErrorIs(t, call(other, 2, as), backend.ErrArgument)
	for name, change := range map[string]func(step *backend.FlowStep, r *backend.CodedRadii){
		"codes":    func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Codes = r.Codes[1:] },
		"tables":   func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Tables = r.Tables[1:] },
		"no group": func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Shape.C = 0 },
		"groups":   func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Shape.C = 3 },
		"height":   func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Shape.H--; r.Codes = r.Codes[:r.Shape.Len()] },
		"vector":   func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Shape = backend.Vector(2); r.Codes = r.Codes[:2] },
		"batch":    func(_ *backend.FlowStep, r *backend.CodedRadii) { r.Shape.N = 2 },
		"activation": func(s *backend.FlowStep, _ *backend.CodedRadii) {
			s.Activation = backend.Activation{Kind: backend.LeakyReLU}
		},
		"no filter": func(s *backend.FlowStep, _ *backend.CodedRadii) { s.Filter = nil },
	} {
		require.Error(t, call(dst, 2, func(steps []backend.FlowStep, radii []backend.CodedRadii) []backend.CodedRadii {
			change(&steps[0], &radii[0])
			return radii
		}), name)
	}
	require.ErrorIs(t, call(dst, 2, func(_ []backend.FlowStep, radii []backend.CodedRadii) []backend.CodedRadii {
		return append(radii, radii[0])
	}), backend.ErrArgument)
	require.ErrorIs(t, call(dst, 2, func(_ []backend.FlowStep, _ []backend.CodedRadii) []backend.CodedRadii {
		return []backend.CodedRadii{}
	}), backend.ErrArgument)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	steps, radii := good()
	require.ErrorIs(t, d.ShuffledFlow(ctx, dst, src, 2, steps, radii), context.Canceled)
}
