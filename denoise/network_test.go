package denoise

import (
	"context"
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// Every integrator, activation and size gives what the definitions give in float64.
func TestNetworkIsItsDefinition(t *testing.T) {
	host := newCPU(t)
	exact := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, exact.Close()) }()
	for _, c := range []struct {
		name string
		a    Architecture
		norm float64
	}{
		{"euler", Architecture{}, 1.3},
		{"euler, several steps", Architecture{Blocks: 2}, 3},
		{"heun", Architecture{Integrator: rungekutta.Heun()}, 1.2},
		{"rk4", Architecture{Integrator: rungekutta.RK4()}, 1.6},
		{"ssprk3", Architecture{Integrator: rungekutta.SSPRK3()}, 1},
		{"kutta3", Architecture{Integrator: rungekutta.Kutta3()}, 1},
		{"3/8 rule", Architecture{Integrator: rule38}, 1.5},
		{"ralston", Architecture{Integrator: ralston}, 1.1},
		{"backward euler", Architecture{Integrator: rungekutta.BackwardEuler()}, 1.7},
		{"relu", Architecture{Activation: activation.ReLU()}, 1},
		{"linear", Architecture{Activation: activation.Linear(), Integrator: rungekutta.Heun()}, 1},
		{"hardtanh", Architecture{Activation: activation.HardTanh()}, 2},
		{"hardtanh, rk4", Architecture{Activation: activation.HardTanh(), Integrator: rungekutta.RK4()}, 2},
		{"balls", Architecture{Width: 6, Activation: activation.Balls(), Group: 3}, 1.3},
		{"balls, rk4", Architecture{Width: 8, Activation: activation.Balls(), Group: 2, Integrator: rungekutta.RK4()}, 1.6},
		{"balls, backward euler", Architecture{Width: 8, Activation: activation.Balls(), Integrator: rungekutta.BackwardEuler()}, 1.6},
		{"balls of one channel, 5×5", Architecture{Kernel: 5, Activation: activation.Balls(), Group: 1}, 1},
		{"grey, 5×5", Architecture{Channels: 1, Kernel: 5}, 1},
		{"1×1", Architecture{Channels: 4, Width: 4, Kernel: 1, Integrator: rungekutta.RK4()}, 1},
	} {
		m := smallModel(t, 1, c.a, c.norm)
		if c.name == "rk4" {
			// Fewer hidden channels than z has, then more, and no bias.
			m.Blocks[1].Filter, m.Blocks[1].Bias = m.Blocks[1].Filter[:3*7*9], nil
			m.Blocks[2].Filter = append(m.Blocks[2].Filter, m.Blocks[0].Filter[:2*7*9]...)
			m.Blocks[2].Bias = append(m.Blocks[2].Bias, 0.1, -0.1)
			m.Blocks[2].Length = 0.7
		}
		n := certified(t, host, m)
		s := backend.Image(m.Channels, 9, 11)
		x := randomImage(2, s)
		want := newReference(t, m, stepsOf(n.Certificate()), s.H, s.W).apply(x)
		got := denoised(t, n, s, x)
		limit := 3e-6 * norm2(want)
		if m.implicit() {
			limit += DefaultInnerError * 18 // √(3·9·11)
		}
		require.LessOrEqual(t, between(got, want), limit, c.name)
		require.Greater(t, between(x, want), 0.05*norm2(want), "%s does something", c.name)

		if testing.Short() {
			continue // the same in float64, on a device that is the same code on every processor: go test ./... has it
		}
		got = denoised(t, certified(t, exact, m), s, x)
		if !m.implicit() {
			limit = 3e-7 * norm2(want) // coefficients and the result are float32
		}
		require.LessOrEqual(t, between(got, want), limit, "%s in float64", c.name)
	}
}

// The one call for all steps and the layers of the generic path agree.
func TestOneCallAgreesWithTheLayers(t *testing.T) {
	dev := newCPU(t)
	blocks, s := 4, backend.Image(3, 33, 40)
	if testing.Short() { // minutes under emulation; go test ./... has the others
		blocks, s = 2, backend.Image(3, 14, 19)
	}
	for _, activation := range []activation.Function{activation.LeakyReLU(0.01), activation.Balls()} {
		m := smallModel(t, 5, Architecture{Width: 18, Blocks: blocks, Activation: activation}, 1.4)
		for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.SSPRK3(), rungekutta.Kutta3()} {
			m.Integrator = integrator
			n := uncertified(t, dev, m, 2)
			x := randomImage(3, s)
			fused := denoised(t, n, s, x)
			layers := uncertified(t, &watched{Device: dev}, m, 2)
			require.LessOrEqual(t, between(denoised(t, layers, s, x), fused), 3e-6*norm2(fused), "%s %s", integrator.Name, activation.Name)
		}
	}
}

// Each image of a batch is treated by itself.
func TestBatch(t *testing.T) {
	dev := newCPU(t)
	one, three := backend.Image(3, 8, 13), backend.Shape{N: 3, C: 3, H: 8, W: 13}
	x := randomImage(4, three)
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun()} {
		n := certified(t, dev, smallModel(t, 2, Architecture{Integrator: integrator}, 1))
		all := denoised(t, n, three, x)
		for i := range three.N {
			part := x[i*one.Len():][:one.Len()]
			require.Equal(t, denoised(t, n, one, part), all[i*one.Len():][:one.Len()], integrator.Name)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	dev := newCPU(t)
	d, err := dncnn.Random(1, 3, 5, 2)
	require.NoError(t, err)
	dncnn, err := NewDnCNN(dev, d)
	require.NoError(t, err)
	for _, n := range []*Network{
		certified(t, dev, smallModel(t, 1, Architecture{}, 1)),
		certified(t, dev, smallModel(t, 1, Architecture{Integrator: rungekutta.RK4()}, 1)),
		certified(t, dev, smallModel(t, 1, Architecture{Integrator: rungekutta.BackwardEuler()}, 1)),
		dncnn,
	} {
		alloc := func(s backend.Shape) backend.Buffer {
			b, err := dev.Alloc(s)
			require.NoError(t, err)
			return b
		}
		x, y := alloc(backend.Image(3, 6, 6)), alloc(backend.Image(3, 6, 6))
		apply := func(dst, src backend.Buffer) error { return n.Apply(t.Context(), dst, src) }
		require.NoError(t, apply(y, x))
		require.ErrorIs(t, apply(x, x), backend.ErrAlias)
		view, err := dev.Channels(x, 0, 3)
		require.NoError(t, err)
		require.ErrorIs(t, apply(view, x), backend.ErrAlias)
		require.ErrorIs(t, apply(y, alloc(backend.Image(3, 6, 7))), backend.ErrShape)
		require.ErrorIs(t, apply(alloc(backend.Image(4, 6, 6)), alloc(backend.Image(4, 6, 6))), backend.ErrShape)
		require.ErrorIs(t, apply(nil, x), backend.ErrArgument)
		require.ErrorIs(t, apply(y, nil), backend.ErrArgument)
		other := newCPU(t)
		foreign, err := other.Alloc(backend.Image(3, 6, 6))
		require.NoError(t, err)
		require.ErrorIs(t, apply(y, foreign), backend.ErrForeign)
		require.ErrorIs(t, apply(foreign, x), backend.ErrForeign)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, n.Apply(ended, y, x), context.Canceled)
		n.Free()
		n.Free()
		require.ErrorIs(t, apply(y, x), backend.ErrFreed)
	}
}

func TestNewRefuses(t *testing.T) {
	dev := newCPU(t)
	m := smallModel(t, 1, Architecture{}, 1)
	_, err := New(t.Context(), dev, m, Certificate{})
	require.ErrorContains(t, err, "no number of steps")
	for i := range m.Blocks {
		m.Blocks[i].Steps = 1
	}
	n, err := New(t.Context(), dev, m, Certificate{})
	require.NoError(t, err)
	alpha, proven := n.Averagedness()
	require.False(t, proven)
	require.Equal(t, 1.0, alpha)
	_, ok := n.Card()
	require.False(t, ok)
	_, err = New(t.Context(), nil, m, Certificate{})
	require.ErrorContains(t, err, "device")
	_, err = New(t.Context(), dev, m, Certificate{}, Tile(-1))
	require.ErrorContains(t, err, "tiles of -1")
	m.Blocks[1].Steps = rungekutta.MaxSteps
	m.Blocks[2].Steps = rungekutta.MaxSteps
	_, err = New(t.Context(), dev, m, Certificate{})
	require.ErrorContains(t, err, "in all")
	m.Integrator = midpoint
	_, err = New(t.Context(), dev, m, Certificate{})
	require.ErrorIs(t, err, rungekutta.ErrNoDisk)
	m.Integrator = implicitMidpoint
	_, err = New(t.Context(), dev, m, Certificate{})
	require.ErrorContains(t, err, "implicit")
}

// One network, many goroutines, the same bits.
func TestConcurrentUse(t *testing.T) {
	dev := newCPU(t, cpu.Threads(2))
	s := backend.Image(3, 21, 19)
	x := randomImage(7, s)
	src := upload(t, dev, s, x)
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.RK4(), rungekutta.BackwardEuler()} {
		n := certified(t, dev, smallModel(t, 3, Architecture{Integrator: integrator}, 1), Tile(8))
		relaxed, err := Relax(n, 0.5)
		require.NoError(t, err)
		d, err := Rescale(relaxed, 0.7)
		require.NoError(t, err)
		want := denoised(t, d, s, x)
		var group sync.WaitGroup
		results := make([][]float32, 4)
		for i := range results {
			group.Go(func() {
				dst, err := dev.Alloc(s)
				if err != nil || d.Apply(t.Context(), dst, src) != nil {
					return
				}
				got := make([]float32, s.Len())
				if dev.Download(got, dst) == nil {
					results[i] = got
				}
			})
		}
		group.Wait()
		for _, got := range results {
			require.Equal(t, want, got, integrator.Name)
		}
	}
}
