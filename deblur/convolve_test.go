package deblur

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
)

// One blur after another is the blur of their convolution.
func TestConvolve(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	kernels := testKernels(t)
	for _, names := range [][2]string{{"motion", "even"}, {"corner", "lopsided ±"}, {"identity", "shake"}, {"longer", "Gaussian"}} {
		a, b := kernels[names[0]], kernels[names[1]]
		k, err := Convolve(a, b)
		require.NoError(t, err)
		outer, err := New(dev, a, Unknown, 6, 7)
		require.NoError(t, err)
		h, w := outer.Domain()
		inner, err := New(dev, b, Unknown, h, w)
		require.NoError(t, err)
		twice, err := operator.Compose(dev, outer, inner)
		require.NoError(t, err)
		once, err := New(dev, k, Unknown, 6, 7)
		require.NoError(t, err)
		h, w = once.Domain()
		x, _ := devicetest.Noise(t, dev, 1, h, w, 1)
		y, _ := devicetest.Noise(t, dev, 1, 6, 7, 1)
		z, _ := devicetest.Noise(t, dev, 1, 6, 7, 2)
		require.NoError(t, twice.Apply(y, x))
		require.NoError(t, once.Apply(z, x))
		want := devicetest.Download(t, dev, y)
		for i, v := range devicetest.Download(t, dev, z) {
			require.InDelta(t, want[i], v, 1e-5, "%v", names)
		}
	}
	_, err := Convolve(Kernel{}, kernels["motion"])
	require.Error(t, err)
	_, err = Convolve(kernels["motion"], Kernel{H: 1, W: 1, Weights: []float32{float32(math.Inf(1))}})
	require.Error(t, err)
	large := Kernel{H: 1500, W: 1, Weights: make([]float32, 1500)}
	_, err = Convolve(large, large)
	require.ErrorContains(t, err, "too large")
	wide := Kernel{H: 1000, W: 1000, Weights: make([]float32, 1000*1000)}
	_, err = Convolve(wide, wide)
	require.ErrorContains(t, err, "too large to be convolved")
}
