package methodnoise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scene is a picture of blocks of several brightnesses with texture in every third of them, in values from 0 to 1.
func scene(h, w int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	pix := make([]float32, 3*h*w)
	for y := range h {
		for x := range w {
			v := 0.3 + 0.05*float64((y/17+x/23)%5)
			if (y/16+x/16)%3 == 0 {
				v += 0.05 * r.NormFloat64()
			}
			for c := range 3 {
				pix[c*h*w+y*w+x] = float32(v)
			}
		}
	}
	return pix
}

// plus is pix with white noise, of another strength along colour.
func plus(pix []float32, brightness, colour float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	out, n := slices.Clone(pix), len(pix)/3
	for i := range n {
		b, first, second := brightness*r.NormFloat64(), colour*r.NormFloat64(), colour*r.NormFloat64()
		for c, v := range [3]float64{first/math.Sqrt2 + second/math.Sqrt(6), -2 * second / math.Sqrt(6), -first/math.Sqrt2 + second/math.Sqrt(6)} {
			out[c*n+i] += float32(b/math.Sqrt(3) + v)
		}
	}
	return out
}

// weaker is pix with less of its fine detail: a share of what a mean of nine pixels leaves.
func weaker(pix []float32, h, w int, share float64) []float32 {
	out := slices.Clone(pix)
	for c := range 3 {
		for y := 1; y < h-1; y++ {
			for x := 1; x < w-1; x++ {
				i := c*h*w + y*w + x
				mean := 0.0
				for _, d := range []int{-w - 1, -w, -w + 1, -1, 0, 1, w - 1, w, w + 1} {
					mean += float64(pix[i+d]) / 9
				}
				out[i] = float32(mean + (1-share)*(float64(pix[i])-mean))
			}
		}
	}
	return out
}

// A denoiser that takes all noise and nothing else has no sign of texture; one that takes a part of the texture has both.
func TestSignsTellTextureFromNoise(t *testing.T) {
	const h, w = 200, 240
	clean := scene(h, w, 1)
	noisy := plus(clean, 0.02, 0.01, 2)
	noise, ok := Measure(NewSample(noisy, 3, h, w), sampled(clean, h, w), known)
	require.True(t, ok)
	require.InDelta(t, 0, noise.Together, 0.1)
	require.InDelta(t, 0, noise.Along, 0.02)
	require.InDelta(t, math.Log(0.5), noise.Colour, 0.02)
	require.InDelta(t, math.Log(0.01/known.Level), noise.Coarse, 0.04, "white noise has the same in means over squares, times their side")
	require.InDelta(t, math.Sqrt(2.0/64), noise.Spread, 0.03, "that of χ² with as many degrees of freedom as a square has pixels")

	texture, ok := Measure(NewSample(clean, 3, h, w), sampled(weaker(clean, h, w, 0.5), h, w), known)
	require.True(t, ok)
	require.Greater(t, texture.Together, 0.8)
	require.Greater(t, texture.Along, 0.8)
	require.Less(t, texture.Colour, -2.0, "grey has no colour to take")

	both, ok := Measure(NewSample(noisy, 3, h, w), sampled(weaker(clean, h, w, 0.5), h, w), known)
	require.True(t, ok)
	require.Greater(t, both.Together, noise.Together+0.2)
	require.Greater(t, both.Along, noise.Along+0.2)
}

// known is of an image with noise of 0.02.
var known = Known{Level: 0.02, Floor: 0.02}

// sampled is the sample of pix.
func sampled(pix []float32, h, w int) []float32 { return NewSample(pix, 3, h, w).Pix }

// What follows from brightness is no sign: noise that is stronger where a picture is bright, and so is what is left.
func TestSignsLeaveBrightnessOut(t *testing.T) {
	const h, w = 192, 192
	r := rand.New(rand.NewPCG(3, 3))
	noisy, left := make([]float32, 3*h*w), make([]float32, 3*h*w)
	for i := range h * w {
		v := 0.2 + 0.6*float64(i%w)/w
		detail, noise := 0.02*v*v*r.NormFloat64(), 0.05*v*v*r.NormFloat64()
		for c := range 3 {
			left[c*h*w+i] = float32(v + detail)
			noisy[c*h*w+i] = float32(v + detail + noise)
		}
	}
	s, ok := Measure(NewSample(noisy, 3, h, w), sampled(left, h, w), known)
	require.True(t, ok)
	require.InDelta(t, 0, s.Together, 0.12)
}

// Where nothing was taken, or there is nothing but one value, or hardly any pixels, there is nothing to say.
func TestSignsOfNothing(t *testing.T) {
	flat := make([]float32, 3*200*200)
	_, ok := Measure(NewSample(flat, 3, 200, 200), sampled(flat, 200, 200), known)
	require.False(t, ok)
	clean := scene(40, 40, 4)
	_, ok = Measure(NewSample(clean, 3, 40, 40), sampled(plus(clean, 0.1, 0.1, 5), 40, 40), known)
	require.False(t, ok)
	whole := scene(100, 100, 4)
	taken := func(k Known) (Signs, bool) {
		return Measure(NewSample(plus(whole, 0.1, 0.1, 5), 3, 100, 100), sampled(whole, 100, 100), k)
	}
	for _, k := range []Known{{Level: 0.1, Quiet: 1}, {Floor: 0.1, Quiet: 1}, {Level: 0.1, Floor: math.NaN(), Quiet: 1}} {
		_, ok = taken(k)
		require.False(t, ok, "%v", k)
	}
	s, ok := taken(Known{Level: 0.05, Floor: 0.1, Quiet: 0.7})
	require.True(t, ok)
	require.InDelta(t, math.Log(2), s.Floor, 1e-12)
	require.InDelta(t, math.Log(2), s.Coarse, 0.1, "of a few hundred means")
	require.Equal(t, 0.7, s.Quiet)
}

// Patches are whole parts of the image, begin where JPEG's blocks do, do not overlap, and reach to its sides.
func TestSampleIsOfTheImage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 700).Draw(t, "h"), rapid.IntRange(1, 700).Draw(t, "w")
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		pix := make([]float32, channels*h*w)
		for i := range pix {
			pix[i] = float32(i)
		}
		s := NewSample(pix, channels, h, w)
		require.Len(t, s.Pix, channels*s.Height*s.Width)
		if s.Height == h && s.Width == w && s.patchHeight == h {
			require.Equal(t, pix, s.Pix)
			return
		}
		require.LessOrEqual(t, s.Height, h)
		require.LessOrEqual(t, s.Width, w)
		seen := map[int]bool{}
		for py := 0; py < s.Height; py += s.patchHeight {
			for px := 0; px < s.Width; px += s.patchWidth {
				begin := int(s.Pix[py*s.Width+px])
				top, left := begin/w, begin%w
				require.Zero(t, top%8)
				require.Zero(t, left%8)
				require.LessOrEqual(t, top+s.patchHeight, h)
				require.LessOrEqual(t, left+s.patchWidth, w)
				for c := range channels {
					for y := 0; y < s.patchHeight; y += 19 {
						for x := 0; x < s.patchWidth; x += 19 {
							i := (top+y)*w + left + x
							require.Equal(t, float32(c*h*w+i), s.Pix[(c*s.Height+py+y)*s.Width+px+x])
							if c == 0 {
								require.False(t, seen[i])
								seen[i] = true
							}
						}
					}
				}
			}
		}
	})
}

// A large image costs no more than 36 patches.
func TestSampleIsSmall(t *testing.T) {
	const h, w = 1500, 2000
	s := NewSample(make([]float32, 3*h*w), 3, h, w)
	require.Equal(t, mostRow*patchSide, s.Height)
	require.Equal(t, mostRow*patchSide, s.Width)
}

// Whatever the signs, the factor is within its limits.
func TestFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-1e6, 1e6)
		f := Factor(Signs{
			Together: number.Draw(t, "together"), Along: number.Draw(t, "along"), Colour: number.Draw(t, "colour"), Spread: number.Draw(t, "spread"),
			Coarse: number.Draw(t, "coarse"), Floor: number.Draw(t, "floor"), Quiet: rapid.Float64Range(0, 1).Draw(t, "quiet"),
			Taken: number.Draw(t, "taken"), Grey: rapid.Bool().Draw(t, "grey"), Guided: rapid.Bool().Draw(t, "guided"),
			WhiteLevel: rapid.Float64Range(0, 1).Draw(t, "white"),
		})
		require.GreaterOrEqual(t, f, LeastFactor)
		require.LessOrEqual(t, f, MostFactor)
	})
}

// What smooths most where a picture is calm is raised, and only what shows both signs of it.
func TestRaised(t *testing.T) {
	s := Signs{Together: 0.2, Quiet: 1}
	require.InDelta(t, math.Log(raisedBy), Raised(s), 1e-12)
	s.Quiet = 0.5
	require.InDelta(t, math.Log(raisedBy)/2, Raised(s), 1e-12)
	require.Zero(t, Raised(Signs{Together: 0.2}), "colour is not quiet")
	require.Zero(t, Raised(Signs{Together: -0.4, Quiet: 1}), "what is taken is weaker where there is more detail")
}

// Where noise is white a rule has to be sure, and it counts the more the surer it is.
func TestFirm(t *testing.T) {
	for _, log := range []float64{math.Log(0.6), -0.1, 0, 0.3, math.Log(1.8)} {
		require.InDelta(t, 0, firm(log, 0.02), 1e-12, "%v", log)
	}
	for _, log := range []float64{math.Log(LeastFactor), math.Log(0.25), math.Log(MostFactor)} {
		require.InDelta(t, log, firm(log, 0.02), 1e-12)
	}
	before := firm(-3, 0.02)
	for log := -3.0; log < 0.7; log += 0.01 {
		require.GreaterOrEqual(t, firm(log, 0.02), before)
		require.Less(t, firm(log, 0.02)-before, 0.1, "no step at %v", log)
		before = firm(log, 0.02)
	}
	require.InDelta(t, 0.5*math.Log(MostFactor), firm(math.Log(MostFactor), 0.05), 1e-12)
	require.Zero(t, firm(math.Log(MostFactor), 0.1), "strong white noise is not raised")
	require.InDelta(t, math.Log(0.2), firm(math.Log(0.2), 0.1), 1e-12)
}

// A grey image has the signs of one of three equal planes.
func TestSignsOfGrey(t *testing.T) {
	const h, w = 150, 170
	clean := scene(h, w, 7)
	noisy := plus(clean, 0.02, 0, 8)
	colour, ok := Measure(NewSample(noisy, 3, h, w), sampled(weaker(clean, h, w, 0.3), h, w), known)
	require.True(t, ok)
	grey, ok := Measure(NewSample(noisy[:h*w], 1, h, w), weaker(clean, h, w, 0.3)[:h*w], known)
	require.True(t, ok)
	require.True(t, grey.Grey)
	require.False(t, colour.Grey)
	for name, pair := range map[string][2]float64{
		"together": {grey.Together, colour.Together}, "along": {grey.Along, colour.Along}, "spread": {grey.Spread, colour.Spread},
		"floor": {grey.Floor, colour.Floor}, "taken": {grey.Taken, colour.Taken},
	} {
		require.InDelta(t, pair[1], pair[0], 1e-4, name)
	}
	// It is tried on a quarter, and one in colour on half.
	large := make([]float32, 3*960*960)
	require.Equal(t, 6*patchSide, NewSample(large, 3, 960, 960).Height)
	require.Equal(t, 5*patchSide, NewSample(large, 1, 960, 960).Height)
}
