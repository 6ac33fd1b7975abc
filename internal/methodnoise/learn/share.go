package main

import (
	"math/rand/v2"
	"slices"

	"github.com/averaged/imaging/internal/learning"
	"github.com/averaged/imaging/internal/methodnoise"
)

// square is a square of a sample whose noise is known.
type square struct {
	methodnoise.Square
	Share float64 // of noise in what was taken
}

// The network of shares minimises the squared error that would be left of squares if what was taken were multiplied by their
// shares, over that of their picture. With a weaker decay it says more of the photographs that it was learned from, and less of
// others.
const (
	hiddenSize = 24
	batch      = 1024
	steps      = 6000
	rate       = 4e-3
	shareDecay = 0.5
	jitter     = 0.1
	// Shares are taken for no less and no more than these: of squares from which hardly anything was taken they say nothing.
	lowestShare, highestShare = -0.5, 1.5
	// leastLeft is added to mean squared errors: less than rounding leaves does not count.
	leastLeft = 0.1
	// The share of squares that weigh the same as the one below them.
	heaviest = 0.001
)

// squaresOf compares what was taken in a trial with the noise, which clean tells; left is the mean squared error of what is left.
func squaresOf(t methodnoise.Trial, signs methodnoise.Signs, clean photograph) (list []square, left float64) {
	s := t.Sample
	truth := methodnoise.NewSample(clean.Pix, s.Channels, clean.Height, clean.Width)
	n := s.Height * s.Width
	brightness := func(of func(i int) float64, pixel int) float64 {
		sum := 0.0
		for c := range s.Channels {
			sum += of(c*n + pixel)
		}
		return 255 * sum / float64(s.Channels)
	}
	taken := func(i int) float64 { return float64(s.Pix[i]) - float64(t.Denoised[i]) }
	noise := func(i int) float64 { return float64(s.Pix[i]) - float64(truth.Pix[i]) }
	for i, v := range t.Denoised {
		d := 255 * (float64(v) - float64(truth.Pix[i]))
		left += d * d / float64(len(t.Denoised))
	}
	for _, seen := range methodnoise.Squares(s, t.Denoised, t.Known.Level, signs) {
		var tt, tn, meanTaken, meanNoise float64
		const side, pixels = methodnoise.ShareSide, methodnoise.ShareSide * methodnoise.ShareSide
		each := func(do func(pixel int)) {
			for y := range side {
				for x := range side {
					do((seen.Top+y)*s.Width + seen.Left + x)
				}
			}
		}
		each(func(pixel int) {
			meanTaken += brightness(taken, pixel) / pixels
			meanNoise += brightness(noise, pixel) / pixels
		})
		each(func(pixel int) {
			d := brightness(taken, pixel) - meanTaken
			tt += d * d
			tn += d * (brightness(noise, pixel) - meanNoise)
		})
		share := min(max(tn/max(tt, 1e-9), lowestShare), highestShare)
		list = append(list, square{seen, share})
	}
	return list, left
}

// learnShare makes the network of the samples that count, in so many steps.
func learnShare(set []sample, counts func(sample) bool, steps int) *learning.Perceptron {
	var squares []square
	var weights []float64
	for _, s := range set {
		if !counts(s) {
			continue
		}
		left := (s.Left + leastLeft) * float64(len(s.Squares))
		for _, q := range s.Squares {
			squares = append(squares, q)
			weights = append(weights, q.Taken/left)
		}
	}
	sorted := slices.Sorted(slices.Values(weights))
	most := sorted[int((1-heaviest)*float64(len(sorted)-1))]
	features := func(i int) []float64 { return asFloats(squares[i].Features) }
	p := learning.Standardised(len(squares), features)
	random := rand.New(rand.NewPCG(5, 6))
	inputs := len(squares[0].Features)
	p.Layers = make([][][]float64, 2)
	for range hiddenSize {
		p.Layers[0] = append(p.Layers[0], learning.Row(inputs, random))
	}
	p.Layers[1] = append(p.Layers[1], make([]float64, hiddenSize+1))
	pick := learning.Picker(len(squares), func(i int) float64 { return min(weights[i], most) })
	p.Learn(learning.Lesson{
		Iterations: steps, Batch: batch, Rate: rate, Decay: shareDecay, Jitter: jitter,
		Pick:     func() int { return pick(random.Float64()) },
		Features: features,
		Slopes: func(i int, outputs []float64) []float64 {
			share := methodnoise.SquareShare(outputs[0])
			return []float64{2 * (share - squares[i].Share) * share * (1 - share/methodnoise.MostShare)}
		},
	}, random)
	return p
}

func asFloats(v []float32) []float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x)
	}
	return f
}

// shareBy is the sign of a sample by a network.
func (s sample) shareBy(p *learning.Perceptron) float64 {
	var squares []methodnoise.Square
	for _, q := range s.Squares {
		squares = append(squares, q.Square)
	}
	return methodnoise.ImageShare(squares, func(q methodnoise.Square) float64 {
		return methodnoise.SquareShare(p.Outputs(asFloats(q.Features))[0])
	})
}

// shared gives each sample the share by a network that was learned from the other parts of the photographs. It returns those that
// a rule is learned from, and the network that was learned from all of them.
func shared(set []sample, steps int) ([]sample, *learning.Perceptron, error) {
	networks, err := learning.All(parts+1, func(_, part int) (*learning.Perceptron, bool, error) {
		return learnShare(set, func(s sample) bool { return s.Photograph%parts != part }, steps), true, nil
	})
	if err != nil {
		return nil, nil, err
	}
	var tried []sample
	for _, s := range set {
		if len(s.After) > 0 {
			s.Signs.Share = s.shareBy(networks[s.Photograph%parts])
			tried = append(tried, s)
		}
	}
	return tried, networks[parts], nil
}
