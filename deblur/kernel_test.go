package deblur

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// made returns a function that gives the kernel and fails the test on an error.
func made(t testing.TB) func(k Kernel, err error) Kernel {
	return func(k Kernel, err error) Kernel {
		t.Helper()
		require.NoError(t, err)
		return k
	}
}

// requireNormalised checks what holds for every kernel of this package.
func requireNormalised(t require.TestingT, k Kernel) {
	require.NoError(t, k.Check())
	sum := 0.0
	for _, v := range k.Weights {
		sum += float64(v)
	}
	require.GreaterOrEqual(t, slices.Min(k.Weights), float32(0))
	require.Equal(t, 1.0, sum, "the weights sum to exactly 1")
	require.Equal(t, k.H/2, k.CY)
	require.Equal(t, k.W/2, k.CX)
	line := func(n, start, step int) bool {
		for i := range n {
			if k.Weights[start+i*step] != 0 {
				return true
			}
		}
		return false
	}
	if k.H > 1 {
		require.True(t, line(k.W, 0, 1) || k.H%2 == 1 && line(k.W, (k.H-1)*k.W, 1), "rows to trim")
	}
	if k.W > 1 {
		require.True(t, line(k.H, 0, k.W) || k.W%2 == 1 && line(k.H, k.W-1, k.W), "columns to trim")
	}
}

func centroid(k Kernel) (y, x float64) {
	for i, v := range k.Weights {
		y += float64(v) * float64(i/k.W-k.CY)
		x += float64(v) * float64(i%k.W-k.CX)
	}
	return y, x
}

func TestMadeKernels(t *testing.T) {
	must := made(t)
	kernels := map[string]Kernel{}
	for _, length := range []float64{1, 2, 4.5, 9, 30, 257} {
		for _, angle := range []float64{0, 17, 45, 90, 135, -20, 400} {
			kernels[fmt.Sprintf("motion %v at %v", length, angle)] = must(Motion(length, angle))
		}
	}
	for _, s := range []float64{.01, .3, 1, 2.5, 9} {
		kernels[fmt.Sprint("Gaussian ", s)] = must(Gaussian(s))
		kernels[fmt.Sprint("disk ", s)] = must(Disk(s))
	}
	for _, n := range []int{1, 2, 3, 4, 9, 31} {
		kernels[fmt.Sprint("box ", n)] = must(Box(n))
	}
	for name, k := range kernels {
		t.Run(name, func(t *testing.T) {
			requireNormalised(t, k)
			require.Equal(t, 1, k.H%2)
			require.Equal(t, 1, k.W%2)
			y, x := centroid(k)
			require.InDelta(t, 0, y, 1e-6)
			require.InDelta(t, 0, x, 1e-6)
			// Where rounding falls a weight may differ from its mirror image by
			// one step of the common power of two.
			worst := 0.0
			for i, v := range k.Weights {
				worst = max(worst, math.Abs(float64(v-k.Weights[len(k.Weights)-1-i])))
			}
			require.LessOrEqual(t, worst, 1e-6)
		})
	}
	for seed := range uint64(30) {
		k := must(Shake(31, seed))
		requireNormalised(t, k)
		require.Equal(t, 31, max(k.H, k.W), "the path reaches the border")
		y, x := centroid(k)
		require.InDelta(t, 0, y, 1e-5)
		require.InDelta(t, 0, x, 1e-5)
		require.Equal(t, k, must(Shake(31, seed)))
		require.NotEqual(t, k, must(Shake(31, seed+1)))
	}
}

func TestShapesOfMadeKernels(t *testing.T) {
	must := made(t)
	require.Equal(t, Kernel{H: 1, W: 1, Weights: []float32{1}}, must(Motion(1, 0)))
	require.Equal(t, Kernel{H: 1, W: 1, Weights: []float32{1}}, must(Disk(.5)))
	require.Equal(t, Kernel{H: 1, W: 5, CX: 2, Weights: []float32{.125, .25, .25, .25, .125}}, must(Motion(4, 0)))
	require.Equal(t, Kernel{H: 5, W: 1, CY: 2, Weights: []float32{.125, .25, .25, .25, .125}}, must(Motion(4, 90)))
	require.Equal(t, Kernel{H: 3, W: 3, CY: 1, CX: 1,
		Weights: []float32{1. / 16, 1. / 8, 1. / 16, 1. / 8, 1. / 4, 1. / 8, 1. / 16, 1. / 8, 1. / 16}}, must(Box(2)))

	// Counterclockwise: at 45° the line goes to the upper right.
	k := must(Motion(9, 45))
	require.Greater(t, k.Weights[(k.CY-2)*k.W+k.CX+2], float32(.05))
	require.Less(t, k.Weights[(k.CY-2)*k.W+k.CX-2], float32(1e-6))

	// The bar's area is its length, whatever the angle.
	for angle := 0.0; angle < 180; angle += 7 {
		k := must(Motion(40, angle))
		require.InDelta(t, 1./40, k.Weights[k.CY*k.W+k.CX], .2/40)
	}

	// Moments: of a disk ∫x² = r²/4, of a bar along its length L²/12, both blurred by
	// about the sample's own 1/12; of a Gaussian its variance.
	second := func(k Kernel) (y, x float64) {
		for i, v := range k.Weights {
			y += float64(v) * math.Pow(float64(i/k.W-k.CY), 2)
			x += float64(v) * math.Pow(float64(i%k.W-k.CX), 2)
		}
		return y, x
	}
	y, x := second(must(Disk(7.3)))
	require.InDelta(t, 7.3*7.3/4+1./12, y, .03)
	require.InDelta(t, y, x, 1e-5)
	y, x = second(must(Gaussian(3)))
	require.InDelta(t, 9, y, .03)
	require.InDelta(t, 9, x, .03)
	y, x = second(must(Motion(20, 60)))
	require.InDelta(t, 400./12*.75+.25/12+1./12, y, .05)
	require.InDelta(t, 400./12*.25+.75/12+1./12, x, .05)
}

// Equal seeds give equal bits everywhere: this kernel was computed once.
func TestShakeIsFixed(t *testing.T) {
	k := made(t)(Shake(5, 42))
	require.Equal(t, []float32{
		0x1.501edp-04, 0x1.24481p-04, 0x1.d517p-08, 0, 0,
		0x1.d299cp-06, 0x1.68152p-04, 0x1.a869bp-04, 0x1.25d5p-08, 0,
		0, 0x1.2cap-13, 0x1.bd471p-04, 0x1.1fd62p-05, 0,
		0, 0, 0x1.163f48p-03, 0x1.0602a8p-02, 0x1.27d1p-08,
		0, 0, 0x1.3181p-08, 0x1.068bfp-04, 0x1.8527p-08,
	}, k.Weights)
}

func TestMadeKernelsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, err := range map[string]error{
		"motion too short":  second(Motion(.5, 0)),
		"motion too long":   second(Motion(2001, 0)),
		"motion NaN":        second(Motion(nan, 0)),
		"motion angle":      second(Motion(3, inf)),
		"Gaussian zero":     second(Gaussian(0)),
		"Gaussian negative": second(Gaussian(-1)),
		"Gaussian wide":     second(Gaussian(251)),
		"Gaussian NaN":      second(Gaussian(nan)),
		"disk zero":         second(Disk(0)),
		"disk wide":         second(Disk(inf)),
		"box empty":         second(Box(0)),
		"box wide":          second(Box(2001)),
		"shake even":        second(Shake(4, 1)),
		"shake small":       second(Shake(1, 1)),
		"shake wide":        second(Shake(2003, 1)),
	} {
		require.ErrorContains(t, err, "want", name)
	}
	if testing.Short() {
		return // four million weights each; go test ./... has them
	}
	for _, k := range []Kernel{made(t)(Motion(2000, 45)), made(t)(Gaussian(250)), made(t)(Box(2000))} {
		require.NoError(t, k.Check(), "what the limits allow is a kernel")
	}
}

func second(_ Kernel, err error) error { return err }

func TestNewKernel(t *testing.T) {
	must := made(t)
	k := must(NewKernel([]float32{0, 0, 0, 0, 2, 6, 0, 0, 0}, 3, 3))
	require.Equal(t, Kernel{H: 1, W: 3, CX: 1, Weights: []float32{0, .25, .75}}, k)

	// Of an even number the centre is behind the middle, also after trimming.
	require.Equal(t, Kernel{H: 1, W: 2, CX: 1, Weights: []float32{.5, .5}}, must(NewKernel([]float32{1, 1}, 1, 2)))
	require.Equal(t, Kernel{H: 1, W: 3, CX: 1, Weights: []float32{.5, 0, .5}}, must(NewKernel([]float32{0, 1, 0, 1}, 1, 4)))
	require.Equal(t, Kernel{H: 1, W: 1, Weights: []float32{1}}, must(NewKernel([]float32{0, 0, 9, 0}, 4, 1)))

	// Any scale, from the smallest number to the largest.
	for _, scale := range []float32{1e-45, 1e-30, 1, 1e38} {
		require.Equal(t, []float32{.25, .5, .25}, must(NewKernel([]float32{scale, scale * 2, scale}, 1, 3)).Weights)
	}

	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, err := range map[string]error{
		"black":    second(NewKernel(make([]float32, 9), 3, 3)),
		"negative": second(NewKernel([]float32{1, -1e-9}, 1, 2)),
		"NaN":      second(NewKernel([]float32{1, nan}, 1, 2)),
		"infinite": second(NewKernel([]float32{inf, 1}, 1, 2)),
		"short":    second(NewKernel([]float32{1}, 1, 2)),
		"empty":    second(NewKernel(nil, 0, 0)),
		"large":    second(NewKernel(make([]float32, 2048), 1, 2048)),
		"planes":   second(KernelFromPlanes(make([]float32, 5), 3, 1, 2)),
		"overflow": second(KernelFromPlanes(make([]float32, 4), 1<<(bits.UintSize-2), 2, 2)),
		"no plane": second(KernelFromPlanes(nil, 0, 2, 2)),
		"below 0":  second(KernelFromPlanes([]float32{1, 1, 3, -1}, 2, 1, 2)),
		"no image": second(KernelFromImage(nil)),
		"no pixel": second(KernelFromImage(image.NewGray(image.Rect(0, 0, 0, 5)))),
		"dark":     second(KernelFromImage(image.NewGray(image.Rect(0, 0, 5, 5)))),
		"photo":    second(KernelFromImage(image.NewGray(image.Rect(0, 0, 5000, 1)))),
	} {
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestKernelFromImage(t *testing.T) {
	must := made(t)
	grey := image.NewGray(image.Rect(-2, 5, 1, 6)) // an image need not begin at (0, 0)
	copy(grey.Pix, []uint8{100, 200, 100})
	want := Kernel{H: 1, W: 3, CX: 1, Weights: []float32{.25, .5, .25}}
	require.Equal(t, want, must(KernelFromImage(grey)))

	colours := image.NewNRGBA(image.Rect(0, 0, 3, 1))
	colours.Set(0, 0, color.NRGBA{R: 150, G: 150, A: 255})
	colours.Set(1, 0, color.NRGBA{R: 200, G: 200, B: 200, A: 255})
	colours.Set(2, 0, color.NRGBA{B: 255, G: 45, A: 255})
	require.Equal(t, want, must(KernelFromImage(colours)), "the mean of red, green and blue")
	require.Equal(t, want, must(KernelFromPlanes([]float32{1, 2, 0, 1, 2, 0, 0, 0, 2}, 3, 1, 3)))

	transparent := image.NewNRGBA(image.Rect(0, 0, 3, 1))
	for x, alpha := range []uint8{0, 255, 0} {
		transparent.Set(x, 0, color.NRGBA{R: 255, G: 255, B: 255, A: alpha})
	}
	require.Equal(t, []float32{1}, must(KernelFromImage(transparent)).Weights)
}

func TestKernelImageRoundTrip(t *testing.T) {
	must := made(t)
	for name, k := range map[string]Kernel{
		"shake": must(Shake(31, 3)), "motion": must(Motion(12.5, 33)), "even": must(NewKernel([]float32{3, 1, 2, 5}, 2, 2)),
	} {
		img, err := k.Image()
		require.NoError(t, err)
		back := must(KernelFromImage(img))
		require.Equal(t, [4]int{k.H, k.W, k.CY, k.CX}, [4]int{back.H, back.W, back.CY, back.CX}, name)
		top := float32(0)
		for _, v := range k.Weights {
			top = max(top, v)
		}
		for i, v := range k.Weights {
			require.InDelta(t, v, back.Weights[i], float64(top)/0x1p14, name)
		}
	}
	_, err := Kernel{H: 1, W: 2, Weights: []float32{1, -1}}.Image()
	require.ErrorContains(t, err, "below 0")
	_, err = Kernel{H: 1, W: 1, Weights: []float32{0}}.Image()
	require.ErrorContains(t, err, "all zero")
	_, err = Kernel{H: 1, W: 1}.Image()
	require.Error(t, err)
}

func TestKernelsOfArraysAreNormalised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 9).Draw(t, "h"), rapid.IntRange(1, 9).Draw(t, "w")
		weights := rapid.SliceOfN(rapid.Float32Range(0, 1e30), h*w, h*w).Draw(t, "weights")
		sum := 0.0
		for _, v := range weights {
			sum += float64(v)
		}
		k, err := NewKernel(weights, h, w)
		if sum == 0 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireNormalised(t, k)
		for i, v := range k.Weights {
			y, x := i/k.W-k.CY+h/2, i%k.W-k.CX+w/2
			require.InDelta(t, float64(weights[y*w+x])/sum, v, 1e-5)
		}
	})
}

func FuzzNewKernel(f *testing.F) {
	for _, k := range []struct {
		h, w   int
		pixels []byte
	}{
		{1, 1, []byte{0, 0, 128, 63}},
		{2, 2, []byte{0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 64, 255, 255, 127, 127}},
		{1, 2, []byte{0, 0, 192, 127, 0, 0, 128, 255}}, // NaN and −∞
		{3, 1, []byte{1, 0, 0, 0, 0, 0, 0, 128, 2, 0, 0, 0}},
		{-1, 0, nil}, {1 << (bits.UintSize/2 + 1), 1 << (bits.UintSize/2 + 1), nil}, {0, 7, []byte{1}},
	} {
		f.Add(k.h, k.w, k.pixels)
	}
	f.Fuzz(func(t *testing.T, h, w int, pixels []byte) {
		weights := make([]float32, len(pixels)/4)
		for i := range weights {
			bits := uint32(pixels[4*i]) | uint32(pixels[4*i+1])<<8 | uint32(pixels[4*i+2])<<16 | uint32(pixels[4*i+3])<<24
			weights[i] = math.Float32frombits(bits)
		}
		k, err := NewKernel(weights, h, w)
		same, again := KernelFromPlanes(weights, 1, h, w)
		require.Equal(t, err == nil, again == nil)
		if err != nil {
			return
		}
		requireNormalised(t, k)
		require.Equal(t, k, same)
		_, err = k.Image()
		require.NoError(t, err)
	})
}
