package deblur

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/internal/response"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// testKernels cover one and two dimensions, odd and even sizes, centres away from
// the middle, symmetric and lopsided weights, and weights below 0.
func testKernels(t testing.TB) map[string]Kernel {
	must := made(t)
	return map[string]Kernel{
		"identity":      {H: 1, W: 1, Weights: []float32{1}},
		"Gaussian":      must(Gaussian(.8)),
		"motion":        must(Motion(5, 30)),
		"shake":         must(Shake(7, 2)),
		"even":          must(NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4)),
		"shift":         {H: 3, W: 4, CY: 1, CX: 1, Weights: []float32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		"corner":        {H: 3, W: 2, CY: 2, CX: 0, Weights: []float32{.1, .2, .3, .1, .05, .25}},
		"difference":    {H: 1, W: 2, CX: 1, Weights: []float32{1, -1}},
		"sharpening":    {H: 3, W: 3, CY: 1, CX: 1, Weights: []float32{0, -1, 0, -1, 5, -1, 0, -1, 0}},
		"lopsided ±":    {H: 2, W: 3, CY: 0, CX: 1, Weights: []float32{.5, -.25, .75, 1, -1.5, .1}},
		"longer":        must(NewKernel([]float32{1, 1, 2, 3, 1, 1, 0, 2, 4, 1, 9, 1, 1, 2, 3, 3, 1}, 1, 17)),
		"zero":          {H: 2, W: 2, CY: 1, CX: 1, Weights: make([]float32, 4)},
		"not summing 1": {H: 1, W: 3, CX: 1, Weights: []float32{.3, .9, .1}},
	}
}

// testSizes are photographs, some smaller than the kernels.
var testSizes = [][2]int{{1, 1}, {1, 9}, {8, 1}, {2, 3}, {5, 4}, {7, 10}, {12, 11}}

// testOperators calls f for the operator of every kernel, boundary, size and method.
func testOperators(t *testing.T, f func(t *testing.T, dev backend.Device, o *Operator)) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer func() { require.NoError(t, dev.Close()) }()
	for name, k := range testKernels(t) {
		for b := Unknown; b <= Reflect; b++ {
			for i, s := range testSizes {
				if testing.Short() && i%2 == 1 {
					continue // long under emulation; go test ./... has all sizes
				}
				for method, m := range []backend.BlurMethod{backend.DirectBlur, backend.FourierBlur} {
					t.Run(fmt.Sprintf("%s/%v/%dx%d/%d", name, b, s[0], s[1], method), func(t *testing.T) {
						o, err := newOperator(dev, k, b, s[0], s[1], m)
						require.NoError(t, err)
						defer o.Free()
						f(t, dev, o)
					})
				}
			}
		}
	}
}

// dense is K of one channel, in float64 and from the definition.
func dense(o *Operator) *mat.Dense {
	dh, dw := o.Domain()
	top, left := o.Offset()
	m := mat.NewDense(o.h*o.w, dh*dw, nil)
	at := func(i, n int) int {
		switch {
		case i >= 0 && i < n:
			return i
		case o.boundary == Circular:
			return ((i % n) + n) % n
		case o.boundary == Reflect:
			for i < 0 || i >= n {
				i = max(-1-i, min(i, 2*n-1-i))
			}
			return i
		}
		return -1
	}
	for p := range o.h * o.w {
		for i, v := range o.kernel.Weights {
			y := at(top+p/o.w+o.kernel.CY-i/o.kernel.W, dh)
			x := at(left+p%o.w+o.kernel.CX-i%o.kernel.W, dw)
			if y >= 0 && x >= 0 {
				m.Set(p, y*dw+x, m.At(p, y*dw+x)+float64(v))
			}
		}
	}
	return m
}

func TestOperators(t *testing.T) {
	testOperators(t, func(t *testing.T, dev backend.Device, o *Operator) {
		const channels = 2
		h, w := o.Range()
		dh, dw := o.Domain()
		x, xs := devicetest.Noise(t, dev, channels, dh, dw, 1)
		y, ys := devicetest.Noise(t, dev, channels, h, w, 2)
		kx, _ := devicetest.Noise(t, dev, channels, h, w, 3)
		kty, _ := devicetest.Noise(t, dev, channels, dh, dw, 4)
		require.NoError(t, o.Apply(kx, x))
		require.NoError(t, o.Adjoint(kty, y))
		gotKx, gotKty := devicetest.Download(t, dev, kx), devicetest.Download(t, dev, kty)

		// Both agree with the matrix.
		m := dense(o)
		scale := 1e-6 * (1 + response.SumAbove(o.kernel.Weights)) * 8
		for c := range channels {
			var want mat.VecDense
			want.MulVec(m, vector(xs[c*dh*dw:][:dh*dw]))
			require.Less(t, apart(&want, gotKx[c*h*w:]), scale)
			want.Reset()
			want.MulVec(m.T(), vector(ys[c*h*w:][:h*w]))
			require.Less(t, apart(&want, gotKty[c*dh*dw:]), scale)
		}

		// ⟨Kx, y⟩ = ⟨x, Kᵀy⟩.
		require.InDelta(t, devicetest.Dot(gotKx, ys), devicetest.Dot(xs, gotKty), scale*math.Sqrt(devicetest.Dot(xs, xs)*devicetest.Dot(ys, ys)))

		bound, reason := o.Norm()
		if testing.Short() && (o.h != 5 || o.w != 4) {
			return // ninety blurs more, which take most of the time under emulation; go test ./... makes them at each size
		}
		require.NoError(t, operatortest.TestLinear(dev, o))

		// The bound is one, and not much of one: below it are the largest singular
		// value and what power iteration finds.
		require.NotEmpty(t, reason)
		estimate, err := operator.EstimateNorm(t.Context(), dev, o, 30, 5)
		require.NoError(t, err)
		require.GreaterOrEqual(t, bound, estimate*(1-1e-5), reason)
		if !testing.Short() { // singular values, in one goroutine and at no level, take most of the time; go test ./... has them
			var svd mat.SVD
			require.True(t, svd.Factorize(m, mat.SVDNone))
			norm := svd.Values(nil)[0]
			require.GreaterOrEqual(t, bound, norm*(1-1e-12), reason)
			require.LessOrEqual(t, estimate, norm*(1+1e-5)+1e-6)
			if o.boundary == Circular {
				require.InDelta(t, norm, bound, 1e-9*(1+norm), reason)
			}
		}

		for _, b := range []backend.Buffer{x, y, kx, kty} {
			b.Free()
		}
	})
}

// apart is the largest difference between two vectors, NaN if one has a NaN.
func apart(want *mat.VecDense, got []float32) float64 {
	worst := 0.0
	for i := range want.Len() {
		worst = max(worst, math.Abs(want.AtVec(i)-float64(got[i])))
	}
	return worst
}

func vector(x []float32) *mat.VecDense {
	v := mat.NewVecDense(len(x), nil)
	for i := range x {
		v.SetVec(i, float64(x[i]))
	}
	return v
}

// Kernels of this package blur with norm 1 wherever a constant image, or nothing, says so.
func TestNormIsExactlyOne(t *testing.T) {
	for seed := range uint64(8) {
		k := made(t)(Shake(21, seed))
		for _, b := range []Boundary{Unknown, Circular, Zero} {
			bound, _ := normBound(k, b, 40, 50)
			require.Equal(t, 1.0, bound, b)
		}
		bound, reason := normBound(k, Reflect, 40, 50)
		require.GreaterOrEqual(t, bound, 1.0)
		require.Less(t, bound, 1.3, reason)
	}
	bound, _ := normBound(made(t)(Disk(4.2)), Reflect, 40, 50)
	require.Equal(t, 1.0, bound)
	bound, reason := normBound(Kernel{H: 1, W: 3, CX: 1, Weights: []float32{0, 0, 1}}, Reflect, 5, 5)
	require.InDelta(t, math.Sqrt2, bound, 1e-12, "a reflected shift doubles the energy of the edge: %s", reason)
}

// The bound of a reflecting blur looks at a small image only; it must hold for any.
func TestReflectBoundOfLargeImages(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	for name, k := range map[string]Kernel{"shake": made(t)(Shake(9, 1)), "corner": testKernels(t)["corner"], "±": testKernels(t)["lopsided ±"]} {
		for _, s := range [][2]int{{20, 150}, {150, 20}, {130, 140}} {
			if testing.Short() && s[0] == 130 {
				continue // 80 blurs of a large image; go test ./... makes them
			}
			o, err := New(dev, k, Reflect, s[0], s[1])
			require.NoError(t, err)
			bound, reason := o.Norm()
			estimate, err := operator.EstimateNorm(t.Context(), dev, o, 80, 1)
			require.NoError(t, err)
			require.GreaterOrEqual(t, bound, estimate*(1-1e-6), "%s: %s", name, reason)
			if name != "±" {
				require.LessOrEqual(t, bound, estimate*1.12, "%s: %s", name, reason)
			}
			large, _ := reflectBound(k, 1<<20, 1<<20)
			require.GreaterOrEqual(t, large, estimate*(1-1e-6), name)
			o.Free()
		}
	}
}

// Schur's test from partial sums is the first step of the iteration.
func TestSchurBoundIsTheIterationsFirst(t *testing.T) {
	for name, k := range testKernels(t) {
		for _, s := range append(testSizes, [2]int{40, 45}) {
			require.InDelta(t, newNonnegativeBlur(k, s[0], s[1]).ratio(0), schurBound(k, s[0], s[1]), 1e-9, "%s %v", name, s)
		}
	}
}

// A kernel too large for the iteration still has a bound.
func TestReflectBoundOfALargeKernel(t *testing.T) {
	weights := make([]float32, 401*401)
	for i := range weights {
		weights[i] = float32(i % 401)
	}
	k := made(t)(NewKernel(weights, 401, 401))
	bound, reason := normBound(k, Reflect, 4000, 6000)
	require.Contains(t, reason, "Schur")
	require.GreaterOrEqual(t, bound, 1.0)
	require.Less(t, bound, 1.5)
}

// Only the pixels inside the frame are asked for.
func TestCropAndExtend(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	k := Kernel{H: 3, W: 4, CY: 0, CX: 1, Weights: made(t)(NewKernel([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, 3, 4)).Weights}
	o, err := New(dev, k, Unknown, 2, 3)
	require.NoError(t, err)
	defer o.Free()
	dh, dw := o.Domain()
	require.Equal(t, [2]int{4, 6}, [2]int{dh, dw})
	top, left := o.Offset()
	require.Equal(t, [2]int{2, 2}, [2]int{top, left})
	photograph := []float32{1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}
	extended := make([]float32, 2*dh*dw)
	require.NoError(t, o.Extend(extended, photograph))
	require.Equal(t, []float32{
		5, 4, 4, 5, 6, 6,
		2, 1, 1, 2, 3, 3,
		2, 1, 1, 2, 3, 3,
		5, 4, 4, 5, 6, 6,
	}, extended[:dh*dw])
	back := make([]float32, len(photograph))
	require.NoError(t, o.Crop(back, extended))
	require.Equal(t, photograph, back)
	require.Error(t, o.Crop(back[:5], extended))
	require.Error(t, o.Extend(extended[:24], photograph))
}

func TestOperatorRefuses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	good := made(t)(Box(3))
	bad := good
	bad.CY = 3
	nan := Kernel{H: 1, W: 1, Weights: []float32{float32(math.NaN())}}
	for name, err := range map[string]error{
		"no kernel":   refused(New(dev, Kernel{}, Circular, 4, 4)),
		"centre":      refused(New(dev, bad, Circular, 4, 4)),
		"NaN":         refused(New(dev, nan, Circular, 4, 4)),
		"boundary":    refused(New(dev, good, 4, 4, 4)),
		"no rows":     refused(New(dev, good, Zero, 0, 4)),
		"no columns":  refused(New(dev, good, Unknown, 4, -1)),
		"many pixels": refused(New(dev, good, Unknown, math.MaxInt, math.MaxInt)),
	} {
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n")
	}

	o, err := New(dev, good, Zero, 4, 4)
	require.NoError(t, err)
	_, err = operator.EstimateNorm(t.Context(), dev, o, 0, 1)
	require.ErrorContains(t, err, "at least 1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = operator.EstimateNorm(ctx, dev, o, 3, 1)
	require.ErrorIs(t, err, context.Canceled)
	x, _ := devicetest.Noise(t, dev, 1, 4, 4, 1)
	y, _ := devicetest.Noise(t, dev, 1, 4, 5, 1)
	require.ErrorIs(t, o.Apply(x, y), backend.ErrShape)
	require.Error(t, o.Wiener(x, y, .1))
	require.ErrorContains(t, o.Wiener(x, x, 0), "ratio")
	require.ErrorContains(t, o.Wiener(x, x, math.NaN()), "ratio")
	o.Free()
	o.Free()
	require.ErrorIs(t, o.Adjoint(x, x), backend.ErrFreed)
}

func refused(_ *Operator, err error) error { return err }

func TestParseBoundary(t *testing.T) {
	for b := Unknown; b <= Reflect; b++ {
		parsed, err := ParseBoundary(b.String())
		require.NoError(t, err)
		require.Equal(t, b, parsed)
	}
	_, err := ParseBoundary("periodic")
	require.ErrorContains(t, err, "unknown, circular, zero or reflect")
	require.Equal(t, "Boundary(9)", Boundary(9).String())
}

// A device that cannot hold the image says so, before Go is asked for as much and ends the process.
func TestBlurThatNoMemoryHolds(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1), cpu.MemoryLimit(1<<20))
	defer dev.Close()
	for _, boundary := range []Boundary{Unknown, Circular, Reflect} {
		for _, size := range [][2]int{{1, 1 << 20}, {1 << 20, 1}, {1000, 1000}} {
			_, err := New(dev, testKernels(t)["motion"], boundary, size[0], size[1])
			require.ErrorIs(t, err, backend.ErrOutOfMemory, "%v %v", boundary, size)
		}
		_, err := New(dev, testKernels(t)["motion"], boundary, math.MaxInt32, math.MaxInt32)
		require.ErrorIs(t, err, backend.ErrShape, boundary)
	}
}
