package operator_test

import (
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

// M·K is K with some samples 0, of each channel others, and its adjoint is one.
func TestMasked(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	kernel := made(t)(deblur.NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4))
	rapid.Check(t, func(r *rapid.T) {
		const channels = 3
		h, w := rapid.IntRange(1, 13).Draw(r, "rows"), rapid.IntRange(1, 13).Draw(r, "columns")
		n := channels * h * w
		mask := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 1}), n, n).Draw(r, "mask")
		blur, err := deblur.New(dev, kernel, deblur.Unknown, h, w)
		require.NoError(r, err)
		defer blur.Free()
		b, err := dev.Alloc(backend.Image(channels, h, w))
		require.NoError(r, err)
		defer b.Free()
		require.NoError(r, dev.Upload(b, mask))
		k, err := operator.Mask(dev, blur, b)
		require.NoError(r, err)
		defer k.Free()

		dh, dw := k.Domain()
		x, xs := devicetest.Noise(t, dev, channels, dh, dw, 1)
		y, ys := devicetest.Noise(t, dev, channels, h, w, 2)
		kx, _ := devicetest.Noise(t, dev, channels, h, w, 3)
		kty, _ := devicetest.Noise(t, dev, channels, dh, dw, 4)
		require.NoError(r, k.Apply(kx, x))
		require.NoError(r, k.Adjoint(kty, y))
		gotX, gotY := devicetest.Download(t, dev, kx), devicetest.Download(t, dev, kty)
		require.InDelta(r, devicetest.Dot(gotX, ys), devicetest.Dot(xs, gotY), 1e-3)
		require.LessOrEqual(r, devicetest.Dot(gotX, gotX), devicetest.Dot(xs, xs)*(1+1e-5))
		require.NoError(r, blur.Apply(kx, x))
		for i, v := range devicetest.Download(t, dev, kx) {
			require.InDelta(r, v*mask[i], gotX[i], 1e-6)
		}
		bound, _ := k.Norm()
		require.Equal(r, 1.0, bound)
	})

	// Images of another number of channels are refused.
	blur, err := deblur.New(dev, kernel, deblur.Unknown, 9, 11)
	require.NoError(t, err)
	defer blur.Free()
	b, err := dev.Alloc(backend.Image(3, 9, 11))
	require.NoError(t, err)
	defer b.Free()
	k, err := operator.Mask(dev, blur, b)
	require.NoError(t, err)
	defer k.Free()
	one, err := dev.Alloc(backend.Image(1, 9, 11))
	require.NoError(t, err)
	defer one.Free()
	dh, dw := k.Domain()
	wide, err := dev.Alloc(backend.Image(1, dh, dw))
	require.NoError(t, err)
	defer wide.Free()
	require.ErrorIs(t, k.Apply(one, wide), backend.ErrShape)
	require.ErrorIs(t, k.Adjoint(wide, one), backend.ErrShape)
	_, err = operator.Mask(dev, blur, wide)
	require.ErrorIs(t, err, backend.ErrShape)
}
