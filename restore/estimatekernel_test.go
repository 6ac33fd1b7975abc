package restore_test

import (
	"errors"
	"image"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// shaken is the still life of the README as a shaken camera takes it, with the kernel.
var shaken = sync.OnceValues(func() (*restore.Planar, deblur.Kernel) {
	img, err := restore.FromImage(readPNG("../testdata/readme/blurred.png"))
	if err != nil {
		panic(err)
	}
	k, err := deblur.KernelFromImage(readPNG("../testdata/readme/kernel.png"))
	if err != nil {
		panic(err)
	}
	return img, k
})

// kernelError is the square of the difference of two kernels as a share of that of the truth, at the
// best shift by whole samples.
func kernelError(found, truth deblur.Kernel) float64 {
	at := func(k deblur.Kernel, y, x int) float64 {
		if y += k.CY; y < 0 || y >= k.H {
			return 0
		}
		if x += k.CX; x < 0 || x >= k.W {
			return 0
		}
		return float64(k.Weights[y*k.W+x])
	}
	r := max(found.H, found.W, truth.H, truth.W)
	least := math.Inf(1)
	for dy := -3; dy <= 3; dy++ {
		for dx := -3; dx <= 3; dx++ {
			sum := 0.0
			for y := -r; y <= r; y++ {
				for x := -r; x <= r; x++ {
					d := at(found, y+dy, x+dx) - at(truth, y, x)
					sum += d * d
				}
			}
			least = min(least, sum)
		}
	}
	return least / truth.Energy()
}

// With the kernel that is estimated the still life becomes much sharper than it was.
func TestEstimateKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("a kernel is estimated in the tests of deblur/estimate too; this takes long in portable Go")
	}
	img, truth := shaken()
	last := 0.0
	k, report, err := restore.EstimateKernel(t.Context(), img, restore.Progress(func(p backend.Progress) error {
		require.GreaterOrEqual(t, p.Fraction, last)
		last = p.Fraction
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, 1.0, last)
	require.Less(t, kernelError(k, truth), 0.2)
	require.Equal(t, "shake", report.Kind)
	require.Equal(t, "good", report.Trust)
	require.Empty(t, report.Doubts)
	require.Contains(t, report.String(), "trust good (parts of the photograph agree to 0.")

	doubts, err := restore.CheckKernel(t.Context(), img, k)
	require.NoError(t, err)
	require.Empty(t, doubts)
}

func TestEstimateKernelOfASharpPhotograph(t *testing.T) {
	if testing.Short() {
		t.Skip("a kernel is estimated in the tests of deblur/estimate too; this takes long in portable Go")
	}
	k, report, err := restore.EstimateKernel(t.Context(), readPNG("../testdata/scene.png"))
	require.NoError(t, err)
	require.Equal(t, "none", report.Kind)
	require.Equal(t, "no blur", report.String())
	require.Equal(t, []float32{1}, k.Weights)

	_, report, err = restore.EstimateKernel(t.Context(), image.NewGray(image.Rect(0, 0, 3, 9)))
	require.NoError(t, err)
	require.Equal(t, "doubtful", report.Trust)
	require.NotEmpty(t, report.Doubts)
}

// A JPEG has more noise than its smooth parts show.
func TestEstimateKernelOfACompressedPhotograph(t *testing.T) {
	y, _ := shaken()
	part := restore.NewPlanar(1, 90, 120)
	for i := range part.Pix {
		part.Pix[i] = y.Pix[(40+i/120)*y.Width+60+i%120]
	}
	level := func(options ...restore.Option) float64 {
		_, report, err := restore.EstimateKernel(t.Context(), part, options...)
		require.NoError(t, err)
		return report.Sigma
	}
	how := restore.Compressed(restore.Compression{Noise: 0.01})
	require.InDelta(t, math.Hypot(level(), 0.01), level(how), 1e-12)
	require.InDelta(t, 0.02, level(how, restore.Sigma(0.02)), 1e-12, "a level that is given is all")
}

// Of a crop that is too small for parts the doubt says that, and not that it has few edges.
func TestEstimateKernelOfASmallPhotograph(t *testing.T) {
	img, _ := shaken()
	const h, w, top, left = 72, 96, 100, 150
	small := &restore.Planar{Channels: 1, Height: h, Width: w, Pix: make([]float32, h*w)}
	for y := range h {
		copy(small.Pix[y*w:(y+1)*w], img.Pix[(y+top)*img.Width+left:])
	}
	_, report, err := restore.EstimateKernel(t.Context(), small)
	require.NoError(t, err)
	require.NotEqual(t, "none", report.Kind)
	require.Empty(t, report.Parts)
	require.Equal(t, []restore.Doubt{{Text: "the estimated kernel is doubtful: the photograph is too small to compare parts of it"}}, report.Doubts)
}

func TestEstimateKernelRefuses(t *testing.T) {
	x := picture(1, 30, 30)
	_, _, err := restore.EstimateKernel(t.Context(), x, restore.Strength(2))
	require.EqualError(t, err, "restore: Strength is no option of EstimateKernel, but of other functions")
	_, err = restore.CheckKernel(t.Context(), x, deblur.Kernel{}, restore.Strength(2))
	require.EqualError(t, err, "restore: Strength is no option of EstimateKernel, but of other functions")
	_, _, err = restore.EstimateKernel(t.Context(), x, restore.KernelSize(2))
	var wrong *restore.OptionError
	require.ErrorAs(t, err, &wrong)
	_, _, err = restore.Deblur(t.Context(), x, deblur.Kernel{H: 1, W: 1, Weights: []float32{1}}, restore.KernelSize(9))
	require.ErrorContains(t, err, "KernelSize is no option of Deblur, but of EstimateKernel")
	_, _, err = restore.EstimateKernel(t.Context(), nil)
	require.Error(t, err)
	stop := errors.New("stop")
	_, _, err = restore.EstimateKernel(t.Context(), x, restore.Progress(func(backend.Progress) error { return stop }))
	require.ErrorIs(t, err, stop)
}

// The photograph tells a kernel that is turned, flipped, inverted or of another photograph, and has nothing to
// say against the right one.
func TestCheckKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("a kernel is estimated in the tests of deblur/estimate too; this takes long in portable Go")
	}
	whole, k := shaken()
	img := restore.NewPlanar(1, 220, 240)
	for i := range img.Pix {
		img.Pix[i] = whole.Plane(1)[(60+i/240)*whole.Width+100+i%240]
	}
	other, err := deblur.Motion(25, 80)
	require.NoError(t, err)
	inverse := slices.Clone(k.Weights)
	for i, v := range inverse {
		inverse[i] = slices.Max(k.Weights) - v
	}
	inverted, err := deblur.NewKernel(inverse, k.H, k.W)
	require.NoError(t, err)
	for _, c := range []struct {
		kernel deblur.Kernel
		want   string
	}{
		{k, ""}, {k.Turned(), "turned by 180 degrees"}, {inverted, "inverted"}, {other, "another one"},
		{flipped(t, k, false), "flipped left to right"}, {flipped(t, k, true), "with rows and columns exchanged"},
	} {
		doubts, err := restore.CheckKernel(t.Context(), img, c.kernel)
		require.NoError(t, err)
		if c.want == "" {
			require.Empty(t, doubts)
			continue
		}
		require.Len(t, doubts, 1, c.want)
		require.Contains(t, doubts[0].Text, c.want)
	}
	checkWideKernels(t, img)
	_, err = restore.CheckKernel(t.Context(), img, deblur.Kernel{})
	require.Error(t, err)
	// Too small to say anything.
	doubts, err := restore.CheckKernel(t.Context(), picture(3, 8, 8), other)
	require.NoError(t, err)
	require.Empty(t, doubts)
}

// flipped is a square kernel flipped left to right, or with rows and columns exchanged.
func flipped(t *testing.T, k deblur.Kernel, exchanged bool) deblur.Kernel {
	t.Helper()
	require.Equal(t, k.H, k.W)
	weights := make([]float32, len(k.Weights))
	for i, v := range k.Weights {
		y, x := i/k.W, k.W-1-i%k.W
		if exchanged {
			y, x = i%k.W, i/k.W
		}
		weights[y*k.W+x] = v
	}
	other, err := deblur.NewKernel(weights, k.H, k.W)
	require.NoError(t, err)
	return other
}

// checkWideKernels: a photograph in place of a kernel is called what it is, of any size; a wide frame
// around a small kernel is none, and neither is a wide kernel of a thumbnail.
func checkWideKernels(t *testing.T, img *restore.Planar) {
	t.Helper()
	for _, side := range []int{80, 151, 219} {
		weights := make([]float32, side*side)
		for i := range weights {
			weights[i] = 0.5 + 0.4*float32(math.Sin(float64(i%side)/9)*math.Cos(float64(i/side)/7))
		}
		k, err := deblur.NewKernel(weights, side, side)
		require.NoError(t, err)
		doubts, err := restore.CheckKernel(t.Context(), img, k)
		require.NoError(t, err)
		require.Len(t, doubts, 1)
		require.Contains(t, doubts[0].Text, "than blur does")
		small, err := restore.CheckKernel(t.Context(), picture(3, 40, 40), k)
		require.NoError(t, err)
		require.Empty(t, small)
		clear(weights)
		for i := range 7 {
			weights[(side/2)*side+side/2-3+i] = 1. / 7
		}
		k, err = deblur.NewKernel(weights, side, side)
		require.NoError(t, err)
		doubts, err = restore.CheckKernel(t.Context(), img, k)
		require.NoError(t, err)
		for _, d := range doubts {
			require.NotContains(t, d.Text, "than blur does")
		}
	}
}
