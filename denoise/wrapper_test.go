package denoise

import (
	"context"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWrappersAreTheirFormulas(t *testing.T) {
	dev := newCPU(t)
	for _, a := range []Architecture{
		{}, {Integrator: rungekutta.BackwardEuler()}, {Width: 6, Activation: activation.Balls(), Group: 2}, {Width: 6, Activation: activation.Balls(), Integrator: rungekutta.BackwardEuler()},
	} {
		n := certified(t, dev, smallModel(t, 3, a, 1.4))
		s := backend.Image(3, 7, 9)
		x := randomImage(1, s)
		phi := denoised(t, n, s, x)

		relaxed, err := Relax(n, 0.3)
		require.NoError(t, err)
		got := denoised(t, relaxed, s, x)
		for i := range got {
			require.InDelta(t, 0.7*float64(x[i])+0.3*float64(phi[i]), got[i], 1e-6)
		}

		rescaled, err := Rescale(n, 0.25)
		require.NoError(t, err)
		small := make([]float32, len(x))
		for i, v := range x {
			small[i] = v * 4
		}
		want := denoised(t, n, s, small)
		for i, v := range denoised(t, rescaled, s, x) {
			require.InDelta(t, 0.25*want[i], v, 2e-5)
		}

		grey, err := Grey(n)
		require.NoError(t, err)
		require.Equal(t, 1, grey.Channels())
		one := backend.Image(1, 7, 9)
		plane := x[:one.Len()]
		copies := append(append(append([]float32{}, plane...), plane...), plane...)
		all := denoised(t, n, s, copies)
		for i, v := range denoised(t, grey, one, plane) {
			require.InDelta(t, (all[i]+all[i+one.Len()]+all[i+2*one.Len()])/3, v, 1e-5)
		}
	}
}

// Constants and certificates of wrappers, and of wrappers of wrappers.
func TestWrappersCarryTheCertificate(t *testing.T) {
	dev := newCPU(t)
	heun := certified(t, dev, smallModel(t, 3, Architecture{Integrator: rungekutta.Heun()}, 1))
	alpha, proven := heun.Averagedness()
	require.True(t, proven)
	require.Equal(t, 1.0, alpha)

	d, err := Relax(heun, 0.25)
	require.NoError(t, err)
	d, err = Rescale(d, 2)
	require.NoError(t, err)
	d, err = Grey(d)
	require.NoError(t, err)
	alpha, proven = d.Averagedness()
	require.True(t, proven)
	require.Equal(t, 0.25, alpha)
	c := d.Certificate()
	require.Len(t, c.Wrappers, 3)
	require.Equal(t, heun.Certificate().Blocks, c.Blocks)
	require.Empty(t, heun.Certificate().Wrappers, "the wrapped one keeps its own")
	for _, want := range []string{"relaxed by 0.25", "rescaled by 2", "grey through 3 channels", "Φ is 0.25-averaged"} {
		require.Contains(t, c.String(), want)
	}
	require.Equal(t, backend.Device(dev), d.Device())

	// Over-relaxation beyond what the constant allows proves nothing.
	euler := certified(t, dev, smallModel(t, 3, Architecture{Blocks: 1}, 0.5))
	alpha, _ = euler.Averagedness()
	over, err := Relax(euler, 1/alpha*0.99)
	require.NoError(t, err)
	_, proven = over.Averagedness()
	require.True(t, proven)
	over, err = Relax(euler, 1/alpha*1.01)
	require.NoError(t, err)
	got, proven := over.Averagedness()
	require.False(t, proven)
	require.Equal(t, 1.0, got)
	require.Contains(t, over.Certificate().Reason, "relaxed by")
	back, err := Relax(over, 0.1)
	require.NoError(t, err)
	_, proven = back.Averagedness()
	require.False(t, proven, "what is lost is lost")

	// Two wrappers of one network do not write into each other's certificate.
	a, err := Relax(d, 0.5)
	require.NoError(t, err)
	b, err := Relax(d, 0.75)
	require.NoError(t, err)
	require.Equal(t, "relaxed by 0.5", a.Certificate().Wrappers[3].Name)
	require.Equal(t, "relaxed by 0.75", b.Certificate().Wrappers[3].Name)
}

func TestWrappersRefuse(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 3, Architecture{}, 1))
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-60, 1e60} {
		_, err := Relax(n, v)
		require.Error(t, err, v)
		_, err = Rescale(n, v)
		require.Error(t, err, v)
	}
	one := certified(t, dev, smallModel(t, 3, Architecture{Channels: 1}, 1))
	same, err := Grey(one)
	require.NoError(t, err)
	require.Equal(t, Denoiser(one), same)
	many := certified(t, dev, smallModel(t, 3, Architecture{Channels: 17, Width: 17, Blocks: 1}, 1))
	_, err = Grey(many)
	require.ErrorContains(t, err, "at most 16")

	grey, err := Grey(n)
	require.NoError(t, err)
	rescaled, err := Rescale(n, 2)
	require.NoError(t, err)
	relaxed, err := Relax(n, 0.5)
	require.NoError(t, err)
	s := backend.Image(2, 4, 4)
	x, y := upload(t, dev, s, randomImage(1, s)), upload(t, dev, s, randomImage(1, s))
	for _, d := range []Denoiser{grey, rescaled, relaxed} {
		require.ErrorIs(t, d.Apply(t.Context(), y, x), backend.ErrShape)
		require.ErrorIs(t, d.Apply(t.Context(), nil, x), backend.ErrArgument)
		require.ErrorIs(t, d.Apply(t.Context(), y, nil), backend.ErrArgument)
	}
	for name, wrap := range map[string]func() error{
		"grey":    func() error { _, err := Grey(nil); return err },
		"rescale": func() error { _, err := Rescale(nil, 2); return err },
		"relax":   func() error { _, err := Relax(nil, 0.5); return err },
	} {
		require.ErrorIs(t, wrap(), backend.ErrArgument, name)
	}
	for _, d := range []refute.Differentiable{n, grey.(refute.Differentiable), rescaled.(refute.Differentiable), relaxed.(refute.Differentiable)} {
		for _, b := range [][3]backend.Buffer{{nil, x, x}, {y, nil, x}, {y, x, nil}} {
			_, err := d.PullBack(t.Context(), b[0], b[1], b[2])
			require.Error(t, err, "%T", d)
		}
	}
	rescaled.Free()
	s = backend.Image(3, 4, 4)
	x, y = upload(t, dev, s, randomImage(1, s)), upload(t, dev, s, randomImage(1, s))
	require.ErrorIs(t, n.Apply(t.Context(), y, x), backend.ErrFreed, "freeing a wrapper frees what it wraps")
}

// The proven inequality of α-averaged maps holds for random pairs, for every way to
// make a denoiser.
func TestAveragednessHolds(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 6, 7)
	rapid.Check(t, func(rt *rapid.T) {
		a := Architecture{
			Width: 4, Blocks: rapid.IntRange(1, 3).Draw(rt, "blocks"),
			Integrator: rapid.SampledFrom([]rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.Kutta3(), rungekutta.BackwardEuler()}).Draw(rt, "integrator"),
			Activation: rapid.SampledFrom([]activation.Function{activation.LeakyReLU(0.01), activation.ReLU(), activation.HardTanh(), activation.Linear(), activation.Balls()}).Draw(rt, "activation"),
		}
		m := smallModel(t, rapid.Uint64().Draw(rt, "seed"), a, rapid.Float64Range(0.3, 3).Draw(rt, "norm"))
		n := certified(t, dev, m)
		var d Denoiser = n
		var err error
		if rapid.Bool().Draw(rt, "relaxed") {
			d, err = Relax(d, rapid.Float64Range(0.1, 1).Draw(rt, "λ"))
			require.NoError(t, err)
		}
		if rapid.Bool().Draw(rt, "rescaled") {
			d, err = Rescale(d, rapid.Float64Range(0.1, 4).Draw(rt, "s"))
			require.NoError(t, err)
		}
		alpha, proven := d.Averagedness()
		require.True(t, proven)
		x, y := randomImage(rapid.Uint64().Draw(rt, "x"), s), randomImage(rapid.Uint64().Draw(rt, "y"), s)
		for i := range x {
			x[i] = 6*x[i] - 3
			y[i] = 6*y[i] - 3
		}
		fx, fy := denoised(t, d, s, x), denoised(t, d, s, y)
		moved, apart, after := 0.0, between(x, y), between(fx, fy)
		for i := range x {
			v := float64(x[i]) - float64(fx[i]) - (float64(y[i]) - float64(fy[i]))
			moved += v * v
		}
		require.LessOrEqual(t, after*after, apart*apart-(1-alpha)/alpha*moved+1e-3*apart)
	})
}

// Errors of an inexact denoiser come out as a wrapper passes them on.
func TestWrappersPassErrorsOn(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 3, Architecture{Integrator: rungekutta.BackwardEuler()}, 1))
	relaxed, err := Relax(n, 0.5)
	require.NoError(t, err)
	rescaled, err := Rescale(relaxed, 3)
	require.NoError(t, err)
	grey, err := Grey(rescaled)
	require.NoError(t, err)
	s := backend.Image(1, 6, 6)
	src, dst := upload(t, dev, s, randomImage(1, s)), upload(t, dev, s, randomImage(1, s))
	fine := 0.0
	for i, d := range []Denoiser{grey, &plainDenoiser{grey}} {
		bound, err := applyWithin(t.Context(), d, dst, src, 1e-4)
		require.NoError(t, err)
		require.LessOrEqual(t, bound, 1e-4*(1+1e-12))
		if i == 0 {
			fine = bound
		}
	}
	coarse := download(t, dev, dst)
	inexact, ok := grey.(InexactDenoiser)
	require.True(t, ok)
	bound, err := inexact.ApplyWithin(t.Context(), dst, src, 0.5)
	require.NoError(t, err)
	require.Greater(t, bound, 2*fine)
	require.LessOrEqual(t, between(coarse, download(t, dev, dst)), bound+1e-4)
}

// plainDenoiser hides everything but Denoiser's methods.
type plainDenoiser struct{ d Denoiser }

func (p *plainDenoiser) Apply(ctx context.Context, dst, src backend.Buffer) error {
	return p.d.Apply(ctx, dst, src)
}
func (p *plainDenoiser) Averagedness() (float64, bool) { return p.d.Averagedness() }
func (p *plainDenoiser) Certificate() Certificate      { return p.d.Certificate() }
func (p *plainDenoiser) Channels() int                 { return p.d.Channels() }
func (p *plainDenoiser) Device() backend.Device        { return p.d.Device() }
func (p *plainDenoiser) Free()                         { p.d.Free() }

// Rescaling has memory of its own only while it computes, so that a network can be
// wrapped anew for every image.
func TestRescaledKeepsNoMemory(t *testing.T) {
	dev := &watched{Device: newCPU(t)}
	n := certified(t, dev, smallModel(t, 3, Architecture{}, 1))
	s := backend.Image(3, 12, 14)
	src := upload(t, dev, s, randomImage(1, s))
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	r, err := Rescale(n, 0.3)
	require.NoError(t, err)
	before := dev.live.Load()
	require.NoError(t, r.Apply(t.Context(), dst, src))
	require.Equal(t, before, dev.live.Load())
}
