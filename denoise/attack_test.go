package denoise

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// uncertified puts a model on a device with the given number of steps for each block.
func uncertified(t testing.TB, dev backend.Device, m Model, steps int) *Network {
	m.Blocks = append([]Block{}, m.Blocks...)
	for i := range m.Blocks {
		m.Blocks[i].Steps = steps
	}
	n, err := New(t.Context(), dev, m, Certificate{})
	require.NoError(t, err)
	t.Cleanup(n.Free)
	return n
}

// ⟨Jᵀv, w⟩ = ⟨v, Jw⟩, with Jw from differences in float64.
func TestTransposedJacobian(t *testing.T) {
	dev := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, dev.Close()) }()
	s := backend.Image(3, 6, 7)
	d, err := RandomDnCNN(2, 3, 5, 3)
	require.NoError(t, err)
	dncnn, err := NewDnCNN(dev, d)
	require.NoError(t, err)
	denoisers := map[string]Denoiser{"dncnn": dncnn}
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.Kutta3(), rule38} {
		denoisers[integrator.Name] = uncertified(t, dev, smallModel(t, 3, Architecture{Integrator: integrator, Width: 5}, 1.5), 2)
	}
	relaxed, err := Relax(denoisers["rk4"], 0.3)
	require.NoError(t, err)
	denoisers["rescaled"], err = Rescale(relaxed, 0.5)
	require.NoError(t, err)
	for name, d := range denoisers {
		x, v, w := randomImage(1, s), randomImage(2, s), randomImage(3, s)
		require.Less(t, math.Abs(checkTranspose(t, d, s, x, v, w)), 2e-3, name)
	}
	grey, err := Grey(denoisers["rescaled"])
	require.NoError(t, err)
	one := backend.Image(1, 6, 7)
	require.Less(t, math.Abs(checkTranspose(t, grey, one, randomImage(1, one), randomImage(2, one), randomImage(3, one))), 2e-3)
}

// checkTranspose returns the relative difference of the two inner products.
func checkTranspose(t *testing.T, d Denoiser, s backend.Shape, x, v, w []float32) float64 {
	dev := d.Device()
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	ok, err := transpose(t.Context(), d, dst, upload(t, dev, s, x), upload(t, dev, s, v))
	require.NoError(t, err)
	require.True(t, ok)
	back := download(t, dev, dst)
	const eps = 1e-3 // a power of 2 would not be better: units that change sides decide
	plus, minus := make([]float32, len(x)), make([]float32, len(x))
	for i := range x {
		plus[i], minus[i] = x[i]+eps*w[i], x[i]-eps*w[i]
	}
	fp, fm := denoised(t, d, s, plus), denoised(t, d, s, minus)
	left, right := 0.0, 0.0
	for i := range x {
		left += float64(back[i]) * float64(w[i])
		right += float64(v[i]) * (float64(fp[i]) - float64(fm[i])) / (2 * eps)
	}
	return (left - right) / (math.Abs(left) + math.Abs(right))
}

// skipSearch skips a search, for images that a network moves apart or for the largest norm,
// where a test run is told to be short: it takes hundreds of gradients or images, which are
// slow on an emulated processor and under the race detector, and other tests call the same
// code there.
func skipSearch(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long search, which a run with -short leaves to the others")
	}
}

// An attack finds the expansion of networks that take too few steps, and of those that
// have no constraint. A certified network of the same weights withstands it.
func TestAttack(t *testing.T) {
	skipSearch(t)
	dev := newCPU(t)
	s := backend.Image(3, 10, 10)
	opt := AttackOptions{Restarts: 3, Iterations: 14}
	for _, c := range []struct {
		a        Architecture
		norm     float64
		required int // steps
	}{
		{Architecture{Width: 6}, 2.4, 3},
		{Architecture{Width: 6, Blocks: 1, Activation: Linear()}, 2.4, 3},
		{Architecture{Width: 4, Blocks: 2, Integrator: rungekutta.Heun()}, 2.4, 3},
		{Architecture{Width: 4, Blocks: 2, Integrator: rungekutta.RK4()}, 2.8, 4},
		{Architecture{Width: 6, Activation: HardTanh()}, 2.4, 3},
		{Architecture{Width: 6, Blocks: 2, Activation: LeakyReLU(0.5)}, 1.9, 2},
	} {
		m := smallModel(t, 12, c.a, c.norm)
		r, err := Attack(t.Context(), uncertified(t, dev, m, 1), s, opt)
		require.NoError(t, err)
		require.True(t, r.Expansive(), "%s %s: %+v", m.Integrator.Name, m.Activation.Name, r)
		t.Logf("%s %s: %+v", m.Integrator.Name, m.Activation.Name, r)
		require.Equal(t, c.a.Activation.Name != "hardtanh", r.Gradients)

		sound := certified(t, dev, m)
		require.InDelta(t, c.required, stepsOf(sound.Certificate())[0], 1)
		r, err = Attack(t.Context(), sound, s, opt)
		require.NoError(t, err)
		require.False(t, r.Expansive(), "%s %s: %+v", m.Integrator.Name, m.Activation.Name, r)
		t.Logf("certified: %+v", r)
		if r.Gradients {
			require.Greater(t, r.Ratio, 0.8, "the attack comes close: %+v", r)
		}
	}
	d, err := RandomDnCNN(4, 3, 8, 4)
	require.NoError(t, err)
	n, err := NewDnCNN(dev, d)
	require.NoError(t, err)
	r, err := Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	require.Greater(t, r.Ratio, 1.5)
	// Wrappers do not hide it, and a relaxation beyond the constant shows.
	rescaled, err := Rescale(n, 0.1)
	require.NoError(t, err)
	grey, err := Grey(rescaled)
	require.NoError(t, err)
	r, err = Attack(t.Context(), grey, backend.Image(1, 10, 10), opt)
	require.NoError(t, err)
	require.True(t, r.Expansive())
	over, err := Relax(certified(t, dev, smallModel(t, 12, Architecture{Width: 6, Blocks: 1, Activation: Linear()}, 1.3)), 2.5)
	require.NoError(t, err)
	r, err = Attack(t.Context(), over, s, opt)
	require.NoError(t, err)
	require.True(t, r.Expansive())
}

// Backward Euler withstands it however long the step, and what the solver leaves out is
// not held against it.
func TestAttackOnBackwardEuler(t *testing.T) {
	skipSearch(t)
	dev := newCPU(t)
	m := smallModel(t, 12, Architecture{Width: 6, Blocks: 2, Integrator: rungekutta.BackwardEuler()}, 3)
	r, err := Attack(t.Context(), certified(t, dev, m), backend.Image(3, 12, 12), AttackOptions{Restarts: 2, Iterations: 8})
	require.NoError(t, err)
	require.False(t, r.Expansive(), "%+v", r)
	require.Less(t, r.Rounding, 0.01)
}

// On a block that is linear the largest ratio is the largest singular value, known from
// power iteration in float64.
func TestAttackFindsTheLargestRatio(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 10, 10)
	m := smallModel(t, 5, Architecture{Width: 3, Blocks: 1, Activation: Linear()}, 2)
	r, err := Attack(t.Context(), uncertified(t, dev, m, 1), s, AttackOptions{Restarts: 2, Iterations: 80})
	require.NoError(t, err)
	norm, err := normbound.Estimate(m.Blocks[0].Filter, m.filterShape(m.Blocks[0]), s.H, s.W, 2000)
	require.NoError(t, err)
	require.InEpsilon(t, norm*norm-1, r.Ratio, 0.01, "‖I − AᵀA‖ = ‖A‖² − 1")
}

func TestAttackOptions(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 1, Architecture{}, 1))
	s := backend.Image(3, 6, 6)
	opt := AttackOptions{Restarts: 2, Iterations: 3, Seed: 4}
	a, err := Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	b, err := Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	require.Equal(t, a, b, "the same arguments give the same bits")
	require.Equal(t, 12, a.Evaluations)
	require.Positive(t, a.Separation)
	opt.Start = upload(t, dev, s, randomImage(1, s))
	fractions := []float64{}
	opt.Progress = func(fraction, _ float64) error {
		fractions = append(fractions, fraction)
		return nil
	}
	c, err := Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	require.NotEqual(t, a.Ratio, c.Ratio)
	require.Equal(t, randomImage(1, s), download(t, dev, opt.Start), "the start stays")
	require.Len(t, fractions, 6)
	require.Equal(t, 1.0, fractions[5])
	stop := errors.New("stop")
	opt.Progress = func(float64, float64) error { return stop }
	_, err = Attack(t.Context(), n, s, opt)
	require.ErrorIs(t, err, stop)
	opt.Progress = nil
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Attack(ended, n, s, opt)
	require.ErrorIs(t, err, context.Canceled)

	_, err = Attack(t.Context(), n, backend.Image(1, 6, 6), AttackOptions{})
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = Attack(t.Context(), n, backend.Image(3, 0, 6), AttackOptions{})
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = Attack(t.Context(), n, backend.Image(3, 7, 6), opt)
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = Attack(t.Context(), n, s, AttackOptions{Restarts: -1})
	require.ErrorIs(t, err, backend.ErrArgument)
}

// The constant itself is attacked: if Φ is α-averaged, Φ relaxed by 1/α is nonexpansive.
// For one linear step that takes all that the bound allows, hardly less will do.
func TestAttackOnTheConstant(t *testing.T) {
	skipSearch(t)
	dev := newCPU(t)
	s := backend.Image(3, 12, 12)
	opt := AttackOptions{Restarts: 3, Iterations: 25}
	for _, c := range []struct {
		a     Architecture
		norm  float64
		sharp bool
	}{
		{Architecture{Width: 3, Blocks: 1, Activation: Linear()}, 1, true},
		{Architecture{Width: 3, Blocks: 1, Activation: Linear()}, 1.4, true},
		{Architecture{Width: 5, Blocks: 3}, 1, false},
		{Architecture{Width: 5, Blocks: 3}, 2.6, false},
	} {
		n := certified(t, dev, smallModel(t, 5, c.a, c.norm))
		alpha, proven := n.Averagedness()
		require.True(t, proven)
		require.Less(t, alpha, 1.0)
		over, err := Relax(n, 1/alpha)
		require.NoError(t, err)
		r, err := Attack(t.Context(), over, s, opt)
		require.NoError(t, err)
		require.False(t, r.Expansive(), "%+v", r)
		if c.sharp {
			require.Greater(t, r.Ratio, 0.93, "%+v", r)
			beyond, err := Relax(n, 1.15/alpha)
			require.NoError(t, err)
			r, err = Attack(t.Context(), beyond, s, opt)
			require.NoError(t, err)
			require.True(t, r.Expansive(), "%+v", r)
		}
	}
}
