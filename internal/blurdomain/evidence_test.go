package blurdomain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/srgb"
)

// patches is an image of overlapping rectangles of any brightness between 0.05 and 0.9.
func patches(h, w int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	p := make([]float64, h*w)
	for range h * w / 40 {
		y, x, v := random.IntN(h), random.IntN(w), .05+.85*random.Float64()
		down, right := 2+random.IntN(14), 2+random.IntN(14)
		for i := y; i < min(y+down, h); i++ {
			for j := x; j < min(x+right, w); j++ {
				p[i*w+j] = v
			}
		}
	}
	return p
}

// photograph is an image of h×w samples whose light, or whose samples, were blurred, with noise, rounded to bytes.
func photograph(x []float64, h, w int, kernel func(y, x int) deblur.Kernel, light bool, sigma float64, seed uint64) *imageplanes.Planes {
	random := rand.New(rand.NewPCG(seed, 2))
	k := kernel(0, 0)
	wide := w + k.W - 1
	p := imageplanes.New(1, h, w)
	if light {
		x = slices.Clone(x)
		for i, v := range x {
			x[i] = srgb.Linear(v)
		}
	}
	for i := range p.Pix {
		k, sum := kernel(i/w, i%w), 0.0
		for j, weight := range k.Weights {
			sum += float64(weight) * x[(i/w+k.H-1-j/k.W)*wide+i%w+k.W-1-j%k.W]
		}
		if light {
			sum = srgb.Encoded(sum)
		}
		p.Pix[i] = float32(math.Round(255*min(max(sum+sigma*random.NormFloat64(), 0), 1)) / 255)
	}
	return p
}

func weigh(t *testing.T, p *imageplanes.Planes, g deblur.Grid) Evidence {
	e, err := Weigh(t.Context(), p, 2, g)
	require.NoError(t, err)
	return e[0]
}

// What was blurred is told for shakes, disks and motions. A Gaussian has no minima: then samples are assumed, or rightly light.
func TestWhatWasBlurredIsTold(t *testing.T) {
	shake := func(size int) func() (deblur.Kernel, error) {
		return func() (deblur.Kernel, error) { return deblur.Shake(size, uint64(size)) }
	}
	for i, of := range []func() (deblur.Kernel, error){
		shake(9), shake(13), shake(15),
		func() (deblur.Kernel, error) { return deblur.Disk(3) },
		func() (deblur.Kernel, error) { return deblur.Motion(9, 20) },
	} {
		k, err := of()
		require.NoError(t, err)
		const h, w = 256, 320
		x := patches(h+k.H-1, w+k.W-1, uint64(i))
		sigma := float64(i%2) / 255
		p := photograph(x, h, w, func(y, x int) deblur.Kernel { return k }, true, sigma, 7)
		light := weigh(t, p, deblur.OneKernel(k))
		require.True(t, light.IsLight() && !light.IsSamples(), "kernel %d: %+v", i, light)
		samples := weigh(t, photograph(x, h, w, func(y, x int) deblur.Kernel { return k }, false, sigma, 7), deblur.OneKernel(k))
		require.True(t, samples.IsSamples() && !samples.IsLight(), "kernel %d: %+v", i, samples)
	}
	k, err := deblur.Gaussian(2)
	require.NoError(t, err)
	const h, w = 256, 320
	x := patches(h+k.H-1, w+k.W-1, 5)
	require.False(t, weigh(t, photograph(x, h, w, func(y, x int) deblur.Kernel { return k }, false, 1./255, 7), deblur.OneKernel(k)).IsLight())
}

// A kernel that is not the photograph's explains little, and does not make light of samples.
func TestAForeignKernelExplainsLittle(t *testing.T) {
	k, err := deblur.Motion(15, 0)
	require.NoError(t, err)
	other, err := deblur.Motion(15, 90)
	require.NoError(t, err)
	const h, w = 256, 256
	x := patches(h+k.H-1, w+k.W-1, 3)
	for _, light := range []bool{false, true} {
		p := photograph(x, h, w, func(y, x int) deblur.Kernel { return k }, light, 0, 7)
		of, err := Weigh(t.Context(), p, 2, deblur.OneKernel(k), deblur.OneKernel(other))
		require.NoError(t, err)
		right, foreign := of[0], of[1]
		require.Less(t, max(foreign.Samples.Value, foreign.Light.Value), max(right.Samples.Value, right.Light.Value)/20)
		require.Equal(t, light, right.IsLight())
		require.Equal(t, !light, right.IsSamples())
		require.False(t, foreign.IsLight() && !light)
	}
}

// Each square has the kernel of its part of the frame.
func TestAGridOfKernels(t *testing.T) {
	left, err := deblur.Motion(11, 0)
	require.NoError(t, err)
	right, err := deblur.Motion(11, 90)
	require.NoError(t, err)
	const h, w = 192, 384
	x := patches(h+right.H-1, w+left.W-1, 4)
	pad := func(k deblur.Kernel) deblur.Kernel { // to 11×11
		out := deblur.Kernel{Weights: make([]float32, left.W*right.H), H: right.H, W: left.W, CY: right.H / 2, CX: left.W / 2}
		for i, v := range k.Weights {
			out.Weights[(i/k.W-k.CY+out.CY)*out.W+i%k.W-k.CX+out.CX] = v
		}
		return out
	}
	grid := deblur.Grid{Rows: 1, Columns: 2, Kernels: []deblur.Kernel{pad(left), pad(right)}}
	p := photograph(x, h, w, func(y, x int) deblur.Kernel { return grid.Kernels[2*x/w] }, true, 0, 7)
	e := weigh(t, p, grid)
	require.True(t, e.IsLight(), "%+v", e)
	wrong := weigh(t, p, deblur.Grid{Rows: 1, Columns: 2, Kernels: []deblur.Kernel{grid.Kernels[1], grid.Kernels[0]}})
	require.Less(t, wrong.Light.Value, e.Light.Value/20)
}

// The response of a kernel is the mean power of white noise that it has blurred, seen through the window, and the mean power of
// white noise is its variance.
func TestResponseIsThePowerOfBlurredNoise(t *testing.T) {
	k, err := deblur.Shake(9, 3)
	require.NoError(t, err)
	const side, count = 64, 150
	w := newWindow(side, 9)
	r := w.response(k)
	random := rand.New(rand.NewPCG(1, 2))
	mean, of := make([]float64, side*side), make([]float64, side*side)
	wide := side + k.W - 1
	for range count {
		x, y := make([]float64, wide*(side+k.H-1)), make([]float64, side*side)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		for i := range y {
			for j, weight := range k.Weights {
				y[i] += float64(weight) * x[(i/side+k.H-1-j/k.W)*wide+i%side+k.W-1-j%k.W]
			}
		}
		blurred, y := y, slices.Clone(y)
		for i := range side {
			copy(y[i*side:(i+1)*side], x[i*wide:])
		}
		ofBlurred, ofWhite := w.spectra(blurred, y)
		for i := range mean {
			mean[i] += ofBlurred.power[i] / count
			of[i] += ofWhite.power[i] / count / side / side
			require.Positive(t, ofWhite.around[i])
		}
	}
	sum, largest := 0.0, 0.0
	for i := range mean {
		if !w.used[i] {
			continue
		}
		// The mean of so many exponentially distributed numbers is off by 8 % of itself (one standard deviation).
		require.InEpsilon(t, r.power[i], mean[i], .5)
		largest = max(largest, math.Abs(math.Log(mean[i]/r.power[i])))
		sum += of[i]
	}
	require.Greater(t, largest, .05) // as random numbers are
	require.InDelta(t, 1./2, sum, .02)
}

// The number of threads changes no bit, and neither does what squares hide that are left out.
func TestWeighIsDeterministic(t *testing.T) {
	k, err := deblur.Shake(9, 1)
	require.NoError(t, err)
	const h, w = 150, 200
	p := photograph(patches(h+k.H-1, w+k.W-1, 3), h, w, func(y, x int) deblur.Kernel { return k }, true, 0, 7)
	e := weigh(t, p, deblur.OneKernel(k))
	alone, err := Weigh(t.Context(), p, 1, deblur.OneKernel(k))
	require.NoError(t, err)
	require.Equal(t, []Evidence{e}, alone)

	p.Alpha = make([]uint16, h*w)
	for i := range p.Alpha {
		p.Alpha[i] = uint16(i % w / (w / 2))
	}
	half := weigh(t, p, deblur.OneKernel(k))
	require.Positive(t, half.Squares)
	require.Less(t, half.Squares, e.Squares)
	for i := range p.Pix {
		if p.Alpha[i] == 0 {
			p.Pix[i] = .5
		}
	}
	require.Equal(t, half, weigh(t, p, deblur.OneKernel(k)))
	for i := range p.Pix {
		if p.Alpha[i] == 0 {
			p.Pix[i] = 1
		}
	}
	p.Alpha = nil
	require.Equal(t, half, weigh(t, p, deblur.OneKernel(k)))
}

// Too small a photograph, or no blur, tells nothing, and then samples are assumed.
func TestTooLittleToTell(t *testing.T) {
	k, err := deblur.Shake(15, 1)
	require.NoError(t, err)
	none, err := deblur.NewKernel([]float32{1}, 1, 1)
	require.NoError(t, err)
	for _, k := range []deblur.Kernel{k, none} {
		for _, side := range []int{1, 2, 14, 29} {
			e := weigh(t, imageplanes.New(3, side, 40), deblur.OneKernel(k))
			require.Zero(t, e)
			require.True(t, e.IsSamples() && !e.IsLight())
		}
	}
	// A square alone has no deviation to compare with.
	e := weigh(t, photograph(patches(78, 78, 1), 64, 64, func(y, x int) deblur.Kernel { return k }, true, 0, 1), deblur.OneKernel(k))
	require.Equal(t, 1, e.Squares)
	require.True(t, e.IsSamples() && !e.IsLight())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Weigh(ctx, imageplanes.New(1, 200, 200), 1, deblur.OneKernel(k))
	require.ErrorIs(t, err, context.Canceled)
}

// Squares lie within the frame, reach its borders, and are no more than are looked at.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := 64 << rapid.IntRange(0, 3).Draw(t, "scale")
		h, w := rapid.IntRange(side, 9000).Draw(t, "h"), rapid.IntRange(side, 9000).Draw(t, "w")
		at := spread(h, w, side)
		require.NotEmpty(t, at)
		require.LessOrEqual(t, len(at)*side*side, max(maxSamples, side*side))
		for _, c := range at {
			require.True(t, c.y >= 0 && c.x >= 0 && c.y+side <= h && c.x+side <= w)
		}
		if first, last := at[0], at[len(at)-1]; last.y > first.y && last.x > first.x {
			require.Equal(t, corner{0, 0}, first)
			require.Equal(t, corner{h - side, w - side}, last)
		}
	})
}

// Nothing that a photograph may hold makes a number that is none.
func TestAnySamplesAreWeighed(t *testing.T) {
	k, err := deblur.Shake(9, 1)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		p := imageplanes.New(1, 70, 70)
		top, base := rapid.Float64Range(0, 2).Draw(t, "top"), rapid.Float64Range(-1, 1).Draw(t, "base")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		period := rapid.IntRange(1, 70).Draw(t, "period")
		for i := range p.Pix {
			p.Pix[i] = float32(base + top*random.Float64()*float64(i%period)/70)
		}
		weighed, err := Weigh(context.Background(), p, 1, deblur.OneKernel(k))
		require.NoError(t, err)
		e := weighed[0]
		for _, s := range []Sum{e.Samples, e.Light, e.Difference} {
			require.False(t, math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || math.IsNaN(s.Deviations) || math.IsInf(s.Deviations, 0), "%+v", e)
		}
	})
}

// page is dark writing on bright paper.
func page(h, w int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 3))
	p := slices.Repeat([]float64{.9}, h*w)
	for range h * w / 60 {
		y, x := random.IntN(h), random.IntN(w)
		down, right := 1+random.IntN(6), 1+random.IntN(3)
		for i := y; i < min(y+down, h); i++ {
			for j := x; j < min(x+right, w); j++ {
				p[i*w+j] = .15
			}
		}
	}
	return p
}

// On a page the noise hides more of the spectrum of light than of that of samples, so that a kernel says less about light. That says
// nothing of what was blurred.
func TestPage(t *testing.T) {
	k, err := deblur.Disk(3)
	require.NoError(t, err)
	const h, w = 300, 400
	for seed := range uint64(3) {
		x := page(h+k.H-1, w+k.W-1, seed)
		for _, sigma := range []float64{.002, .004} {
			for _, light := range []bool{true, false} {
				e := weigh(t, photograph(x, h, w, func(y, x int) deblur.Kernel { return k }, light, sigma, seed), deblur.OneKernel(k))
				require.Equal(t, []bool{light, !light}, []bool{e.IsLight(), e.IsSamples()}, "noise of %v: %+v", sigma, e)
			}
		}
	}
}
