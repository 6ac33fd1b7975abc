package upscale

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/internal/response"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// denseDownsampling is K of one channel: the rows of the blur's matrix that are kept.
func denseDownsampling(d *Downsampling) *mat.Dense {
	return dense(d.blur, (d.factor-1)/2, d.factor, d.h, d.w)
}

// downsamplingKernels are those of the blurs, and the ones made for a factor.
func downsamplingKernels(t testing.TB, factor int) map[string]deblur.Kernel {
	kernels := testKernels(t)
	for a := Bicubic; a <= NoAntialias; a++ {
		kernels[a.String()] = made(t)(a.Kernel(factor))
	}
	return kernels
}

// Every kernel, boundary, factor and size: against the matrix, its transpose and its
// largest singular value.
func TestDownsampling(t *testing.T) {
	for name, dev := range map[string]backend.Device{"cpu": cputest.Open(t, cpu.Threads(2)), "reference": refdevice.New(refdevice.Options{})} {
		t.Run(name, func(t *testing.T) {
			defer dev.Close()
			rapid.Check(t, func(r *rapid.T) {
				factor := rapid.IntRange(1, 5).Draw(r, "factor")
				kernels := downsamplingKernels(t, factor)
				k := kernels[rapid.SampledFrom(sortedNames(kernels)).Draw(r, "kernel")]
				b := deblur.Boundary(rapid.IntRange(0, int(deblur.Reflect)).Draw(r, "boundary"))
				h, w := rapid.IntRange(1, 4).Draw(r, "rows"), rapid.IntRange(1, 4).Draw(r, "columns")
				d, err := NewDownsampling(dev, k, b, factor, h, w)
				require.NoError(r, err)
				defer d.Free()
				const channels = 2
				dh, dw := d.Domain()
				x, xs := devicetest.Noise(t, dev, channels, dh, dw, 1)
				y, ys := devicetest.Noise(t, dev, channels, h, w, 2)
				kx, _ := devicetest.Noise(t, dev, channels, h, w, 3)
				kty, _ := devicetest.Noise(t, dev, channels, dh, dw, 4)
				for range 2 { // the second time with scratch memory that has been used
					require.NoError(r, d.Apply(kx, x))
					require.NoError(r, d.Adjoint(kty, y))
				}
				gotX, gotY := devicetest.Download(t, dev, kx), devicetest.Download(t, dev, kty)
				m := denseDownsampling(d)
				scale := 1e-5 * (1 + response.SumAbove(k.Weights))
				for c := range channels {
					var want mat.VecDense
					want.MulVec(m, vector(xs[c*dh*dw:][:dh*dw]))
					for i := range h * w {
						require.InDelta(r, want.AtVec(i), gotX[c*h*w+i], scale)
					}
					want.Reset()
					want.MulVec(m.T(), vector(ys[c*h*w:][:h*w]))
					for i := range dh * dw {
						require.InDelta(r, want.AtVec(i), gotY[c*dh*dw+i], scale)
					}
				}
				require.InDelta(r, devicetest.Dot(gotX, ys), devicetest.Dot(xs, gotY), scale*math.Sqrt(devicetest.Dot(xs, xs)*devicetest.Dot(ys, ys)))

				bound, reason := d.Norm()
				norm := largestSingularValue(t, m)
				require.GreaterOrEqual(r, bound, norm*(1-1e-9), reason)
				if b == deblur.Circular {
					require.InDelta(r, norm, bound, 1e-7*(1+norm), reason)
				}
				require.GreaterOrEqual(r, bound*(1+1e-5), devicetest.Norm(t, dev, d, 8), reason)
				require.NoError(r, operatortest.TestLinear(dev, d))
			})
		})
	}
}

// largestSingularValue is the root of the largest eigenvalue of KKᵀ, which is small.
func largestSingularValue(t testing.TB, m *mat.Dense) float64 {
	rows, _ := m.Dims()
	square := mat.NewSymDense(rows, nil)
	square.SymOuterK(1, m)
	var e mat.EigenSym
	require.True(t, e.Factorize(square, false))
	return math.Sqrt(max(0, e.Values(nil)[rows-1]))
}

func sortedNames(kernels map[string]deblur.Kernel) []string {
	names := make([]string, 0, len(kernels))
	for name := range kernels {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The bound is near the truth, and so the step 1/‖K‖² nearly as long as it may be.
func TestDownsamplingNormIsTight(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	for factor := 2; factor <= 4; factor++ {
		for a := Bicubic; a <= NoAntialias; a++ {
			for b := deblur.Unknown; b <= deblur.Reflect; b++ {
				if testing.Short() && (factor+int(a)+int(b))%3 != 0 {
					continue // a third, with each pair of the three; go test ./... has all
				}
				k := made(t)(a.Kernel(factor))
				d, err := NewDownsampling(dev, k, b, factor, 15, 18)
				require.NoError(t, err)
				bound, reason := d.Norm()
				estimate := devicetest.Norm(t, dev, d, 60)
				require.LessOrEqual(t, estimate, bound*(1+1e-6), "%v by %d, %s", a, factor, reason)
				require.GreaterOrEqual(t, estimate, 0.97*bound, "%v by %d, %s", a, factor, reason)
				whole, _ := d.Blur().Norm()
				if a != NoAntialias {
					require.Less(t, bound, 1.2*whole/float64(factor), "%v by %d, %s", a, factor, reason)
				}
				d.Free()
			}
		}
	}
	// A blur in addition.
	k, err := deblur.Convolve(made(t)(deblur.Shake(9, 3)), made(t)(Bicubic.Kernel(3)))
	require.NoError(t, err)
	for b := deblur.Unknown; b <= deblur.Reflect; b++ {
		d, err := NewDownsampling(dev, k, b, 3, 20, 22)
		require.NoError(t, err)
		bound, reason := d.Norm()
		estimate := devicetest.Norm(t, dev, d, 60)
		require.LessOrEqual(t, estimate, bound*(1+1e-6), reason)
		if b != deblur.Reflect {
			require.GreaterOrEqual(t, estimate, 0.95*bound, reason)
		}
		d.Free()
	}
}

// A kernel whose autocorrelation would take too long has the blur's bound.
func TestDownsamplingNormOfALargeKernel(t *testing.T) {
	weights := make([]float32, 301*301)
	for i := range weights {
		weights[i] = float32(1 + i%7)
	}
	d, err := NewDownsampling(newTestDevice(t), made(t)(deblur.NewKernel(weights, 301, 301)), deblur.Zero, 2, 5, 5)
	require.NoError(t, err)
	bound, reason := d.Norm()
	require.Contains(t, reason, "keeps some samples")
	require.Equal(t, 1.0, bound)
}

func newTestDevice(t *testing.T) backend.Device {
	dev := cputest.Open(t, cpu.Threads(2))
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// Kernels and samples are where they should be: a ramp scaled down has the values of the
// ramp in the middle of each square, and interpolation takes it back.
func TestDownsamplingIsCentred(t *testing.T) {
	dev := newTestDevice(t)
	for factor := 1; factor <= 5; factor++ {
		for a := Bicubic; a <= NoAntialias; a++ {
			t.Run(fmt.Sprintf("%v by %d", a, factor), func(t *testing.T) {
				const h, w = 9, 8
				d, err := NewDownsampling(dev, made(t)(a.Kernel(factor)), deblur.Unknown, factor, h, w)
				require.NoError(t, err)
				defer d.Free()
				dh, dw := d.Domain()
				top, left := d.Blur().Offset()
				at := func(y, x float64) float32 { return float32(0.01*y - 0.02*x) }
				ramp, fine := make([]float32, dh*dw), make([]float32, factor*h*factor*w)
				for i := range ramp {
					ramp[i] = at(float64(i/dw-top), float64(i%dw-left))
				}
				require.NoError(t, d.Crop(fine, ramp))
				x, err := dev.Alloc(backend.Image(1, dh, dw))
				require.NoError(t, err)
				require.NoError(t, dev.Upload(x, ramp))
				y, err := dev.Alloc(backend.Image(1, h, w))
				require.NoError(t, err)
				require.NoError(t, d.Apply(y, x))
				small := devicetest.Download(t, dev, y)
				shift := 0.0
				if a == NoAntialias && factor%2 == 0 {
					shift = 0.5 // no kernel to be half a sample aside
				}
				for i, v := range small {
					middle := float64(factor-1)/2 - shift
					require.InDelta(t, at(float64(factor*(i/w))+middle, float64(factor*(i%w))+middle), v, 1e-6)
				}
				if shift > 0 {
					return
				}
				large := make([]float32, len(fine))
				require.NoError(t, Interpolate(large, small, h, w, factor, 2))
				for i, v := range large {
					yy, xx := i/(factor*w), i%(factor*w)
					if yy >= 2*factor && yy < factor*(h-2) && xx >= 2*factor && xx < factor*(w-2) {
						require.InDelta(t, fine[i], v, 1e-6)
					}
				}
				one := make([]float32, len(fine))
				require.NoError(t, Interpolate(one, small, h, w, factor, 1))
				require.Equal(t, one, large)
			})
		}
	}
}

func TestAntialiasKernels(t *testing.T) {
	for factor := 1; factor <= MaxFactor; factor++ {
		for a := Bicubic; a <= NoAntialias; a++ {
			k := made(t)(a.Kernel(factor))
			require.NoError(t, k.Check())
			sum := 0.0
			for _, v := range k.Weights {
				sum += float64(v)
			}
			require.InDelta(t, 1, sum, 1e-6, "%v by %d", a, factor)
			if a != NoAntialias || factor%2 == 1 {
				require.True(t, symmetricInSquare(k, factor), "%v by %d", a, factor)
			}
			parsed, err := ParseAntialias(a.String())
			require.NoError(t, err)
			require.Equal(t, a, parsed)
		}
	}
	area := made(t)(Area.Kernel(3))
	require.Equal(t, [4]int{3, 3, 1, 1}, [4]int{area.H, area.W, area.CY, area.CX})
	_, err := Bicubic.Kernel(0)
	require.ErrorContains(t, err, "want 1 to 16")
	_, err = Antialias(9).Kernel(2)
	require.ErrorContains(t, err, "want Bicubic")
	require.Equal(t, "Antialias(9)", Antialias(9).String())
	_, err = ParseAntialias("sharp")
	require.ErrorContains(t, err, "bicubic, area, gaussian or none")
}

func TestDownsamplingRefuses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	k := made(t)(Bicubic.Kernel(2))
	for _, c := range [][3]int{{0, 4, 4}, {17, 4, 4}, {2, 0, 4}, {2, 4, -1}, {2, math.MaxInt, 4}, {2, 4, math.MaxInt32}} {
		_, err := NewDownsampling(dev, k, deblur.Zero, c[0], c[1], c[2])
		require.ErrorContains(t, err, ": ")
		require.Error(t, Interpolate(nil, nil, c[1], c[2], c[0], 1))
	}
	_, err := NewDownsampling(dev, deblur.Kernel{}, deblur.Zero, 2, 4, 4)
	require.Error(t, err)
	_, err = NewDownsampling(dev, k, 9, 2, 4, 4)
	require.Error(t, err)
	require.ErrorContains(t, Interpolate(make([]float32, 7), make([]float32, 4), 2, 2, 2, 1), "planes")
	d, err := NewDownsampling(dev, k, deblur.Zero, 2, 4, 4)
	require.NoError(t, err)
	require.Equal(t, 2, d.Factor())
	x, _ := devicetest.Noise(t, dev, 1, 8, 8, 1)
	y, _ := devicetest.Noise(t, dev, 1, 4, 4, 1)
	z, _ := devicetest.Noise(t, dev, 1, 4, 5, 1)
	two, _ := devicetest.Noise(t, dev, 2, 4, 4, 1)
	require.ErrorIs(t, d.Apply(z, x), backend.ErrShape)
	require.ErrorIs(t, d.Apply(two, x), backend.ErrShape)
	require.ErrorIs(t, d.Adjoint(x, z), backend.ErrShape)
	require.ErrorIs(t, d.Adjoint(y, y), backend.ErrShape)
	require.NoError(t, d.Apply(y, x))
	d.Free()
	d.Free()
	require.ErrorIs(t, d.Apply(y, x), backend.ErrFreed)
	require.NoError(t, dev.Close())
	_, err = NewDownsampling(dev, k, deblur.Zero, 2, 4, 4)
	require.ErrorIs(t, err, backend.ErrClosed)
}

// Calls from several goroutines do not disturb each other: the scratch memory is shared.
func TestDownsamplingIsSafeForConcurrentUse(t *testing.T) {
	dev := newTestDevice(t)
	d, err := NewDownsampling(dev, made(t)(Bicubic.Kernel(3)), deblur.Unknown, 3, 9, 8)
	require.NoError(t, err)
	defer d.Free()
	h, w := d.Domain()
	x, _ := devicetest.Noise(t, dev, 2, h, w, 1)
	y, _ := devicetest.Noise(t, dev, 2, 9, 8, 2)
	wantY, _ := devicetest.Noise(t, dev, 2, 9, 8, 3)
	wantX, _ := devicetest.Noise(t, dev, 2, h, w, 4)
	require.NoError(t, d.Apply(wantY, x))
	require.NoError(t, d.Adjoint(wantX, y))
	results := make(chan bool)
	for range 4 {
		gotY, _ := devicetest.Noise(t, dev, 2, 9, 8, 5)
		gotX, _ := devicetest.Noise(t, dev, 2, h, w, 6)
		go func() {
			ok := true
			for range 20 {
				ok = ok && d.Apply(gotY, x) == nil && d.Adjoint(gotX, y) == nil
				var sums [2]float64
				err := dev.Reduce(sums[:], backend.Reduction{Kind: backend.DiffSquares, X: gotY, Y: wantY}, backend.Reduction{Kind: backend.DiffSquares, X: gotX, Y: wantX})
				ok = ok && err == nil && sums == [2]float64{}
			}
			results <- ok
		}()
	}
	for range 4 {
		require.True(t, <-results)
	}
}

func TestNilIsAnError(t *testing.T) {
	k, err := Bicubic.Kernel(2)
	require.NoError(t, err)
	_, err = NewDownsampling(nil, k, deblur.Reflect, 2, 5, 5)
	require.ErrorContains(t, err, "the device is nil")
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	d, err := NewDownsampling(dev, k, deblur.Reflect, 2, 5, 5)
	require.NoError(t, err)
	b, err := dev.Alloc(backend.Image(1, 5, 5))
	require.NoError(t, err)
	for _, f := range []func(dst, src backend.Buffer) error{d.Apply, d.Adjoint} {
		require.Error(t, f(nil, b))
		require.Error(t, f(b, nil))
	}
}
