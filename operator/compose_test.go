package operator_test

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/inpaint"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A mask after a blur.
func TestComposition(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	kernels := []deblur.Kernel{
		made(t)(deblur.Motion(5, 30)),
		made(t)(deblur.NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4)),
		{H: 2, W: 3, CY: 0, CX: 1, Weights: []float32{.5, -.25, .75, 1, -1.5, .1}},
		{H: 1, W: 1, Weights: []float32{1}},
	}
	rapid.Check(t, func(r *rapid.T) {
		h, w := rapid.IntRange(1, 13).Draw(r, "rows"), rapid.IntRange(1, 13).Draw(r, "columns")
		known := rapid.SliceOfN(rapid.Bool(), h*w, h*w).Draw(r, "known")
		m, err := inpaint.NewMask(dev, known, h, w)
		require.NoError(r, err)
		defer m.Free()
		k := rapid.SampledFrom(kernels).Draw(r, "kernel")
		b := deblur.Boundary(rapid.IntRange(0, int(deblur.Reflect)).Draw(r, "boundary"))
		blur, err := deblur.New(dev, k, b, h, w)
		require.NoError(r, err)
		defer blur.Free()
		both, err := operator.Compose(dev, m, blur)
		require.NoError(r, err)
		defer both.Free()
		const channels = 2
		dh, dw := both.Domain()
		x, xs := devicetest.Noise(t, dev, channels, dh, dw, 1)
		y, ys := devicetest.Noise(t, dev, channels, h, w, 2)
		kx, _ := devicetest.Noise(t, dev, channels, h, w, 3)
		kty, _ := devicetest.Noise(t, dev, channels, dh, dw, 4)
		require.NoError(r, both.Apply(kx, x))
		require.NoError(r, both.Adjoint(kty, y))
		gotX, gotY := devicetest.Download(t, dev, kx), devicetest.Download(t, dev, kty)
		blurred, _ := devicetest.Noise(t, dev, channels, h, w, 5)
		require.NoError(r, blur.Apply(blurred, x))
		for i, v := range devicetest.Download(t, dev, blurred) {
			if !known[i%len(known)] {
				v = 0
			}
			require.InDelta(r, v, gotX[i], 1e-5)
		}
		require.InDelta(r, devicetest.Dot(gotX, ys), devicetest.Dot(xs, gotY), 1e-5*math.Sqrt(1+devicetest.Dot(xs, xs)*devicetest.Dot(ys, ys))*(1+sumOfMagnitudes(k)))
		bound, reason := both.Norm()
		require.GreaterOrEqual(r, bound*(1+1e-5), devicetest.Norm(t, dev, both, 10), reason)
		require.NoError(r, operatortest.TestLinear(dev, both))
	})
}

// The bound of a composition is near the truth where few pixels are missing.
func TestCompositionNormIsTight(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	known := make([]bool, 40*50)
	for i := range known {
		known[i] = i%37 > 0
	}
	m, err := inpaint.NewMask(dev, known, 40, 50)
	require.NoError(t, err)
	blur, err := deblur.New(dev, made(t)(deblur.Motion(5, 30)), deblur.Circular, 40, 50)
	require.NoError(t, err)
	both, err := operator.Compose(dev, m, blur)
	require.NoError(t, err)
	bound, _ := both.Norm()
	estimate := devicetest.Norm(t, dev, both, 40)
	require.LessOrEqual(t, estimate, bound*(1+1e-6))
	require.GreaterOrEqual(t, estimate, 0.95*bound)

	_, err = operator.Compose(dev, blur, m)
	require.NoError(t, err, "a circular blur keeps the size")
	unknown, err := deblur.New(dev, made(t)(deblur.Motion(5, 30)), deblur.Unknown, 40, 50)
	require.NoError(t, err)
	_, err = operator.Compose(dev, unknown, m)
	require.ErrorContains(t, err, "the inner one makes 40×50")
	x, _ := devicetest.Noise(t, dev, 1, 40, 50, 1)
	y, _ := devicetest.Noise(t, dev, 2, 40, 50, 1)
	require.ErrorIs(t, both.Apply(x, y), backend.ErrShape)
	require.ErrorIs(t, both.Adjoint(x, y), backend.ErrShape)
	require.Positive(t, devicetest.Norm(t, dev, blur, 5), "the parts stay the caller's")
}

func made(t testing.TB) func(k deblur.Kernel, err error) deblur.Kernel {
	return func(k deblur.Kernel, err error) deblur.Kernel {
		t.Helper()
		require.NoError(t, err)
		return k
	}
}

func sumOfMagnitudes(k deblur.Kernel) float64 {
	sum := 0.0
	for _, v := range k.Weights {
		sum += math.Abs(float64(v))
	}
	return sum
}
