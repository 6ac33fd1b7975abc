package deblur

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
)

// matrix is a preconditioner of one channel of h×w samples, column by column.
func matrix(t *testing.T, dev backend.Device, m operator.Preconditioner, h, w int) *mat.Dense {
	n := h * w
	a := mat.NewDense(n, n, nil)
	src, err := dev.Alloc(backend.Image(1, h, w))
	require.NoError(t, err)
	defer src.Free()
	dst, err := dev.Alloc(backend.Image(1, h, w))
	require.NoError(t, err)
	defer dst.Free()
	for i := range n {
		unit := make([]float32, n)
		unit[i] = 1
		require.NoError(t, dev.Upload(src, unit))
		require.NoError(t, m.Apply(dst, src))
		for j, v := range devicetest.Download(t, dev, dst) {
			a.Set(j, i, float64(v))
		}
	}
	return a
}

// Preconditioners are symmetric, with eigenvalues within their bounds, for every kernel, boundary and
// size, and there is none for a blur that is summed directly.
func TestPreconditionersAreBounded(t *testing.T) {
	const tau = 7.0
	testOperators(t, func(t *testing.T, dev backend.Device, o *Operator) {
		m, err := operator.PreconditionerOf(o, tau)
		require.NoError(t, err)
		if o.blur.Method() == backend.DirectBlur {
			require.Nil(t, m)
			return
		}
		defer m.Free()
		h, w := o.Domain()
		if testing.Short() && h*w > 100 {
			return // eigenvalues take long under emulation; go test ./... has those of all sizes
		}
		a := matrix(t, dev, m, h, w)
		symmetric := mat.NewSymDense(h*w, nil)
		asymmetry := 0.0
		for i := range h * w {
			for j := range i + 1 {
				asymmetry = max(asymmetry, math.Abs(a.At(i, j)-a.At(j, i)))
				symmetric.SetSym(i, j, a.At(i, j))
			}
		}
		require.LessOrEqual(t, asymmetry, 1e-6)
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(symmetric, false))
		values := eigen.Values(nil)
		sum := 0.0 // more than max |k̂|
		for _, v := range o.kernel.Weights {
			sum += math.Abs(float64(v))
		}
		require.GreaterOrEqual(t, values[0], 1/(1+tau*sum*sum)-1e-5)
		require.LessOrEqual(t, values[len(values)-1], 1+1e-5)
	})
}

// In the middle of an image M undoes I + τKᵀK, except for a few hundredths.
func TestPreconditionersAreInverses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer func() { require.NoError(t, dev.Close()) }()
	const tau, h, w = 10.0, 128, 150
	kernel := made(t)(Shake(15, 3))
	for b := Unknown; b <= Reflect; b++ {
		o, err := newOperator(dev, kernel, b, h, w, backend.FourierBlur)
		require.NoError(t, err)
		defer o.Free()
		m, err := o.Preconditioner(tau)
		require.NoError(t, err)
		defer m.Free()
		dh, dw := o.Domain()
		x, samples := devicetest.Noise(t, dev, 1, dh, dw, 1)
		between, _ := devicetest.Noise(t, dev, 1, h, w, 2)
		image, _ := devicetest.Noise(t, dev, 1, dh, dw, 3)
		back, _ := devicetest.Noise(t, dev, 1, dh, dw, 4)
		require.NoError(t, o.Apply(between, x))
		require.NoError(t, o.Adjoint(image, between))
		require.NoError(t, dev.LinearCombination(image, backend.Term{A: 1, X: x}, backend.Term{A: tau, X: image}))
		require.NoError(t, m.Apply(back, image))
		off, size, margin := 0.0, 0.0, 45
		for i, v := range devicetest.Download(t, dev, back) {
			if y, x := i/dw, i%dw; y >= margin && y < dh-margin && x >= margin && x < dw-margin {
				off += math.Pow(float64(v-samples[i]), 2)
				size += math.Pow(float64(samples[i]), 2)
			}
		}
		require.Less(t, math.Sqrt(off/size), 0.05, b)
		for _, x := range []backend.Buffer{x, between, image, back} {
			x.Free()
		}
	}
}

func TestPreconditionersRefuseSteps(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer func() { require.NoError(t, dev.Close()) }()
	o, err := newOperator(dev, made(t)(Motion(5, 30)), Unknown, 9, 9, backend.FourierBlur)
	require.NoError(t, err)
	defer o.Free()
	for _, tau := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := o.Preconditioner(tau)
		require.Error(t, err, tau)
	}
}

// A device without room for one says so, and one that is freed takes none.
func TestPreconditionersCountAsMemory(t *testing.T) {
	make := func(limit int64, count int) error {
		dev := cputest.Open(t, cpu.Threads(1), cpu.MemoryLimit(limit))
		defer func() { require.NoError(t, dev.Close()) }()
		o, err := newOperator(dev, made(t)(Motion(5, 30)), Unknown, 40, 40, backend.FourierBlur)
		require.NoError(t, err)
		defer o.Free()
		for tau := range count {
			m, err := o.Preconditioner(1 + float64(tau))
			if err != nil {
				return err
			}
			m.Free()
		}
		return nil
	}
	require.ErrorIs(t, make(20_000, 1), backend.ErrOutOfMemory)
	require.NoError(t, make(100_000, 50))
}
