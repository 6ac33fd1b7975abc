package deblur

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
)

// drawMask draws a mask of any size from 1×1.
func drawMask(t *rapid.T, dev backend.Device) (*Mask, []bool) {
	h, w := rapid.IntRange(1, 13).Draw(t, "rows"), rapid.IntRange(1, 13).Draw(t, "columns")
	known := rapid.SliceOfN(rapid.Bool(), h*w, h*w).Draw(t, "known")
	m, err := NewMask(dev, known, h, w)
	require.NoError(t, err)
	return m, known
}

// A mask multiplies by one and zero, without rounding, and is its own adjoint.
func TestMask(t *testing.T) {
	for name, dev := range map[string]backend.Device{"cpu": cpu.New(cpu.Threads(2)), "reference": refdevice.New(refdevice.Options{})} {
		t.Run(name, func(t *testing.T) {
			defer dev.Close()
			rapid.Check(t, func(r *rapid.T) {
				m, known := drawMask(r, dev)
				defer m.Free()
				channels := rapid.IntRange(1, 4).Draw(r, "channels")
				h, w := m.Range()
				x, xs := noise(t, dev, channels, h, w, 1)
				y, ys := noise(t, dev, channels, h, w, 2)
				mx, _ := noise(t, dev, channels, h, w, 3)
				my, _ := noise(t, dev, channels, h, w, 4)
				require.NoError(r, m.Apply(mx, x))
				require.NoError(r, m.Adjoint(my, y))
				gotX, gotY := download(t, dev, mx), download(t, dev, my)
				missing := 0
				for i, v := range xs {
					want := float32(0)
					if known[i%len(known)] {
						want = v
					} else if i < len(known) {
						missing++
					}
					require.Equal(r, want, gotX[i])
				}
				require.Equal(r, missing, m.Missing())
				require.InDelta(r, dot(gotX, ys), dot(xs, gotY), 1e-12*(1+dot(xs, xs)+dot(ys, ys)))
				bound, reason := m.Norm()
				require.NotEmpty(r, reason)
				estimate := powerIteration(t, dev, m, 3)
				require.LessOrEqual(r, estimate, bound*(1+1e-6))
				require.InDelta(r, bound, estimate, 1e-6)
			})
		})
	}
}

// powerIteration is EstimateNorm for any operator.
func powerIteration(t testing.TB, dev backend.Device, k Forward, steps int) float64 {
	dh, dw := k.Domain()
	h, w := k.Range()
	x, err := dev.Alloc(backend.Image(1, dh, dw))
	require.NoError(t, err)
	defer x.Free()
	y, err := dev.Alloc(backend.Image(1, h, w))
	require.NoError(t, err)
	defer y.Free()
	require.NoError(t, dev.Gaussian(x, 5, 1, 1))
	estimate := 0.0
	for range steps {
		require.NoError(t, k.Apply(y, x))
		var squares [2]float64
		require.NoError(t, dev.Reduce(squares[:],
			backend.Reduction{Kind: backend.SumSquares, X: x}, backend.Reduction{Kind: backend.SumSquares, X: y}))
		if squares[1] == 0 {
			return estimate
		}
		estimate = max(estimate, math.Sqrt(squares[1]/squares[0]))
		require.NoError(t, k.Adjoint(x, y))
		require.NoError(t, dev.LinearCombination(x, backend.Term{A: float32(1 / math.Sqrt(squares[1])), X: x}))
	}
	return estimate
}

func TestMaskRefuses(t *testing.T) {
	dev := cpu.New(cpu.Threads(1))
	defer dev.Close()
	for _, s := range [][3]int{{0, 4, 0}, {4, -1, 4}, {2, 3, 5}, {math.MaxInt, math.MaxInt, 1}} {
		_, err := NewMask(dev, make([]bool, s[2]), s[0], s[1])
		require.ErrorContains(t, err, "deblur: mask of ")
	}
	m, err := NewMask(dev, make([]bool, 12), 3, 4)
	require.NoError(t, err)
	bound, reason := m.Norm()
	require.Zero(t, bound, reason)
	require.ErrorContains(t, m.Diffuse(make([]float32, 12), make([]float32, 12)), "no pixel")
	require.ErrorContains(t, m.Diffuse(make([]float32, 12), make([]float32, 13)), "samples")
	x, _ := noise(t, dev, 1, 3, 4, 1)
	y, _ := noise(t, dev, 1, 4, 3, 1)
	z, _ := noise(t, dev, 2, 3, 4, 1)
	require.ErrorIs(t, m.Apply(x, y), backend.ErrShape)
	require.ErrorIs(t, m.Apply(y, x), backend.ErrShape)
	require.ErrorIs(t, m.Apply(x, z), backend.ErrShape)
	m.Free()
	m.Free()
	w, _ := noise(t, dev, 1, 3, 4, 1)
	require.ErrorIs(t, m.Apply(w, x), backend.ErrFreed)
	require.NoError(t, dev.Close())
	_, err = NewMask(dev, make([]bool, 12), 3, 4)
	require.ErrorIs(t, err, backend.ErrClosed)
}

// A diffusion leaves known pixels alone, stays between them (the maximum principle), and
// does not depend on threads or on what missing pixels had.
func TestDiffuse(t *testing.T) {
	dev, single := cpu.New(cpu.Threads(2)), cpu.New(cpu.Threads(1))
	defer dev.Close()
	defer single.Close()
	rapid.Check(t, func(r *rapid.T) {
		m, known := drawMask(r, dev)
		defer m.Free()
		known[rapid.IntRange(0, len(known)-1).Draw(r, "one")] = true
		m, err := NewMask(dev, known, m.h, m.w)
		require.NoError(r, err)
		defer m.Free()
		x, _ := noise(t, dev, 2, m.h, m.w, 7)
		src := download(t, dev, x)
		dst := make([]float32, len(src))
		require.NoError(r, m.Diffuse(dst, src))
		for c := range 2 {
			lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
			for i, k := range known {
				if v := src[c*len(known)+i]; k {
					require.Equal(r, v, dst[c*len(known)+i])
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			for i := range known {
				v := dst[c*len(known)+i]
				require.True(r, v >= lo-1e-6 && v <= hi+1e-6, "%v is not in [%v, %v]", v, lo, hi)
			}
		}
		for i := range src {
			if !known[i%len(known)] {
				src[i] = float32(math.NaN())
			}
		}
		other, err := NewMask(single, known, m.h, m.w)
		require.NoError(r, err)
		defer other.Free()
		require.NoError(r, other.Diffuse(src, src))
		require.Equal(r, dst, src)
	})
}

// A ramp is harmonic: a hole in it of any size is filled with it, nearly.
func TestDiffuseContinuesARamp(t *testing.T) {
	dev := cpu.New(cpu.Threads(2))
	defer dev.Close()
	const h, w = 75, 90
	for _, side := range []int{3, 12, 31, 50} {
		ramp, known := make([]float32, h*w), make([]bool, h*w)
		for i := range ramp {
			y, x := i/w, i%w
			ramp[i] = float32(x)/w + float32(y)/(2*h)
			known[i] = y < 10 || y >= 10+side || x < 15 || x >= 15+side
		}
		m, err := NewMask(dev, known, h, w)
		require.NoError(t, err)
		filled := make([]float32, len(ramp))
		require.NoError(t, m.Diffuse(filled, ramp))
		worst := 0.0
		for i := range ramp {
			worst = max(worst, math.Abs(float64(filled[i]-ramp[i])))
		}
		require.Less(t, worst, 0.02+0.1*float64(side)/w, "a hole of %d pixels", side)
		m.Free()
	}
}

// A mask after a blur.
func TestComposition(t *testing.T) {
	dev := cpu.New(cpu.Threads(2))
	defer dev.Close()
	kernels := testKernels(t)
	names := []string{"motion", "even", "lopsided ±", "identity"}
	rapid.Check(t, func(r *rapid.T) {
		m, known := drawMask(r, dev)
		defer m.Free()
		k := kernels[rapid.SampledFrom(names).Draw(r, "kernel")]
		b := Boundary(rapid.IntRange(0, int(Reflect)).Draw(r, "boundary"))
		blur, err := New(dev, k, b, m.h, m.w)
		require.NoError(r, err)
		defer blur.Free()
		both, err := Compose(dev, m, blur)
		require.NoError(r, err)
		defer both.Free()
		const channels = 2
		dh, dw := both.Domain()
		h, w := both.Range()
		x, xs := noise(t, dev, channels, dh, dw, 1)
		y, ys := noise(t, dev, channels, h, w, 2)
		kx, _ := noise(t, dev, channels, h, w, 3)
		kty, _ := noise(t, dev, channels, dh, dw, 4)
		require.NoError(r, both.Apply(kx, x))
		require.NoError(r, both.Adjoint(kty, y))
		gotX, gotY := download(t, dev, kx), download(t, dev, kty)
		blurred, _ := noise(t, dev, channels, h, w, 5)
		require.NoError(r, blur.Apply(blurred, x))
		for i, v := range download(t, dev, blurred) {
			if !known[i%len(known)] {
				v = 0
			}
			require.InDelta(r, v, gotX[i], 1e-5)
		}
		require.InDelta(r, dot(gotX, ys), dot(xs, gotY), 1e-5*math.Sqrt(1+dot(xs, xs)*dot(ys, ys))*(1+sumAbove(k.Weights)))
		bound, reason := both.Norm()
		require.GreaterOrEqual(r, bound*(1+1e-5), powerIteration(t, dev, both, 10), reason)
	})
}

// The bound of a composition is near the truth where few pixels are missing.
func TestCompositionNormIsTight(t *testing.T) {
	dev := cpu.New(cpu.Threads(2))
	defer dev.Close()
	known := make([]bool, 40*50)
	for i := range known {
		known[i] = i%37 > 0
	}
	m, err := NewMask(dev, known, 40, 50)
	require.NoError(t, err)
	blur, err := New(dev, made(t)(Motion(5, 30)), Circular, 40, 50)
	require.NoError(t, err)
	both, err := Compose(dev, m, blur)
	require.NoError(t, err)
	bound, _ := both.Norm()
	estimate := powerIteration(t, dev, both, 40)
	require.LessOrEqual(t, estimate, bound*(1+1e-6))
	require.GreaterOrEqual(t, estimate, 0.95*bound)

	_, err = Compose(dev, blur, m)
	require.NoError(t, err, "a circular blur keeps the size")
	unknown, err := New(dev, made(t)(Motion(5, 30)), Unknown, 40, 50)
	require.NoError(t, err)
	_, err = Compose(dev, unknown, m)
	require.ErrorContains(t, err, "the inner one makes 40×50")
	x, _ := noise(t, dev, 1, 40, 50, 1)
	y, _ := noise(t, dev, 2, 40, 50, 1)
	require.ErrorIs(t, both.Apply(x, y), backend.ErrShape)
	require.ErrorIs(t, both.Adjoint(x, y), backend.ErrShape)
	estimate, err = blur.EstimateNorm(context.Background(), 5, 1)
	require.NoError(t, err)
	require.Positive(t, estimate, "the parts stay the caller's")
}
