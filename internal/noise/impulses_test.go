package noise

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/synthetic"
)

// hills is a smooth picture with noise of standard deviation sigma.
func hills(channels, h, w int, sigma float64, seed uint64) []float32 {
	pix := make([]float32, channels*h*w)
	for i := range pix {
		y, x := float64(i/w%h), float64(i%w)
		pix[i] = float32(0.5 + 0.2*math.Sin(y/17+float64(seed%7)) + 0.15*math.Cos(x/11))
	}
	return synthetic.White(pix, sigma, seed)
}

// impulsesOf is FindImpulses of a picture that nobody stops.
func impulsesOf(t require.TestingT, pix []float32, channels, h, w int) ([]bool, float64) {
	bad, share, err := FindImpulses(context.Background(), pix, channels, h, w)
	require.NoError(t, err)
	return bad, share
}

// Noise alone is no impulse noise, clipped or not, and no drawing is. Of noise above 0.2, clipped on both sides, three samples of a
// small picture may stand alone by chance.
func TestOthersAreLeftAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		h, w := rapid.IntRange(1, 70).Draw(t, "h"), rapid.IntRange(1, 70).Draw(t, "w")
		pix := hills(channels, h, w, rapid.Float64Range(0, 0.15).Draw(t, "sigma"), rapid.Uint64().Draw(t, "seed"))
		pix = synthetic.Scaled(pix, rapid.Float64Range(0.1, 1.3).Draw(t, "light"))
		if rapid.Bool().Draw(t, "clipped") {
			pix = synthetic.Rounded(pix, 255)
		}
		bad, share := impulsesOf(t, pix, channels, h, w)
		require.Nil(t, bad)
		require.Zero(t, share)
		require.Equal(t, pix, FillImpulses(pix, bad, channels, h, w))
	})
	for seed := range uint64(2 * len(synthetic.Drawings)) {
		bad, _ := impulsesOf(t, synthetic.Drawing(seed, 120, 160), 3, 120, 160)
		require.Nil(t, bad, "drawing %d", seed)
	}
}

// Lines and lattices of single dots are drawn, not noise.
func TestDots(t *testing.T) {
	const n = 128
	for gap := 2; gap < 20; gap++ {
		pix := make([]float32, n*n)
		for y := 9; y < n-5; y += 23 {
			for x := 4; x < n-4; x += gap {
				pix[y*n+x] = 1
			}
		}
		bad, _ := impulsesOf(t, pix, 1, n, n)
		require.Nil(t, bad, "a dot every %d pixels", gap)
	}
}

// Dust on a page of text has the colour of the text. It is found, and the text stays.
func TestDustOnText(t *testing.T) {
	const h, w, line = 320, 300, 40
	page := make([]float32, h*w)
	for i := range page {
		y, x := i/w, i%w
		// Letters of 9×15 pixels, whose strokes are one to three wide.
		letter := y%line < 15 && x%12 < 9 && (x%12 < 2 || y%line < 3 || y%line == 7+x/12%3)
		if page[i] = 1; letter {
			page[i] = 0
		}
	}
	for seed := range uint64(3) {
		scanned := synthetic.White(page, 0.01, seed)
		dusty := synthetic.SaltAndPepper(scanned, 1, 0.004, seed)
		found, of := 0, 0
		for i := range dusty {
			dusty[i] = min(dusty[i], scanned[i]) // dark only
		}
		bad, _ := impulsesOf(t, dusty, 1, h, w)
		require.NotNil(t, bad)
		for i := range bad {
			if dusty[i] == scanned[i] {
				require.False(t, bad[i], "row %d, column %d", i/w, i%w)
				continue
			}
			if of++; bad[i] {
				found++
			}
		}
		require.Greater(t, found, of/4)
	}
}

// Stars are as narrow as optics and sampling leave them: 0.8 pixels, wherever their middle is.
func TestStars(t *testing.T) {
	const n, stars = 128, 40
	for seed := range uint64(4) {
		pix := make([]float32, n*n)
		for s := range uint64(stars) {
			at := func(k uint64) float64 { return 64 + 20*float64(backend.GaussianAt(seed, 3*s+k)) }
			cy, cx := at(0), at(1)
			for i := range pix {
				dy, dx := float64(i/n)-cy, float64(i%n)-cx
				pix[i] += float32(0.7 * math.Exp(-(dy*dy+dx*dx)/(2*0.8*0.8)))
			}
		}
		bad, _ := impulsesOf(t, pix, 1, n, n)
		require.Nil(t, bad)
	}
}

// sky is the night sky of stars that a lens has spread with standard deviation blur, and the pixels that these brighten.
func sky(n, stars int, blur, brightest float64, seed uint64) (pix []float32, bright []bool) {
	pix, bright = make([]float32, n*n), make([]bool, n*n)
	r := rand.New(rand.NewPCG(seed, 1))
	for range stars {
		cy, cx, light := float64(n)*r.Float64(), float64(n)*r.Float64(), brightest*(0.2+0.8*r.Float64())
		for i := range pix {
			dy, dx := float64(i/n)-cy, float64(i%n)-cx
			pix[i] += float32(light * math.Exp(-(dy*dy+dx*dx)/(2*blur*blur)))
		}
	}
	for i, v := range pix {
		bright[i] = v > 0.02
		pix[i] += 0.06
	}
	return synthetic.Rounded(synthetic.White(pix, 0.012, seed), 255), bright
}

// A sharp lens leaves most of a star's light in one pixel, and some of it beside that pixel.
func TestSharpStars(t *testing.T) {
	for seed := range uint64(8) {
		pix, _ := sky(128, 40, 0.55, 1, seed)
		bad, _ := impulsesOf(t, pix, 1, 128, 128)
		require.True(t, bad == nil)
	}
}

// Hot pixels that are weaker than stars have no value that stars could share: they are no salt.
func TestHotPixelsAmongStars(t *testing.T) {
	const n = 160
	for seed := range uint64(4) {
		pix, bright := sky(n, 20, 0.7, 2, seed)
		r := rand.New(rand.NewPCG(seed, 2))
		hot := make([]bool, n*n)
		for range 80 {
			at := r.IntN(n * n)
			if hot[at] = !bright[at]; hot[at] {
				pix[at] += 0.15 + 0.1*r.Float32()
			}
		}
		bad, _ := impulsesOf(t, pix, 1, n, n)
		require.NotNil(t, bad)
		found, of := 0, 0
		for at := range bad {
			require.False(t, bad[at] && bright[at], "a star at row %d, column %d", at/n, at%n)
			if hot[at] {
				if of++; bad[at] {
					found++
				}
			}
		}
		require.Greater(t, found, of*3/4)
	}
}

func TestSaltAndPepper(t *testing.T) {
	for _, share := range []float64{0.005, 0.05, 0.3} {
		for _, channels := range []int{1, 3} {
			const h, w = 120, 150
			clean := hills(channels, h, w, 0.01, 3)
			noisy := synthetic.SaltAndPepper(clean, channels, share, 4)
			bad, found := impulsesOf(t, noisy, channels, h, w)
			require.NotNil(t, bad, "share %g", share)
			require.InDelta(t, share, found, 0.15*share+0.002)
			filled := FillImpulses(noisy, bad, channels, h, w)
			wrong, worst := 0, 0.0
			for i := range clean {
				if bad[i] != (noisy[i] != clean[i]) {
					wrong++
				} else {
					worst = max(worst, math.Abs(float64(filled[i]-clean[i])))
				}
			}
			// One in a corner of others is taken for a white or black part.
			require.LessOrEqual(t, wrong, len(clean)/1000)
			require.Less(t, worst, 0.2)
		}
	}
}

// Three pixels of a whole picture are enough, bright or dark, in one channel.
func TestFewPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const h, w = 60, 80
		clean := hills(3, h, w, 0.01, rapid.Uint64().Draw(t, "seed"))
		noisy := append([]float32(nil), clean...)
		hit := map[int]bool{}
		for k, y := range []int{7, 26, 50} {
			at := (rapid.IntRange(0, 2).Draw(t, "channel")*h+y)*w + 10 + 24*k + rapid.IntRange(0, 5).Draw(t, "x")
			noisy[at] = rapid.SampledFrom([]float32{-0.3, 1.3}).Draw(t, "value")
			hit[at] = true
		}
		bad, share := impulsesOf(t, noisy, 3, h, w)
		require.NotNil(t, bad)
		require.InDelta(t, 3./(3*h*w), share, 1e-9)
		filled := FillImpulses(noisy, bad, 3, h, w)
		for at := range hit {
			require.True(t, bad[at])
			require.InDelta(t, clean[at], filled[at], 0.06)
			filled[at] = clean[at]
		}
		require.Equal(t, clean, filled)
	})
}

// Whatever a mask says, what was finite stays in the range of the good samples.
func TestFillAnyMask(t *testing.T) {
	const smallest = 0x1.000002p-126 // of the normal numbers with an odd last bit: its half is rounded
	require.Equal(t, float32(smallest), median([]float32{smallest}))
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 9).Draw(t, "h"), rapid.IntRange(1, 9).Draw(t, "w")
		pix := rapid.SliceOfN(rapid.Float32Range(-1, 2), h*w, h*w).Draw(t, "pix")
		bad := rapid.SliceOfN(rapid.Bool(), h*w, h*w).Draw(t, "bad")
		low, high := float32(math.Inf(1)), float32(math.Inf(-1))
		for i, v := range pix {
			if !bad[i] {
				low, high = min(low, v), max(high, v)
			}
		}
		for i, v := range FillImpulses(pix, bad, 1, h, w) {
			if !bad[i] || low > high {
				require.Equal(t, pix[i], v)
			} else {
				require.True(t, v >= low && v <= high)
			}
		}
	})
}
