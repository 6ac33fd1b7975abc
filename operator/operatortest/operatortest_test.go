package operatortest_test

import (
	"errors"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
)

// differences is the operator of differences between neighbours in a row, as a program of
// one's own would have it: on the host, x ↦ x[j+1] − x[j].
func differences(h, w int) operator.Host {
	return operator.Host{
		DomainH: h, DomainW: w, RangeH: h, RangeW: w - 1,
		Apply: func(dst, src []float32) error {
			for i := range dst {
				y, x := i/(w-1), i%(w-1)
				dst[i] = src[y*w+x+1] - src[y*w+x]
			}
			return nil
		},
		Adjoint: func(dst, src []float32) error { // dst holds zeros
			for i, v := range src {
				y, x := i/(w-1), i%(w-1)
				dst[y*w+x+1] += v
				dst[y*w+x] -= v
			}
			return nil
		},
		Norm: 2, Reason: "|x[j+1] − x[j]| ≤ |x[j+1]| + |x[j]|",
	}
}

func TestHostOperator(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	k, err := operator.FromHost(dev, differences(6, 7))
	require.NoError(t, err)
	require.NoError(t, operatortest.TestLinear(dev, k))

	x, err := dev.Alloc(backend.Image(2, 6, 7))
	require.NoError(t, err)
	wrong, err := dev.Alloc(backend.Image(2, 6, 7))
	require.NoError(t, err)
	require.ErrorIs(t, k.Apply(wrong, x), backend.ErrShape)
	one, err := dev.Alloc(backend.Image(1, 6, 6))
	require.NoError(t, err)
	require.ErrorIs(t, k.Apply(one, x), backend.ErrShape)

	broken := differences(6, 7)
	stop := errors.New("stop")
	broken.Apply = func([]float32, []float32) error { return stop }
	k, err = operator.FromHost(dev, broken)
	require.NoError(t, err)
	two, err := dev.Alloc(backend.Image(2, 6, 6))
	require.NoError(t, err)
	require.ErrorIs(t, k.Apply(two, x), stop)
	require.ErrorIs(t, operatortest.TestLinear(dev, k), stop)
}

// What is no operator is found, and said what of it.
func TestLinearFindsWhatIsWrong(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	calls := 0
	for name, c := range map[string]struct {
		spoil func(h *operator.Host)
		want  string
	}{
		"sign of the adjoint": {func(h *operator.Host) {
			adjoint := h.Adjoint
			h.Adjoint = func(dst, src []float32) error {
				err := adjoint(dst, src)
				for i := range dst {
					dst[i] = -dst[i]
				}
				return err
			}
		}, "the adjoint is not one"},
		"an edge of the adjoint": {func(h *operator.Host) {
			adjoint := h.Adjoint
			h.Adjoint = func(dst, src []float32) error {
				err := adjoint(dst, src)
				dst[0] = 0
				return err
			}
		}, "the adjoint is not one"},
		"a bound that hides the adjoint": {func(h *operator.Host) {
			adjoint := h.Adjoint
			h.Norm = 1e3
			h.Adjoint = func(dst, src []float32) error {
				err := adjoint(dst, src)
				clear(dst)
				return err
			}
		}, "the adjoint is not one"},
		"offset": {func(h *operator.Host) {
			apply := h.Apply
			h.Apply = func(dst, src []float32) error {
				err := apply(dst, src)
				dst[3] += 0.1
				return err
			}
		}, "Apply is not linear"},
		"NaN": {func(h *operator.Host) {
			apply := h.Apply
			h.Apply = func(dst, src []float32) error {
				err := apply(dst, src)
				dst[3] = float32(math.NaN())
				return err
			}
		}, "Apply sets sample 3 to NaN"},
		"clip": {func(h *operator.Host) {
			h.RangeW, h.Norm = h.DomainW, 1
			h.Apply = func(dst, src []float32) error {
				for i, v := range src {
					dst[i] = max(v, 0)
				}
				return nil
			}
			h.Adjoint = h.Apply
		}, "not"},
		"norm": {func(h *operator.Host) { h.Norm = 1.5 }, "the norm is said to be at most 1.5"},
		"channels": {func(h *operator.Host) {
			apply := h.Apply
			h.Apply = func(dst, src []float32) error {
				err := apply(dst, src)
				if calls++; calls%3 == 0 {
					dst[0] *= 2
				}
				return err
			}
		}, ""},
		"unset": {func(h *operator.Host) {
			apply := h.Apply
			h.Apply = func(dst, src []float32) error {
				last := dst[len(dst)-1]
				err := apply(dst, src)
				dst[len(dst)-1] = last + 1
				return err
			}
		}, ""},
	} {
		h := differences(6, 7)
		c.spoil(&h)
		k, err := operator.FromHost(dev, h)
		require.NoError(t, err, name)
		err = operatortest.TestLinear(dev, k)
		require.Error(t, err, name)
		require.ErrorContains(t, err, c.want, name)
	}
	k, err := operator.FromHost(dev, differences(3, 4))
	require.NoError(t, err)
	require.ErrorContains(t, operatortest.TestLinear(dev, adds{k, dev}), "does not set sample")
	require.ErrorContains(t, operatortest.TestLinear(dev, silent{k}), "has no reason")
}

// adds adds to dst where it should set it.
type adds struct {
	operator.Linear
	dev backend.Device
}

func (a adds) Apply(dst, src backend.Buffer) error {
	own, err := a.dev.Alloc(dst.Shape())
	if err != nil {
		return err
	}
	defer own.Free()
	if err := a.Linear.Apply(own, src); err != nil {
		return err
	}
	return a.dev.LinearCombination(dst, backend.Term{A: 1, X: dst}, backend.Term{A: 1, X: own})
}

// silent gives no reason for the bound.
type silent struct{ operator.Linear }

func (s silent) Norm() (float64, string) { return 2, "" }

func TestFromHostRefuses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	for want, spoil := range map[string]func(h *operator.Host){
		"at least 1×1": func(h *operator.Host) { h.RangeH = 0 },
		"both Apply":   func(h *operator.Host) { h.Adjoint = nil },
		"a norm of":    func(h *operator.Host) { h.Norm = -1 },
		"needs a Reason": func(h *operator.Host) {
			h.Reason = ""
		},
	} {
		h := differences(3, 4)
		spoil(&h)
		_, err := operator.FromHost(dev, h)
		require.ErrorContains(t, err, want)
	}
}
