package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/operator/operatortest"
)

// K·C is K of the upper left part of an image. It is linear with an adjoint, whatever its size, and its bounds and
// preconditioner are K's.
func TestWidened(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	large := make([]float32, 21*21) // so large that transforms make the blur, and it has a preconditioner
	for i := range large {
		large[i] = float32(1+i%5) / 1300
	}
	kernels := []deblur.Kernel{made(t)(deblur.NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4)), made(t)(deblur.NewKernel(large, 21, 21))}
	rapid.Check(t, func(r *rapid.T) {
		const channels = 2
		h, w := rapid.IntRange(1, 13).Draw(r, "rows"), rapid.IntRange(1, 13).Draw(r, "columns")
		boundary := deblur.Boundary(rapid.IntRange(0, int(deblur.Reflect)).Draw(r, "boundary"))
		blur, err := deblur.New(dev, rapid.SampledFrom(kernels).Draw(r, "kernel"), boundary, h, w)
		require.NoError(r, err)
		defer blur.Free()
		dh, dw := blur.Domain()
		wh, ww := dh+rapid.IntRange(0, 3).Draw(r, "more rows"), dw+rapid.IntRange(0, 3).Draw(r, "more columns")
		k, err := operator.Widen(dev, blur, wh, ww)
		require.NoError(r, err)
		defer k.Free()
		require.NoError(r, operatortest.TestLinear(dev, k))

		// Part returns what C does.
		part := func(wide []float32) []float32 {
			var p []float32
			for row := range channels * dh {
				p = append(p, wide[(row/dh*wh+row%dh)*ww:][:dw]...)
			}
			return p
		}
		x, xs := devicetest.Noise(t, dev, channels, wh, ww, 1)
		defer x.Free()
		cut := devicetest.Upload(r, dev, backend.Image(channels, dh, dw), part(xs))
		defer cut.Free()
		got, _ := devicetest.Noise(t, dev, channels, h, w, 2)
		defer got.Free()
		want, _ := devicetest.Noise(t, dev, channels, h, w, 3)
		defer want.Free()
		require.NoError(r, k.Apply(got, x))
		require.NoError(r, blur.Apply(want, cut))
		require.Equal(r, devicetest.Download(r, dev, want), devicetest.Download(r, dev, got))
		bound, _ := k.Norm()
		wantBound, _ := blur.Norm()
		require.Equal(r, wantBound, bound)
		rounding, err := k.Rounding()
		require.NoError(r, err)
		wantRounding, err := blur.Rounding()
		require.NoError(r, err)
		require.Equal(r, wantRounding, rounding)
		of, err := k.Channel(1)
		require.NoError(r, err)
		require.NoError(r, operatortest.TestLinear(dev, of))

		near, err := k.Preconditioner(7)
		require.NoError(r, err)
		wantNear, err := blur.Preconditioner(7)
		require.NoError(r, err)
		require.Equal(r, wantNear == nil, near == nil)
		if near == nil {
			return
		}
		defer near.Free()
		defer wantNear.Free()
		wide, _ := devicetest.Noise(t, dev, channels, wh, ww, 4)
		defer wide.Free()
		small, _ := devicetest.Noise(t, dev, channels, dh, dw, 5)
		defer small.Free()
		require.NoError(r, near.Apply(wide, x))
		require.NoError(r, wantNear.Apply(small, cut))
		all := devicetest.Download(r, dev, wide)
		require.Equal(r, devicetest.Download(r, dev, small), part(all))
		for i, v := range all {
			if i/ww%wh >= dh || i%ww >= dw {
				require.Equal(r, xs[i], v)
			}
		}
	})

	blur, err := deblur.New(dev, kernels[0], deblur.Reflect, 9, 11)
	require.NoError(t, err)
	defer blur.Free()
	for _, size := range [][2]int{{8, 11}, {9, 10}} {
		_, err = operator.Widen(dev, blur, size[0], size[1])
		require.ErrorIs(t, err, backend.ErrShape)
	}
	k, err := operator.Widen(dev, blur, 10, 12)
	require.NoError(t, err)
	y, _ := devicetest.Noise(t, dev, 1, 9, 11, 1)
	x, _ := devicetest.Noise(t, dev, 1, 10, 12, 2)
	require.ErrorIs(t, k.Apply(y, y), backend.ErrShape)
	require.ErrorIs(t, k.Adjoint(y, y), backend.ErrShape)
	require.NoError(t, k.Apply(y, x))
	k.Free()
	k.Free()
	require.ErrorIs(t, k.Apply(y, x), backend.ErrFreed)
}
