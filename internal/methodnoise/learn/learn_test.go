package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/methodnoise"
)

// made returns samples whose best factor is 0.25 where detail is taken along, and 1 elsewhere.
func made(n int) []sample {
	r := rand.New(rand.NewPCG(3, 4))
	set := make([]sample, n)
	for i := range set {
		s := sample{Photograph: r.IntN(40), Before: 30}
		s.Signs = methodnoise.Signs{Together: r.NormFloat64(), Along: r.NormFloat64(), Spread: r.NormFloat64(), Colour: r.NormFloat64(), Coarse: r.NormFloat64(), Floor: r.NormFloat64()}
		best := 0.0
		if s.Signs.Along > 0 {
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
	s := sample{Before: 30, After: []float64{30.1, 30.5, 31, 30.6, 30.2, 29.5, 28.9, 28}}
	const step = 1e-6
	for log := math.Log(methodnoise.LeastFactor) + 0.01; log < math.Log(methodnoise.MostFactor)-0.01; log += 0.037 {
		above, _ := s.loss(log + step)
		below, _ := s.loss(log - step)
		_, slope := s.loss(log)
		require.InDelta(t, (above-below)/(2*step), slope, 1e-4, "at %v", log)
	}
	zero, _ := s.loss(math.Log(0.35))
	require.InDelta(t, 0, zero, 1e-12)
	one, _ := s.loss(0)
	require.InDelta(t, 31-29.5+worse*0.5, one, 1e-12)
	for _, beyond := range []float64{-9, 9} {
		_, slope := s.loss(beyond)
		require.Zero(t, slope)
	}
}

// What is learned is better than no factor, on samples that it was not learned from.
func TestFitLearnsFactors(t *testing.T) {
	set := made(800)
	r := fit(set, func(s sample) bool { return s.Photograph < 30 })
	without, with := 0.0, 0.0
	for _, s := range set {
		if s.Photograph >= 30 {
			zero, _ := s.loss(0)
			loss, _ := s.loss(r.log(s))
			without, with = without+zero, with+loss
		}
	}
	require.Less(t, with, 0.5*without)
}

// What is written is the rule, as Go.
func TestWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coefficients.go")
	require.NoError(t, write(path, fit(made(50), func(sample) bool { return true }), false))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(b), "var learned = rule{\n\tshift:")
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
