package refute_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// The paper's experiment: a certified network converges, an unconstrained one
// diverges.
func TestRepeat(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 12, 12)
	x := upload(t, dev, s, randomImage(1, s))
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.BackwardEuler()} {
		n := certified(t, dev, smallModel(t, 3, denoise.Architecture{Integrator: integrator}, 1))
		relaxed, err := denoise.Relax(n, 0.5)
		require.NoError(t, err)
		for _, clip := range []bool{false, true} {
			r, err := refute.Repeat(t.Context(), relaxed, x, refute.RepeatOptions{Iterations: 60, Clip: clip})
			require.NoError(t, err)
			require.True(t, r.Holds(), "%s: %v", integrator.Name, r.Violations)
			require.Len(t, r.Rows, 60)
			require.Less(t, r.Rows[59].Residual, 0.1*r.Rows[0].Residual, "%s converges", integrator.Name)
			require.Equal(t, clip, !math.IsInf(r.Distance, 1))
			require.Equal(t, clip, !math.IsInf(r.Rows[0].Bound, 1))
			for _, row := range r.Rows[1:] {
				require.LessOrEqual(t, row.Bound, 1.05*r.Rows[0].Residual, "the first residual, and errors")
			}
		}
	}
	d, err := dncnn.Random(4, 3, 8, 4)
	require.NoError(t, err)
	n, err := denoise.NewDnCNN(dev, d)
	require.NoError(t, err)
	r, err := refute.Repeat(t.Context(), n, x, refute.RepeatOptions{Iterations: 400})
	require.NoError(t, err)
	require.False(t, r.Holds())
	require.Empty(t, r.Violations, "nothing was promised")
	require.True(t, r.Diverged)
	require.Less(t, len(r.Rows), 400)
	require.True(t, math.IsInf(r.Rows[1].Bound, 1))
}

// liar claims what is not true.
type liar struct {
	refute.Denoiser
	alpha float64
}

func (l liar) Averagedness() (float64, bool) { return l.alpha, true }

func TestRepeatFindsFalseClaims(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 12, 12)
	x := upload(t, dev, s, randomImage(1, s))
	expansive := uncertified(t, dev, smallModel(t, 12, denoise.Architecture{Activation: activation.Linear()}, 2.2), 1)
	r, err := refute.Repeat(t.Context(), liar{expansive, 0.5}, x, refute.RepeatOptions{Iterations: 20})
	require.NoError(t, err)
	require.False(t, r.Holds())
	require.NotEmpty(t, r.Violations)
	require.Contains(t, r.Violations[0], "residual")

	// A constant that is too small, of a map that is nonexpansive: x ← 1 − x.
	var mirror refute.Denoiser = &reflection{dev: dev}
	r, err = refute.Repeat(t.Context(), liar{mirror, 0.01}, x, refute.RepeatOptions{Iterations: 20, Clip: true})
	require.NoError(t, err)
	require.False(t, r.Holds())
	require.Contains(t, r.Violations[0], "above its bound")
	r, err = refute.Repeat(t.Context(), liar{mirror, 1}, x, refute.RepeatOptions{Iterations: 20, Clip: true})
	require.NoError(t, err)
	require.True(t, r.Holds(), "nonexpansive is all that is claimed")
}

// reflection is x ↦ 1 − x, a denoiser of no other use.
type reflection struct{ dev backend.Device }

func (r *reflection) Apply(_ context.Context, dst, src backend.Buffer) error {
	if err := r.dev.Fill(dst, 1); err != nil {
		return err
	}
	return r.dev.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: -1, X: src})
}
func (r *reflection) Averagedness() (float64, bool) { return 1, true }
func (r *reflection) Channels() int                 { return 3 }
func (r *reflection) Device() backend.Device        { return r.dev }

func TestRepeatOptions(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 6, 6)
	pixels := randomImage(1, s)
	pixels[0], pixels[1] = -3, 7
	x := upload(t, dev, s, pixels)
	n := certified(t, dev, smallModel(t, 1, denoise.Architecture{}, 1))
	r, err := refute.Repeat(t.Context(), n, x, refute.RepeatOptions{Clip: true})
	require.NoError(t, err)
	require.Len(t, r.Rows, refute.DefaultRepetitions)
	require.Equal(t, pixels, download(t, dev, x), "the start stays")
	require.LessOrEqual(t, r.Distance, math.Sqrt(3*36))
	stop := errors.New("stop")
	_, err = refute.Repeat(t.Context(), n, x, refute.RepeatOptions{Progress: func(p backend.Progress) error {
		if p.Iteration == 3 {
			return stop
		}
		return nil
	}})
	require.ErrorIs(t, err, stop)
	_, err = refute.Repeat(t.Context(), n, x, refute.RepeatOptions{Iterations: -1})
	require.ErrorIs(t, err, backend.ErrArgument)
	_, err = refute.Repeat(t.Context(), n, nil, refute.RepeatOptions{})
	require.ErrorIs(t, err, backend.ErrArgument)
	_, err = refute.Repeat(t.Context(), nil, x, refute.RepeatOptions{})
	require.ErrorIs(t, err, backend.ErrArgument)
	_, err = refute.Attack(t.Context(), nil, s, refute.AttackOptions{})
	require.ErrorIs(t, err, backend.ErrArgument)
	wrong := upload(t, dev, backend.Image(1, 6, 6), pixels[:36])
	_, err = refute.Repeat(t.Context(), n, wrong, refute.RepeatOptions{})
	require.ErrorIs(t, err, backend.ErrShape)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = refute.Repeat(ended, n, x, refute.RepeatOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
