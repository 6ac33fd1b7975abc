package denoise

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// Whatever call of the device fails, its error comes back, and no memory stays behind.
func TestNoFailureIsSwallowed(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of runs, which a run with -short leaves to the others")
	}
	s, one := backend.Image(3, 9, 10), backend.Image(1, 9, 10)
	x := randomImage(1, s)
	dev := &watched{Device: newCPU(t)}
	src, dst := upload(t, dev, s, x), upload(t, dev, s, x)
	grey, greyDst := upload(t, dev, one, x[:90]), upload(t, dev, one, x[:90])
	attack := refute.AttackOptions{Restarts: 1, Iterations: 5}
	work := map[string]func() error{}
	all := families(t, dev, Tile(6))
	all["rk4"] = certified(t, dev, smallModel(t, 8, Architecture{Width: 4, Blocks: 1, Integrator: rungekutta.RK4()}, 1))
	all["3/8"] = certified(t, dev, smallModel(t, 8, Architecture{Width: 4, Blocks: 1, Integrator: rule38}, 1))
	all["hardtanh"] = certified(t, dev, smallModel(t, 8, Architecture{Width: 4, Blocks: 1, Activation: activation.HardTanh()}, 1))
	for name, n := range all {
		relaxed, err := Relax(n, 0.5)
		require.NoError(t, err)
		rescaled, err := Rescale(relaxed, 0.5)
		require.NoError(t, err)
		greyed, err := Grey(rescaled)
		require.NoError(t, err)
		work["apply "+name] = func() error { return rescaled.Apply(t.Context(), dst, src) }
		work["grey "+name] = func() error { return greyed.Apply(t.Context(), greyDst, grey) }
		work["attack "+name] = func() error {
			_, err := refute.Attack(t.Context(), greyed, one, attack)
			return err
		}
		work["repeat "+name] = func() error {
			_, err := refute.Repeat(t.Context(), rescaled, src, refute.RepeatOptions{Iterations: 2, Clip: true})
			return err
		}
	}
	m := smallModel(t, 8, Architecture{Width: 4, Blocks: 2}, 1)
	d, err := dncnn.Random(9, 3, 4, 2)
	require.NoError(t, err)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	work["new"] = func() error {
		n, err := New(t.Context(), dev, m, cert)
		if err == nil {
			n.Free()
		}
		return err
	}
	work["new dncnn"] = func() error {
		n, err := NewDnCNN(dev, d)
		if err == nil {
			n.Free()
		}
		return err
	}
	for name, do := range work {
		held := dev.live.Load()
		for at := int64(1); ; at++ {
			dev.calls.Store(0)
			dev.failAt = at
			err := do()
			require.Equal(t, held, dev.live.Load(), "%s, call %d", name, at)
			if dev.calls.Load() < at {
				require.NoError(t, err, name)
				require.Greater(t, at, int64(5), name)
				break
			}
			require.ErrorIs(t, err, errInjected, "%s, call %d", name, at)
			// Large counts are taken in strides.
			at += at / 12
		}
		dev.failAt = 0
	}
}
