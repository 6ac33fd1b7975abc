package refute_test

import (
	"context"
	"errors"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/stretchr/testify/require"
)

// An attack finds the expansion of networks that take too few steps, and of those that
// have no constraint. A certified network of the same weights withstands it.
func TestAttack(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	s := backend.Image(3, 10, 10)
	opt := refute.AttackOptions{Restarts: 3, Iterations: 14}
	for _, c := range []struct {
		a        denoise.Architecture
		norm     float64
		required int // steps
	}{
		{denoise.Architecture{Width: 6}, 2.4, 3},
		{denoise.Architecture{Width: 6, Blocks: 1, Activation: activation.Linear()}, 2.4, 3},
		{denoise.Architecture{Width: 4, Blocks: 2, Integrator: rungekutta.Heun()}, 2.4, 3},
		{denoise.Architecture{Width: 4, Blocks: 2, Integrator: rungekutta.RK4()}, 2.8, 4},
		{denoise.Architecture{Width: 6, Activation: activation.HardTanh()}, 2.4, 3},
		{denoise.Architecture{Width: 6, Blocks: 2, Activation: activation.LeakyReLU(0.5)}, 1.9, 2},
	} {
		m := smallModel(t, 12, c.a, c.norm)
		r, err := refute.Attack(t.Context(), uncertified(t, dev, m, 1), s, opt)
		require.NoError(t, err)
		require.True(t, r.Expansive(), "%s %s: %+v", m.Integrator.Name, m.Activation.Name, r)
		t.Logf("%s %s: %+v", m.Integrator.Name, m.Activation.Name, r)
		require.True(t, r.Gradients)

		sound := certified(t, dev, m)
		require.InDelta(t, c.required, stepsOf(sound.Certificate())[0], 1)
		r, err = refute.Attack(t.Context(), sound, s, opt)
		require.NoError(t, err)
		require.False(t, r.Expansive(), "%s %s: %+v", m.Integrator.Name, m.Activation.Name, r)
		t.Logf("certified: %+v", r)
		if r.Gradients {
			require.Greater(t, r.Ratio, 0.8, "the attack comes close: %+v", r)
		}
	}
	d, err := dncnn.Random(4, 3, 8, 4)
	require.NoError(t, err)
	n, err := denoise.NewDnCNN(dev, d)
	require.NoError(t, err)
	r, err := refute.Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	require.Greater(t, r.Ratio, 1.5)
	// Wrappers do not hide it, and a relaxation beyond the constant shows.
	rescaled, err := denoise.Rescale(n, 0.1)
	require.NoError(t, err)
	grey, err := denoise.Grey(rescaled)
	require.NoError(t, err)
	r, err = refute.Attack(t.Context(), grey, backend.Image(1, 10, 10), opt)
	require.NoError(t, err)
	require.True(t, r.Expansive())
	over, err := denoise.Relax(certified(t, dev, smallModel(t, 12, denoise.Architecture{Width: 6, Blocks: 1, Activation: activation.Linear()}, 1.3)), 2.5)
	require.NoError(t, err)
	r, err = refute.Attack(t.Context(), over, s, opt)
	require.NoError(t, err)
	require.True(t, r.Expansive())
}

// Backward Euler withstands it however long the step, and what the solver leaves out is
// not held against it.
func TestAttackOnBackwardEuler(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	m := smallModel(t, 12, denoise.Architecture{Width: 6, Blocks: 2, Integrator: rungekutta.BackwardEuler()}, 3)
	r, err := refute.Attack(t.Context(), certified(t, dev, m), backend.Image(3, 12, 12), refute.AttackOptions{Restarts: 2, Iterations: 8})
	require.NoError(t, err)
	require.False(t, r.Expansive(), "%+v", r)
	require.Less(t, r.Rounding, 0.03)
}

// On a block that is linear the largest ratio is the largest singular value, known from
// power iteration in float64.
func TestAttackFindsTheLargestRatio(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 10, 10)
	m := smallModel(t, 5, denoise.Architecture{Width: 3, Blocks: 1, Activation: activation.Linear()}, 2)
	r, err := refute.Attack(t.Context(), uncertified(t, dev, m, 1), s, refute.AttackOptions{Restarts: 2, Iterations: 80})
	require.NoError(t, err)
	norm, err := normbound.Estimate(m.Blocks[0].Filter, backend.Shape{N: 3, C: 3, H: 3, W: 3}, s.H, s.W, 2000)
	require.NoError(t, err)
	require.InEpsilon(t, norm*norm-1, r.Ratio, 0.01, "‖I − AᵀA‖ = ‖A‖² − 1")
}

func TestAttackOptions(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 1, denoise.Architecture{}, 1))
	s := backend.Image(3, 6, 6)
	opt := refute.AttackOptions{Restarts: 2, Iterations: 3, Seed: 4}
	a, err := refute.Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	b, err := refute.Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	require.Equal(t, a, b, "the same arguments give the same bits")
	require.Equal(t, 2*2*(3+6), a.Evaluations)
	require.Positive(t, a.Separation)
	opt.Start = upload(t, dev, s, randomImage(1, s))
	fractions := []float64{}
	opt.Progress = func(p backend.Progress) error {
		fractions = append(fractions, p.Fraction)
		require.Len(t, fractions, p.Iteration)
		return nil
	}
	c, err := refute.Attack(t.Context(), n, s, opt)
	require.NoError(t, err)
	require.NotEqual(t, a.Ratio, c.Ratio)
	require.Equal(t, randomImage(1, s), download(t, dev, opt.Start), "the start stays")
	require.Len(t, fractions, 6)
	require.Equal(t, 1.0, fractions[5])
	stop := errors.New("stop")
	opt.Progress = func(backend.Progress) error { return stop }
	_, err = refute.Attack(t.Context(), n, s, opt)
	require.ErrorIs(t, err, stop)
	opt.Progress = nil
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = refute.Attack(ended, n, s, opt)
	require.ErrorIs(t, err, context.Canceled)

	_, err = refute.Attack(t.Context(), n, backend.Image(1, 6, 6), refute.AttackOptions{})
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = refute.Attack(t.Context(), n, backend.Image(3, 0, 6), refute.AttackOptions{})
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = refute.Attack(t.Context(), n, backend.Image(3, 7, 6), opt)
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = refute.Attack(t.Context(), n, s, refute.AttackOptions{Restarts: -1})
	require.ErrorIs(t, err, backend.ErrArgument)
}

// The constant itself is attacked: if Φ is α-averaged, Φ relaxed by 1/α is nonexpansive.
// For one linear step that takes all that the bound allows, hardly less will do.
func TestAttackOnTheConstant(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	s := backend.Image(3, 12, 12)
	opt := refute.AttackOptions{Restarts: 3, Iterations: 25}
	for _, c := range []struct {
		a     denoise.Architecture
		norm  float64
		sharp bool
	}{
		{denoise.Architecture{Width: 3, Blocks: 1, Activation: activation.Linear()}, 1, true},
		{denoise.Architecture{Width: 3, Blocks: 1, Activation: activation.Linear()}, 1.4, true},
		{denoise.Architecture{Width: 5, Blocks: 3}, 1, false},
		{denoise.Architecture{Width: 5, Blocks: 3}, 2.6, false},
	} {
		n := certified(t, dev, smallModel(t, 5, c.a, c.norm))
		alpha, proven := n.Averagedness()
		require.True(t, proven)
		require.Less(t, alpha, 1.0)
		over, err := denoise.Relax(n, 1/alpha)
		require.NoError(t, err)
		r, err := refute.Attack(t.Context(), over, s, opt)
		require.NoError(t, err)
		require.False(t, r.Expansive(), "%+v", r)
		if c.sharp {
			require.Greater(t, r.Ratio, 0.93, "%+v", r)
			beyond, err := denoise.Relax(n, 1.15/alpha)
			require.NoError(t, err)
			r, err = refute.Attack(t.Context(), beyond, s, opt)
			require.NoError(t, err)
			require.True(t, r.Expansive(), "%+v", r)
		}
	}
}

// boastful claims a smaller constant than it has, and a large bound of rounding that would excuse it.
type boastful struct {
	*denoise.Network
	alpha float64
}

func (d boastful) Averagedness() (float64, bool) { return d.alpha, true }

func (d boastful) Rounding(_ context.Context, size float64, _ backend.Shape) (float64, error) {
	return 0.1 * size, nil
}

// A constant that is wrong by five percent is refuted even where the bound of rounding is larger than that: what rounding
// was is measured. The right constant is not.
func TestAttackMeasuresWhatRoundingWas(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 5, denoise.Architecture{Width: 3, Blocks: 1, Activation: activation.Linear()}, 1.4))
	alpha, _ := n.Averagedness()
	for _, factor := range []float64{1, 0.95} {
		r, err := refute.Attack(t.Context(), boastful{n, alpha * factor}, backend.Image(3, 40, 40), refute.AttackOptions{Restarts: 3, Iterations: 60})
		require.NoError(t, err)
		require.Equal(t, factor < 1, r.Expansive(), "%v: %+v", factor, r)
		require.Equal(t, factor < 1, r.RoundingMeasured, "%v: %+v", factor, r)
		require.InDelta(t, alpha*factor, r.Constant, 1e-12)
	}
}

// infinite overflows where an image is bright.
type infinite struct{ refute.Denoiser }

func (d infinite) Apply(ctx context.Context, dst, src backend.Buffer) error {
	if err := d.Denoiser.Apply(ctx, dst, src); err != nil {
		return err
	}
	return d.Device().LinearCombination(dst, backend.Term{A: 3e38, X: src})
}

// What is not finite for an image that is counts as a violation.
func TestAttackCountsWhatIsNotFinite(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 1, denoise.Architecture{}, 1))
	r, err := refute.Attack(t.Context(), infinite{n}, backend.Image(3, 6, 6), refute.AttackOptions{Restarts: 2, Iterations: 2})
	require.NoError(t, err)
	require.True(t, r.NotFinite)
	require.True(t, r.Expansive())
}
