package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/learning"
	"github.com/averaged/imaging/internal/methodnoise"
)

// made returns samples whose best factor is 0.25 where what is taken is stronger beside detail, and 1 elsewhere.
func made(n int) []sample {
	r := rand.New(rand.NewPCG(3, 4))
	set := make([]sample, n)
	for i := range set {
		s := sample{Photograph: r.IntN(40), Before: 30}
		s.Signs = methodnoise.Signs{Together: r.NormFloat64(), Along: r.NormFloat64(), Spread: r.NormFloat64(), Colour: r.NormFloat64(), Coarse: r.NormFloat64(), Floor: r.NormFloat64()}
		best := 0.0
		if s.Signs.Together > 0 {
			best = math.Log(0.25)
		}
		for _, v := range strengths {
			d := math.Log(v) - best
			s.After = append(s.After, 32-d*d)
		}
		set[i] = s
	}
	return set
}

// The slope is that of the loss, which is 0 at the best strength and grows away from it, and faster where a picture comes
// out worse than it came.
func TestLossAgainstDifferences(t *testing.T) {
	by := loss{worse: 3, most: 20}
	s := sample{Before: 30, After: []float64{30.1, 30.5, 31, 30.6, 30.2, 29.5, 28.9, 28}}
	const step = 1e-6
	for log := math.Log(methodnoise.LeastFactor) + 0.01; log < math.Log(methodnoise.MostFactor)-0.01; log += 0.037 {
		above, _ := by.of(s, log+step)
		below, _ := by.of(s, log-step)
		_, slope := by.of(s, log)
		require.InDelta(t, (above-below)/(2*step), slope, 1e-4, "at %v", log)
	}
	zero, _ := by.of(s, math.Log(0.35))
	require.InDelta(t, 0, zero, 1e-12)
	one, _ := by.of(s, 0)
	require.InDelta(t, 31-29.5+by.worse*0.5, one, 1e-12)
	for _, beyond := range []float64{-9, 9} {
		_, slope := by.of(s, beyond)
		require.Zero(t, slope)
	}
}

// What is learned is better than no factor, on samples that it was not learned from.
func TestFitLearnsFactors(t *testing.T) {
	set := made(800)
	by := lessons["colour"].loss
	r := fit(set, by, func(s sample) bool { return s.Photograph < 30 })
	without, with := 0.0, 0.0
	for _, s := range set {
		if s.Photograph >= 30 {
			zero, _ := by.of(s, 0)
			loss, _ := by.of(s, r.log(s))
			without, with = without+zero, with+loss
		}
	}
	require.Less(t, with, 0.5*without)
}

// withSquares gives samples squares whose share follows from two features.
func withSquares(set []sample) []sample {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range set {
		for range 20 {
			f := []float32{float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())}
			share := 0.0
			if f[0]*f[1] > 0 {
				share = 1
			}
			set[i].Squares = append(set[i].Squares, square{methodnoise.Square{Taken: 0.5 + r.Float64(), Features: f}, share})
		}
		set[i].Left = 1
	}
	return set
}

// The network tells the shares of squares that it has not learned from, and the shares of pictures are by networks that were
// learned from others.
func TestSharesAreLearned(t *testing.T) {
	set := withSquares(made(120))
	for i := range set {
		if i%2 > 0 {
			set[i].After = nil
		}
	}
	tried, network, err := shared(set, 400)
	require.NoError(t, err)
	require.Len(t, tried, 60, "the others have no strengths")
	wrong, squares := 0, 0
	for _, s := range withSquares(made(130))[120:] {
		for _, q := range s.Squares {
			squares++
			if d := methodnoise.SquareShare(network.Outputs(asFloats(q.Features))[0]) - q.Share; d < -0.5 || d > 0.5 {
				wrong++
			}
		}
	}
	require.Less(t, 4*wrong, squares)
	for i, s := range tried {
		require.NotEqual(t, s.shareBy(network), s.Signs.Share, "picture %d is known to its own network", i)
	}
}

// Where all that was taken is noise the share is 1, where all is texture it is 0, and it is 1/2 where there is as much of both.
func TestSharesOfSquares(t *testing.T) {
	const h, w = 96, 112
	r := rand.New(rand.NewPCG(8, 8))
	planes := func(deviation float64) []float32 {
		p := make([]float32, 3*h*w)
		for i := range p {
			p[i] = float32(deviation * r.NormFloat64())
		}
		return p
	}
	plus := func(a, b []float32) []float32 {
		sum := make([]float32, len(a))
		for i := range a {
			sum[i] = a[i] + b[i]
		}
		return sum
	}
	flat, texture, noise := make([]float32, 3*h*w), planes(0.05), planes(0.05)
	for _, c := range []struct {
		clean, noisy, denoised []float32
		share                  float64
	}{
		{texture, plus(texture, noise), texture, 1},
		{texture, texture, flat, 0},
		{texture, plus(texture, noise), flat, 0.5},
	} {
		trial := methodnoise.Trial{Sample: methodnoise.NewSample(c.noisy, 3, h, w), Denoised: c.denoised, Known: methodnoise.Known{Level: 0.05, Floor: 0.05}}
		list, left := squaresOf(trial, methodnoise.Signs{}, photograph{c.clean, h, w})
		require.Len(t, list, 5*6)
		for _, q := range list {
			require.InDelta(t, c.share, q.Share, 0.2)
		}
		sum := 0.0
		for i, v := range c.denoised {
			d := 255 * (float64(v) - float64(c.clean[i]))
			sum += d * d
		}
		require.InDelta(t, sum/float64(3*h*w), left, 1e-6)
	}
}

// What is written is the rule, as Go.
func TestWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coefficients.go")
	set := made(50)
	all := func(sample) bool { return true }
	require.NoError(t, write(path, fit(set, lessons["grey"].loss, all), learnShare(withSquares(set[:10]), all, 3), lessons["grey"]))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(b), "var learnedGrey = rule{\n\tshift:")
	require.Contains(t, string(b), "var learnedGreyShare = perceptron.Network{\n\tShift:")
}

// The crop with the most texture is the one whose calmest parts have some.
func TestTexturedCrop(t *testing.T) {
	const h, w = 128, 256
	r := rand.New(rand.NewPCG(1, 1))
	p := photograph{make([]float32, 3*h*w), h, w}
	for i := range h * w {
		v := 0.5
		if i%w >= w/2 {
			v += 0.1 * r.NormFloat64()
		}
		for c := range 3 {
			p.Pix[c*h*w+i] = float32(v)
		}
	}
	crop := p.textured(96, 96)
	require.Greater(t, crop.calmest(0, 0, 96, 96), 0.01)
	require.Zero(t, p.calmest(0, 0, 96, 96))
}

// Of what guided learns from a fifth has no noise, a fifth white noise, and the rest a camera's.
func TestTakenAnyhow(t *testing.T) {
	const h, w = 120, 160
	p := photograph{make([]float32, 3*h*w), h, w}
	for i := range p.Pix {
		p.Pix[i] = float32(i%w) / w
	}
	clean, white, cameras := 0, 0, 0
	for seed := range uint64(60) {
		noisy, without, err := p.takenAnyhow(rand.New(rand.NewPCG(seed, 1)))
		require.NoError(t, err)
		require.Len(t, noisy.Pix, len(without.Pix))
		same := len(without.Pix) == len(p.Pix) && slices.Equal(without.Pix, p.Pix)
		switch {
		case same && slices.Equal(noisy.Pix, photograph(learning.Photograph(p).Round()).Pix):
			clean++
		case same:
			white++
		default:
			cameras++
		}
		for _, v := range noisy.Pix {
			require.InDelta(t, math.Round(255*float64(v)), 255*float64(v), 1e-3)
			require.True(t, v >= 0 && v <= 1)
		}
	}
	require.InDelta(t, 12, clean, 8)
	require.InDelta(t, 12, white, 8)
	require.InDelta(t, 36, cameras, 12)
}
