package operator_test

import (
	"errors"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// L·K·R is what it says, its adjoint is one, each channel is that of all, and the power method does not get above the bound of its
// norm.
func TestScaled(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	kernel := made(t)(deblur.NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4))
	rapid.Check(t, func(r *rapid.T) {
		const channels = 3
		h, w := rapid.IntRange(1, 13).Draw(r, "rows"), rapid.IntRange(1, 13).Draw(r, "columns")
		blur, err := deblur.New(dev, kernel, deblur.Unknown, h, w)
		require.NoError(r, err)
		defer blur.Free()
		dh, dw := blur.Domain()
		scales := func(name string, h, w int) (backend.Buffer, []float32) {
			n := channels * h * w
			of := rapid.SliceOfN(rapid.Float32Range(0, 13), n, n).Draw(r, name)
			b, err := dev.Alloc(backend.Image(channels, h, w))
			require.NoError(r, err)
			require.NoError(r, dev.Upload(b, of))
			return b, of
		}
		left, ls := scales("left", h, w)
		defer left.Free()
		right, rs := scales("right", dh, dw)
		defer right.Free()
		k, err := operator.Scale(dev, blur, left, right)
		require.NoError(r, err)
		defer k.Free()

		x, xs := devicetest.Noise(t, dev, channels, dh, dw, 1)
		y, ys := devicetest.Noise(t, dev, channels, h, w, 2)
		kx, _ := devicetest.Noise(t, dev, channels, h, w, 3)
		kty, _ := devicetest.Noise(t, dev, channels, dh, dw, 4)
		require.NoError(r, k.Apply(kx, x))
		require.NoError(r, k.Adjoint(kty, y))
		gotX, gotY := devicetest.Download(t, dev, kx), devicetest.Download(t, dev, kty)
		require.InEpsilon(r, 1+devicetest.Dot(gotX, ys), 1+devicetest.Dot(xs, gotY), 1e-3)

		scaled := make([]float32, len(xs))
		for i, v := range xs {
			scaled[i] = v * rs[i]
		}
		require.NoError(r, dev.Upload(x, scaled))
		require.NoError(r, blur.Apply(kx, x))
		for i, v := range devicetest.Download(t, dev, kx) {
			require.InDelta(r, v*ls[i], gotX[i], 1e-3)
		}

		for c := range channels {
			one, err := k.Channel(c)
			require.NoError(r, err)
			from, _ := devicetest.Noise(t, dev, 1, dh, dw, 5)
			to, _ := devicetest.Noise(t, dev, 1, h, w, 6)
			require.NoError(r, dev.Upload(from, xs[c*dh*dw:(c+1)*dh*dw]))
			require.NoError(r, one.Apply(to, from))
			require.Equal(r, gotX[c*h*w:(c+1)*h*w], devicetest.Download(t, dev, to))
		}

		bound, reason := k.Norm()
		require.False(r, math.IsInf(bound, 1), reason)
		// The scales are not negative, and so is the singular image that the power method finds from ones.
		require.NoError(r, dev.Fill(x, 1))
		for range 30 {
			require.NoError(r, k.Apply(kx, x))
			require.NoError(r, k.Adjoint(x, kx))
			next := devicetest.Download(t, dev, x)
			size := math.Sqrt(devicetest.Dot(next, next))
			if size == 0 {
				return
			}
			require.NoError(r, dev.LinearCombination(x, backend.Term{A: float32(1 / size), X: x}))
		}
		require.NoError(r, k.Apply(kx, x))
		gotX = devicetest.Download(t, dev, kx)
		require.LessOrEqual(r, math.Sqrt(devicetest.Dot(gotX, gotX)), bound*(1+1e-5))
	})
}

// The bound follows the scales once they have changed, is that of K where all are 1, and the product of the largest where that is
// smaller or K bounds no rounding.
func TestNormOfScaled(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	kernel := made(t)(deblur.NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4))
	blur, err := deblur.New(dev, kernel, deblur.Circular, 12, 16)
	require.NoError(t, err)
	defer blur.Free()
	full := func(v float64) backend.Buffer {
		b, err := dev.Alloc(backend.Image(1, 12, 16))
		require.NoError(t, err)
		t.Cleanup(func() { b.Free() })
		require.NoError(t, dev.Fill(b, float32(v)))
		return b
	}
	left, right := full(1), full(1)
	k, err := operator.Scale(dev, blur, left, right)
	require.NoError(t, err)
	defer k.Free()
	norm := func() float64 {
		bound, reason := k.Norm()
		require.NotEmpty(t, reason)
		return bound
	}
	require.InDelta(t, 1, norm(), 1e-6)
	require.NoError(t, dev.Fill(left, 3))
	require.InDelta(t, 1, norm(), 1e-6)
	k.Changed()
	require.InDelta(t, 3, norm(), 1e-5)

	// A channel has the bound of all.
	two, bright := func() (l, r backend.Buffer) {
		l, err := dev.Alloc(backend.Image(2, 12, 16))
		require.NoError(t, err)
		r, err = dev.Alloc(backend.Image(2, 12, 16))
		require.NoError(t, err)
		return l, r
	}()
	defer two.Free()
	defer bright.Free()
	require.NoError(t, dev.Fill(two, 1))
	require.NoError(t, dev.Fill(bright, 1))
	second, err := dev.Channels(bright, 1, 1)
	require.NoError(t, err)
	require.NoError(t, dev.Fill(second, 5))
	both, err := operator.Scale(dev, blur, two, bright)
	require.NoError(t, err)
	defer both.Free()
	first, err := both.Channel(0)
	require.NoError(t, err)
	ofFirst, _ := first.Norm()
	require.InDelta(t, 5, ofFirst, 1e-4)

	// One bright sample: no row has more than its own share of it.
	one := make([]float32, 12*16)
	for i := range one {
		one[i] = 1
	}
	one[100] = 8
	require.NoError(t, dev.Upload(right, one))
	k.Changed()
	schur := norm()
	require.Less(t, schur, 3*8.0)
	unknown, err := operator.FromHost(dev, operator.Host{
		DomainH: 12, DomainW: 16, RangeH: 12, RangeW: 16, Norm: 1, Reason: "the identity",
		Apply: func(dst, src []float32) error { copy(dst, src); return nil }, Adjoint: func(dst, src []float32) error { copy(dst, src); return nil },
	})
	require.NoError(t, err)
	k2, err := operator.Scale(dev, unknown, left, right)
	require.NoError(t, err)
	defer k2.Free()
	bound, _ := k2.Norm()
	require.Equal(t, 3*8.0, bound)

	broken := errors.New("broken")
	fails, err := operator.FromHost(dev, operator.Host{
		DomainH: 12, DomainW: 16, RangeH: 12, RangeW: 16, Norm: 1, Reason: "none", Apply: func(dst, src []float32) error { return broken }, Adjoint: func(dst, src []float32) error { return broken },
	})
	require.NoError(t, err)
	k3, err := operator.Scale(dev, fails, left, right)
	require.NoError(t, err)
	defer k3.Free()
	require.ErrorIs(t, k3.Apply(full(0), full(0)), broken)

	_, err = operator.Scale(dev, blur, left, nil)
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = operator.Scale(dev, nil, left, right)
	require.Error(t, err)
	three, err := dev.Alloc(backend.Image(3, 12, 16))
	require.NoError(t, err)
	defer three.Free()
	require.ErrorIs(t, k.Apply(three, three), backend.ErrShape)
	require.ErrorIs(t, k.Adjoint(three, three), backend.ErrShape)
}
