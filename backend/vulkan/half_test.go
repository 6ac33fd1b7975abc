package vulkan

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/selftest"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open"
)

// half rounds to half precision, ties to even, or cuts off.
func half(v float64, cuts bool) float64 {
	_, e := math.Frexp(v)
	unit := math.Ldexp(1, max(e-11, -24))
	r := math.RoundToEven(v / unit)
	if cuts {
		r = math.Trunc(v / unit)
	}
	if r *= unit; math.Abs(r) > 65504 {
		return math.Inf(int(r))
	}
	return r
}

// down downloads an array.
func down(t require.TestingT, d backend.Device, b backend.Buffer) []float32 {
	v := make([]float32, b.Shape().Len())
	require.NoError(t, d.Download(v, b))
	return v
}

// directly calls f for every number of the convolution of x, of shape s, with w: with its place, and the factors of
// its products.
func directly(s, w backend.Shape, f func(to int, products func(yield func(at, weight int)))) {
	for n := range s.N {
		for o := range w.N {
			for i := range s.Plane() {
				f((n*w.N+o)*s.Plane()+i, func(yield func(at, weight int)) {
					for c := range s.C {
						for tap := range 9 {
							if y, x := i/s.W+tap/3-1, i%s.W+tap%3-1; y >= 0 && y < s.H && x >= 0 && x < s.W {
								yield((n*s.C+c)*s.Plane()+y*s.W+x, (o*w.C+c)*9+tap)
							}
						}
					}
				})
			}
		}
	}
}

// A convolution in half precision is what float32 makes of rounded factors, to within the rounding of float32, and
// so it is as close to the exact one as the rounding of the factors lets it be. So is the adjoint.
func TestHalfRoundsFactorsAlone(t *testing.T) {
	need(t)
	d := open(t, UsePrecision(Half))
	defer shut(t, d)
	cuts := rounds(t, d, 1+0x3p-12) == 1
	t.Logf("the driver cuts digits off: %v", cuts)
	rapid.Check(t, func(t *rapid.T) {
		p := &selftest.Arrays{Device: d}
		defer p.Free()
		s := backend.Shape{N: rapid.IntRange(1, 2).Draw(t, "N"), C: rapid.IntRange(1, 9).Draw(t, "C"), H: rapid.IntRange(1, 12).Draw(t, "H"), W: rapid.IntRange(1, 40).Draw(t, "W")}
		w := backend.Shape{N: rapid.SampledFrom([]int{1, 3, 8, 13, 16, 33}).Draw(t, "outputs"), C: s.C, H: 3, W: 3}
		adjoint := rapid.Bool().Draw(t, "adjoint")
		to := s
		to.C = w.N
		src, dst, weights := p.Numbers(s), p.Alloc(to), p.Numbers(w)
		if adjoint {
			// The adjoint of a filter with inputs and outputs exchanged, turned around.
			weights = p.Numbers(backend.Shape{N: w.C, C: w.N, H: 3, W: 3})
		}
		factor := float32(math.Exp2(rapid.Float64Range(-12, 8).Draw(t, "size"))) // small ones are subnormal in half precision
		require.NoError(t, d.LinearCombination(src, backend.Term{A: factor, X: src}))
		require.NoError(t, p.Err)
		f, err := d.NewFilter(weights)
		require.NoError(t, err)
		p.Own(f)
		x, v := down(t, d, src), down(t, d, weights)
		if adjoint {
			require.NoError(t, d.ConvolveAdjoint(dst, src, f, 0, 1))
			turned := make([]float32, len(v))
			for o := range w.N {
				for c := range w.C {
					for tap := range 9 {
						turned[(o*w.C+c)*9+tap] = v[(c*w.N+o)*9+8-tap]
					}
				}
			}
			v = turned
		} else {
			require.NoError(t, d.Convolve(dst, src, f, backend.ConvEnd{}))
		}
		got := down(t, d, dst)
		const (
			unit     = 0x1p-24 // of float32, times the number of roundings
			factors  = 0x1p-10 // of half precision where digits are cut off, for each factor
			smallest = 0x1p-14 // numbers below may be taken for zero
		)
		directly(s, w, func(to int, products func(yield func(at, weight int))) {
			exact, rounded, size, others, n := 0.0, 0.0, 0.0, 0.0, 1.0
			products(func(at, weight int) {
				a, b := float64(x[at]), float64(v[weight])
				exact += a * b
				rounded += half(a, cuts) * half(b, cuts)
				size += math.Abs(a * b)
				others += math.Abs(a) + math.Abs(b) + smallest
				n++
			})
			off := n * unit * (1 + 3*factors) * (size + smallest*others)
			require.LessOrEqual(t, math.Abs(float64(got[to])-exact), off+(2*factors+factors*factors)*size+smallest*others)
			if factor > 0x1p-4 { // devices may take subnormal numbers for zero: few are there
				off += 0x1p-24 * others
			} else {
				off += smallest * others
			}
			require.LessOrEqual(t, math.Abs(float64(got[to])-rounded), off)
		})
	})
}

// rounds returns what a number is in half precision.
func rounds(t *testing.T, d *Device, v float32) float32 {
	p := &selftest.Arrays{Device: d}
	defer p.Free()
	w, x, y := p.Alloc(backend.Shape{N: 1, C: 1, H: 3, W: 3}), p.Alloc(backend.Image(1, 1, 1)), p.Alloc(backend.Image(1, 1, 1))
	require.NoError(t, p.Err)
	require.NoError(t, d.Upload(w, []float32{0, 0, 0, 0, 1, 0, 0, 0, 0}))
	require.NoError(t, d.Upload(x, []float32{v}))
	f, err := d.NewFilter(w)
	require.NoError(t, err)
	p.Own(f)
	require.NoError(t, d.Convolve(y, x, f, backend.ConvEnd{}))
	return down(t, d, y)[0]
}

// Networks make in half precision the image that they make on the processor, except for rounding, which is no hundredth
// of a decibel of the true image: the limits that CUDA's half precision has.
func TestNetworksInHalfPrecision(t *testing.T) {
	need(t)
	const sigma = 0.15
	s := backend.Image(3, 13, 22)
	noisy, clean := make([]float32, s.Len()), make([]float32, s.Len())
	host, err := cpu.Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	p := &selftest.Arrays{Device: host}
	for i, v := range down(t, host, p.Numbers(s)) {
		y, x := i/s.W%s.H, i%s.W
		clean[i] = 0.5 + 0.3*float32(math.Sin(float64(x)/3))*float32(math.Cos(float64(y+i/s.Plane())/4))
		noisy[i] = clean[i] + sigma/0.3*v
	}
	p.Free()
	for _, name := range []string{weights.Guided, weights.Fast} {
		denoised := func(d backend.Device) []float32 {
			f, err := weights.Open(name)
			require.NoError(t, err)
			n, err := denoise.Load(t.Context(), d, f)
			require.NoError(t, err)
			defer n.Free()
			p := &selftest.Arrays{Device: d}
			defer p.Free()
			x, y := p.Alloc(s), p.Alloc(s)
			require.NoError(t, p.Err)
			require.NoError(t, d.Upload(x, noisy))
			at, err := n.For(t.Context(), sigma)
			require.NoError(t, err)
			defer at.Free()
			radii, err := at.Guide(t.Context(), x, sigma, 1)
			require.NoError(t, err)
			frozen, err := at.Freeze(radii)
			require.NoError(t, err)
			defer frozen.Free()
			require.NoError(t, frozen.Apply(t.Context(), y, x))
			return down(t, d, y)
		}
		d := open(t, UsePrecision(Half))
		want, got := denoised(host), denoised(d)
		shut(t, d)
		lost := psnr(want, clean) - psnr(got, clean)
		t.Logf("%s: %.1f dB from the processor's image; PSNR %.2f dB, %.1e less than the processor's", name, psnr(got, want), psnr(got, clean), lost)
		require.Greater(t, psnr(got, want), 60.0, name)
		require.Less(t, psnr(got, want), 110.0, "%s is in float32", name)
		require.Less(t, math.Abs(lost), 0.01, name)
	}
}

func psnr(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i] - b[i])
		sum += d * d
	}
	return -10 * math.Log10(sum/float64(len(a)))
}

func TestPrecisionsByName(t *testing.T) {
	require.Equal(t, "float32 half Precision(2)", fmt.Sprint(Float32, Half, Half+1))
	_, err := Open(0, UsePrecision(Half+1))
	require.ErrorIs(t, err, backend.ErrArgument)
}
