package pnp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/stretchr/testify/require"
)

// panicking is an operator and a denoiser whose n-th call panics.
type panicking struct {
	diagonal
	left *int
}

func (p panicking) count() {
	if *p.left--; *p.left == 0 {
		panic("of the caller")
	}
}

func (p panicking) Apply(dst, src backend.Buffer) error {
	p.count()
	return p.diagonal.Apply(dst, src)
}

func (p panicking) Adjoint(dst, src backend.Buffer) error { return p.Apply(dst, src) }

// denoises is the operator as a denoiser.
type denoises struct{ panicking }

func (d denoises) Apply(_ context.Context, dst, src backend.Buffer) error {
	return d.panicking.Apply(dst, src)
}

func (d denoises) Averagedness() (float64, bool) {
	d.count()
	return 0.5, true
}

// Whichever call of the caller's operator or denoiser panics, no memory of the device stays taken, also before the first step.
func TestPanicsLeaveNoMemoryTaken(t *testing.T) {
	const limit = 1 << 30
	dev := cputest.Open(t, cpu.Threads(1), cpu.MemoryLimit(limit))
	defer dev.Close()
	used := func() (bytes int64) { // of the device, as its error says
		_, err := dev.Alloc(backend.Vector(limit))
		require.ErrorIs(t, err, backend.ErrOutOfMemory)
		text := err.Error()
		_, err = fmt.Sscanf(text[strings.LastIndex(text, ", ")+2:], "%d of", &bytes)
		require.NoError(t, err, text)
		return bytes
	}
	left := 0
	k := panicking{diagonal{dev, 4, 4, random(1, 16)}, &left}
	y := upload(t, dev, 4, 4, random(2, 16))
	before := used()
	for _, opt := range []Options{
		{}, {DataStep: ProximalStep}, {Acceleration: Momentum}, {Acceleration: Halpern}, {Acceleration: Anderson}, {Contraction: 0.9},
	} {
		for _, started := range []bool{false, true} {
			panicked := 0
			for n := range 12 {
				left = n + 1
				func() {
					defer func() {
						if v := recover(); v != nil {
							require.Equal(t, "of the caller", v)
							panicked++
						}
					}()
					opt := opt
					opt.MaxIterations = 3
					if opt.TakeStart = started; started {
						var err error
						opt.Start, err = dev.Alloc(y.Shape())
						require.NoError(t, err)
					}
					x, _, err := Solve(t.Context(), dev, y, k, denoises{k}, opt)
					require.NoError(t, err)
					x.Free()
				}()
				require.Equal(t, before, used(), "%+v, call %d", opt, n+1)
			}
			require.Greater(t, panicked, 2)
		}
	}
}
