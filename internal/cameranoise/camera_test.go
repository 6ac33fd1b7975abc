package cameranoise

import (
	"hash/fnv"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// flat is a picture of one colour.
func flat(h, w int, colour ...float32) []float32 {
	pix := make([]float32, 0, len(colour)*h*w)
	for _, v := range colour {
		for range h * w {
			pix = append(pix, v)
		}
	}
	return pix
}

// bare is a camera that only adds noise: a mosaic of green pixels at odd places is left after resizing.
func bare() Camera {
	c := Typical()
	c.Pattern, c.Demosaicking, c.Tone = GRBG, Bilinear, 0
	c.LumaSmoothing, c.ChromaSmoothing, c.Sharpening = 0, 0, 0
	c.Matrix = matrix([6]float64{})
	c.Resize, c.Resampling = 2, Nearest
	c.Bits = 14
	return c
}

// The noise of a photograph, before its tone curve, has the variance (λs·x + λr)/exposure².
func TestVarianceOfPhotographs(t *testing.T) {
	const h, w = 240, 240
	for _, iso := range []float64{400, 6400} {
		c := bare()
		c.ISO = iso
		for _, v := range []float32{0.3, 0.5, 0.7, 0.8} {
			out, err := c.Apply(flat(h, w, v, v, v), h, w, 3)
			require.NoError(t, err)
			n := len(out) / 3
			mean, variance, _ := moments(n, func(i int) float64 { return decodeGamma(float64(out[n+i])) })
			light := decodeGamma(float64(v))
			want := (c.ShotNoise()*light*c.Exposure + c.ReadVariance()) / (c.Exposure * c.Exposure)
			require.InDelta(t, light, mean, 5*math.Sqrt(want/float64(n))+1e-4, "ISO %v, %v", iso, v)
			require.InEpsilon(t, want, variance, 0.06, "ISO %v, %v", iso, v)
		}
	}
}

// What white Gaussian noise does not have, and a camera's has: neighbours and colours are alike.
func TestNoiseIsCorrelated(t *testing.T) {
	const h, w = 160, 160
	for way := Bilinear; way <= HamiltonAdams; way++ {
		c := Typical()
		c.Demosaicking = way
		pix := flat(h, w, 0.45, 0.5, 0.4)
		noisy, err := c.Apply(pix, h, w, 1)
		require.NoError(t, err)
		clean, err := c.Clean(pix, h, w)
		require.NoError(t, err)
		const n = h * w
		noise := func(k int) []float64 {
			d := make([]float64, n)
			mean, _, _ := moments(n, func(i int) float64 { return float64(noisy[k*n+i] - clean[k*n+i]) })
			for i := range d {
				d[i] = float64(noisy[k*n+i]-clean[k*n+i]) - mean
			}
			return d
		}
		red, green := noise(0), noise(1)
		product := func(a, b []float64) (sum float64) {
			for i := range min(len(a), len(b)) {
				sum += a[i] * b[i]
			}
			return sum
		}
		next := product(green, green[1:]) / product(green, green)
		below := product(green, green[w:]) / product(green, green)
		colours := product(red, green) / math.Sqrt(product(red, red)*product(green, green))
		require.True(t, next > 0.3 && next < 0.7, "%v: next %v", way, next)
		require.True(t, below > 0.3 && below < 0.7, "%v: below %v", way, below)
		if way != Bilinear { // which leaves the colours apart
			require.True(t, colours > 0.2 && colours < 0.9, "%v: red with green %v", way, colours)
		}
		rms := 255 * math.Sqrt(product(green, green)/n)
		require.True(t, rms > 3 && rms < 20, "%v: %v of 255 at ISO 3200", way, rms)
	}
}

func TestNoNoiseIsClean(t *testing.T) {
	for seed := range uint64(12) {
		c := Random(seed)
		c.ISO, c.Bits, c.JPEG = 0, 0, nil
		pix := textured(3, 40, 33)
		noisy, err := c.Apply(pix, 40, 33, seed)
		require.NoError(t, err)
		clean, err := c.Clean(pix, 40, 33)
		require.NoError(t, err)
		require.InDeltaSlice(t, clean, noisy, 2e-6, "seed %d", seed)
		// Less and less of it.
		before := math.Inf(1)
		for _, iso := range []float64{1000, 10, 0.1, 0.001} {
			c.ISO = iso
			noisy, err := c.Apply(pix, 40, 33, seed)
			require.NoError(t, err)
			rms, _ := difference(noisy, clean)
			require.Less(t, rms, before)
			before = rms
		}
		require.Less(t, before, 0.5)
	}
}

// The mean of many photographs is the clean one, where nothing is clipped.
func TestMeanOfManyIsClean(t *testing.T) {
	const h, w, shots = 16, 16, 200
	c := Typical()
	c.ISO, c.Demosaicking = 400, Malvar
	pix := textured(3, h, w)
	for i := range pix {
		pix[i] = 0.35 + 0.3*pix[i]
	}
	clean, err := c.Clean(pix, h, w)
	require.NoError(t, err)
	mean := make([]float32, len(clean))
	single := 0.0
	for seed := range uint64(shots) {
		noisy, err := c.Apply(pix, h, w, seed)
		require.NoError(t, err)
		for i, v := range noisy {
			mean[i] += v / shots
		}
		single, _ = difference(noisy, clean)
	}
	left, _ := difference(mean, clean)
	require.Less(t, left, 2*single/math.Sqrt(shots))
}

// A grey scene comes out grey, as bright as it was, whatever the camera.
func TestGreyStaysGrey(t *testing.T) {
	for seed := range uint64(30) {
		c := Random(seed)
		for _, v := range []float32{0, 0.2, 0.5, 0.9, 1} {
			clean, err := c.Clean(flat(12, 12, v, v, v), 12, 12)
			require.NoError(t, err)
			for _, got := range clean {
				require.InDelta(t, v, got, 2e-4, "seed %d", seed)
			}
		}
	}
}

func TestSeeds(t *testing.T) {
	c := Typical()
	c.JPEG = []JPEG{{90, Quarter}}
	pix := textured(3, 33, 47)
	take := func(c Camera, seed uint64) []float32 {
		out, err := c.Apply(pix, 33, 47, seed)
		require.NoError(t, err)
		return out
	}
	first := take(c, 1)
	require.Equal(t, first, take(c, 1))
	require.NotEqual(t, first, take(c, 2))
	require.Equal(t, Random(5), Random(5))
	require.NotEqual(t, Random(5), Random(6))

	// At the same time too.
	var wait sync.WaitGroup
	results := make([][]float32, 8)
	for i := range results {
		wait.Go(func() {
			if i%2 == 1 {
				if _, err := c.Apply(pix[:300], 10, 10, 1); err != nil { // other buffers in between
					return
				}
			}
			results[i], _ = c.Apply(pix, 33, 47, 1)
		})
	}
	wait.Wait()
	for _, r := range results {
		require.Equal(t, first, r)
	}
}

// The bits are the same with every processor, as those of the noise of package backend are.
func TestBitsAreFixed(t *testing.T) {
	h := fnv.New64a()
	for seed := range uint64(24) {
		out, err := Random(seed).Apply(textured(1+int(seed%2)*2, 31, 26), 31, 26, seed)
		require.NoError(t, err)
		for _, v := range out {
			b := math.Float32bits(v)
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		}
	}
	require.Equal(t, uint64(0x3710b2144ade001), h.Sum64())
}

// Any camera takes a picture of any size, tiny and odd ones too, within [0,1].
func TestAnyCameraAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		h, w := rapid.IntRange(1, 21).Draw(t, "h"), rapid.IntRange(1, 21).Draw(t, "w")
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		c := Random(seed)
		require.NoError(t, c.Check())
		require.Equal(t, c, Random(seed))
		pix := make([]float32, channels*h*w)
		for i := range pix {
			pix[i] = rapid.SampledFrom([]float32{0, 1, 0.5, 0.25, 0.04}).Draw(t, "v")
		}
		before := append([]float32(nil), pix...)
		newH, newW := c.Size(h, w)
		for _, out := range [][]float32{try(t, c, pix, h, w, seed), try(t, c, pix, h, w, seed+1)} {
			require.Len(t, out, channels*newH*newW)
			for _, v := range out {
				require.True(t, v >= 0 && v <= 1)
			}
		}
		require.Equal(t, before, pix, "the scene is not written to")
	})
}

// The ends of what Check lets through are photographs too.
func TestExtremes(t *testing.T) {
	for _, change := range []func(c *Camera){
		func(c *Camera) { c.ISO, c.FullWell = 1e9, 1 },
		func(c *Camera) { c.ISO, c.FullWell = 1e-300, 1e9 },
		func(c *Camera) { c.ReadNoise, c.RowNoise = 1e3, 1e3 },
		func(c *Camera) { c.Exposure, c.Bits = 1e-3, 1 },
		func(c *Camera) {
			c.BlackLevel, c.Tone, c.LumaSmoothing, c.ChromaSmoothing, c.Sharpening = 0.9, 0.8, 8, 8, 4
		},
		func(c *Camera) { c.Reduction, c.Resize = math.MaxInt32, math.MaxInt32 },
		func(c *Camera) { c.WhiteBalance, c.JPEG = [2]float64{0.01, 100}, []JPEG{{1, Quarter}} },
	} {
		c := Typical()
		change(&c)
		for channels := 1; channels <= 3; channels += 2 {
			h, w := c.Size(11, 14)
			out, err := c.Apply(textured(channels, 11, 14), 11, 14, 1)
			require.NoError(t, err)
			require.Len(t, out, channels*h*w)
			for _, v := range out {
				require.True(t, v >= 0 && v <= 1, "%v", v)
			}
		}
	}
}

func try(t *rapid.T, c Camera, pix []float32, h, w int, seed uint64) []float32 {
	out, err := c.Apply(pix, h, w, seed)
	require.NoError(t, err)
	return out
}

func TestRandomCoversItsRanges(t *testing.T) {
	const n = 3000
	ranges := map[string]struct {
		low, high float64
		of        func(c Camera) float64
	}{
		"reduction":         {1, 2, func(c Camera) float64 { return c.Reduction }},
		"exposure":          {0.25, 1, func(c Camera) float64 { return c.Exposure }},
		"log shot noise":    {math.Log(2e-5), math.Log(2e-2), func(c Camera) float64 { return math.Log(c.ShotNoise()) }},
		"log full well":     {math.Log(4000), math.Log(60000), func(c Camera) float64 { return math.Log(c.FullWell) }},
		"row noise":         {0, 0.3, func(c Camera) float64 { return c.RowNoise }},
		"black level":       {0, 1. / 16, func(c Camera) float64 { return c.BlackLevel }},
		"bits":              {10, 14, func(c Camera) float64 { return float64(c.Bits) }},
		"red":               {1.2, 2.6, func(c Camera) float64 { return c.WhiteBalance[0] }},
		"blue":              {1.2, 2.8, func(c Camera) float64 { return c.WhiteBalance[1] }},
		"tone":              {0, 0.7, func(c Camera) float64 { return c.Tone }},
		"luma smoothing":    {0, 1.2, func(c Camera) float64 { return c.LumaSmoothing }},
		"chroma smoothing":  {0, 4, func(c Camera) float64 { return c.ChromaSmoothing }},
		"sharpening":        {0, 1, func(c Camera) float64 { return c.Sharpening }},
		"resize":            {1, 4, func(c Camera) float64 { return c.Resize }},
		"pattern":           {0, 3, func(c Camera) float64 { return float64(c.Pattern) }},
		"demosaicking":      {0, 2, func(c Camera) float64 { return float64(c.Demosaicking) }},
		"resampling":        {0, 2, func(c Camera) float64 { return float64(c.Resampling) }},
		"JPEG compressions": {0, 2, func(c Camera) float64 { return float64(len(c.JPEG)) }},
	}
	cameras := make([]Camera, n)
	for i := range cameras {
		cameras[i] = Random(uint64(i))
		require.NoError(t, cameras[i].Check())
		for _, j := range cameras[i].JPEG {
			require.True(t, j.Quality >= 60 && j.Quality <= 100)
		}
	}
	for name, r := range ranges {
		least, most := math.Inf(1), math.Inf(-1)
		for _, c := range cameras {
			least, most = min(least, r.of(c)), max(most, r.of(c))
		}
		slack := 0.01 * (r.high - r.low)
		require.True(t, least >= r.low-1e-6 && least <= r.low+slack, "%s begins at %v", name, least)
		require.True(t, most <= r.high+1e-6 && most >= r.high-slack, "%s ends at %v", name, most)
	}
	deviation := 0.0
	for _, c := range cameras {
		deviation += math.Pow(2*math.Log(c.ReadNoise), 2) / n
	}
	require.InDelta(t, 0.26, math.Sqrt(deviation), 0.02, "of log λr")
}

func TestErrors(t *testing.T) {
	c := Typical()
	for _, v := range []float32{-0.01, 1.01, float32(math.NaN()), float32(math.Inf(1))} {
		pix := flat(4, 4, 0.5)
		pix[5] = v
		_, err := c.Apply(pix, 4, 4, 1)
		require.ErrorIs(t, err, ErrArgument)
		require.ErrorContains(t, err, "sample 5 is ")
		_, err = c.Clean(pix, 4, 4)
		require.ErrorIs(t, err, ErrArgument)
	}
	for _, s := range [][3]int{{32, 4, 4}, {16, 4, 5}, {0, 0, 0}, {16, -4, -4}, {16, 16, 0}} {
		_, err := c.Apply(make([]float32, s[0]), s[1], s[2], 1)
		require.ErrorIs(t, err, ErrArgument)
	}
	nan := math.NaN()
	for i, change := range []func(c *Camera){
		func(c *Camera) { c.Reduction = 0.9 }, func(c *Camera) { c.Exposure = 0 }, func(c *Camera) { c.Exposure = 1.1 },
		func(c *Camera) { c.Pattern = 4 }, func(c *Camera) { c.ISO = -1 }, func(c *Camera) { c.ISO = nan },
		func(c *Camera) { c.FullWell = 0 }, func(c *Camera) { c.ReadNoise = -1 }, func(c *Camera) { c.RowNoise = math.Inf(1) },
		func(c *Camera) { c.BlackLevel = 1 }, func(c *Camera) { c.Bits = 17 }, func(c *Camera) { c.WhiteBalance[1] = 0 },
		func(c *Camera) { c.Demosaicking = -1 }, func(c *Camera) { c.Tone = 1 }, func(c *Camera) { c.LumaSmoothing = 9 },
		func(c *Camera) { c.ChromaSmoothing = nan }, func(c *Camera) { c.Sharpening = 5 }, func(c *Camera) { c.Resize = 0 },
		func(c *Camera) { c.Resampling = 3 }, func(c *Camera) { c.JPEG = []JPEG{{0, Full}} }, func(c *Camera) { c.JPEG = []JPEG{{50, 3}} },
		func(c *Camera) { c.Matrix[0] = 2 }, func(c *Camera) { c.Matrix = [9]float64{1, 0, 0, 1, 0, 0, 0, 0, 1} },
		func(c *Camera) { c.Matrix[4] = nan },
	} {
		c := Typical()
		require.NoError(t, c.Check())
		change(&c)
		require.ErrorIs(t, c.Check(), ErrArgument, "change %d", i)
		_, err := c.Apply(flat(4, 4, 0.5), 4, 4, 1)
		require.ErrorIs(t, err, ErrArgument)
	}
}

func TestNames(t *testing.T) {
	for i, name := range Demosaickings() {
		d, err := ParseDemosaicking(name)
		require.NoError(t, err)
		require.Equal(t, Demosaicking(i), d)
		require.Equal(t, name, d.String())
	}
	for i, name := range subsamplings {
		s, err := ParseSubsampling(name)
		require.NoError(t, err)
		require.Equal(t, Subsampling(i), s)
		require.Equal(t, name, s.String())
	}
	for i, name := range Resamplings() {
		r, err := ParseResampling(name)
		require.NoError(t, err)
		require.Equal(t, Resampling(i), r)
		require.Equal(t, name, r.String())
	}
	_, err := ParseDemosaicking("magic")
	require.ErrorIs(t, err, ErrArgument)
	require.Equal(t, "number 9", Pattern(9).String())
	require.Equal(t, "GBRG", GBRG.String())
}

// A photograph allocates its result, and next to nothing else once buffers are there.
func TestAllocations(t *testing.T) {
	c := Typical()
	c.JPEG = []JPEG{{90, Quarter}}
	pix := textured(3, 64, 64)
	allocations := testing.AllocsPerRun(20, func() {
		if _, err := c.Apply(pix, 64, 64, 1); err != nil {
			t.Error(err)
		}
	})
	require.Less(t, allocations, 12.0)
}
