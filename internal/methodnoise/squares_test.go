package methodnoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Squares lie in the patches without their margins, do not overlap, and have as many numbers as the network takes, all finite.
func TestSquaresOfSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 300).Draw(t, "h"), rapid.IntRange(1, 300).Draw(t, "w")
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		deviation := rapid.SampledFrom([]float64{0, 1e-6, 0.05, 10}).Draw(t, "deviation")
		r := rand.New(rand.NewPCG(1, 2))
		pix, denoised := make([]float32, channels*h*w), make([]float32, channels*h*w)
		for i := range pix {
			denoised[i] = float32(deviation * r.Float64())
			pix[i] = denoised[i] + float32(deviation*r.NormFloat64())
		}
		s := NewSample(pix, channels, h, w)
		out := NewSample(denoised, channels, h, w)
		network := &learnedShare
		if channels == 1 {
			network = &learnedGreyShare
		}
		covered := make([]bool, s.Height*s.Width)
		squares := Squares(s, out.Pix, 0.05, Signs{Grey: channels == 1})
		for _, q := range squares {
			require.Len(t, q.Features, len(network.Shift))
			for k, f := range q.Features {
				require.False(t, math.IsNaN(float64(f)) || math.IsInf(float64(f), 0), "feature %d is %v", k, f)
			}
			require.GreaterOrEqual(t, q.Top%s.patchHeight, margin)
			require.GreaterOrEqual(t, q.Left%s.patchWidth, margin)
			require.LessOrEqual(t, q.Top%s.patchHeight+ShareSide+margin, s.patchHeight)
			require.LessOrEqual(t, q.Left%s.patchWidth+ShareSide+margin, s.patchWidth)
			for i := range ShareSide * ShareSide {
				at := (q.Top+i/ShareSide)*s.Width + q.Left + i%ShareSide
				require.False(t, covered[at])
				covered[at] = true
			}
		}
		if s.patchHeight >= ShareSide+2*margin && s.patchWidth >= ShareSide+2*margin {
			require.NotEmpty(t, squares)
		}
	})
}

// A picture and its transpose have the same squares, up to which pixels at their sides are compared with neighbours outside.
func TestSquaresAreSymmetric(t *testing.T) {
	const side = 96
	clean := scene(side, side, 3)
	noisy := plus(clean, 0.03, 0.02, 4)
	transposed := func(pix []float32) []float32 {
		out := make([]float32, len(pix))
		for c := range 3 {
			for y := range side {
				for x := range side {
					out[(c*side+x)*side+y] = pix[(c*side+y)*side+x]
				}
			}
		}
		return out
	}
	signs := Signs{Together: 0.1, Along: 0.2}
	squares := Squares(NewSample(noisy, 3, side, side), weaker(clean, side, side, 0.4), 0.03, signs)
	turned := Squares(NewSample(transposed(noisy), 3, side, side), transposed(weaker(clean, side, side, 0.4)), 0.03, signs)
	require.Len(t, squares, 25)
	for i, q := range squares {
		other := turned[i%5*5+i/5]
		require.InDelta(t, q.Taken, other.Taken, 1e-6*q.Taken)
		for k := range q.Features {
			require.InDelta(t, q.Features[k], other.Features[k], 0.15, "square %d, feature %d", i, k)
		}
	}
}

// The energies of what was taken are those of white noise in every band, and of stripes the slopes have one direction.
func TestFeaturesOfSquares(t *testing.T) {
	const side, level = 96, 0.05
	r := rand.New(rand.NewPCG(7, 7))
	flat := make([]float32, side*side)
	noise, stripes := make([]float32, side*side), make([]float32, side*side)
	for i := range noise {
		noise[i] = float32(level / math.Sqrt(3) * r.NormFloat64())
		stripes[i] = float32(0.05 * math.Sin(float64(i%side)))
	}
	mean := func(pix []float32, feature int) (sum float64) {
		squares := Squares(NewSample(pix, 1, side, side), flat, level, Signs{Grey: true})
		for _, s := range squares {
			sum += float64(s.Features[feature]) / float64(len(squares))
		}
		return sum
	}
	require.InDelta(t, 0, mean(noise, placeTaken), 0.05, "brightness is √3 times one of three equal planes")
	for k := range 3 {
		want := math.Log(math.Pow(0.25, float64(k)))
		require.InDelta(t, want, mean(noise, placeTaken+1+k), 0.15, "band %d", k)
	}
	const kurtosis, orientation = 13, 14
	require.InDelta(t, math.Log(3+leastKurtosis), mean(noise, kurtosis), 0.1, "that of a Gaussian is 3")
	require.Less(t, mean(noise, orientation), 0.2)
	require.Greater(t, mean(stripes, orientation), 0.95)
}

// The share of an image is the mean by what was taken, between its limits.
func TestImageShare(t *testing.T) {
	squares := []Square{{Taken: 3, Top: 1}, {Taken: 1, Top: 2}}
	by := func(first, second float64) float64 {
		return ImageShare(squares, func(s Square) float64 { return []float64{0, first, second}[s.Top] })
	}
	require.InDelta(t, math.Log(0.75/(MostShare-0.75)), by(1, 0), 1e-12)
	require.InDelta(t, math.Log(leastShare/(MostShare-leastShare)), by(0, 0), 1e-12)
	require.InDelta(t, -by(0, 0), by(2, 2), 1e-12)
	require.InDelta(t, math.Log(1/(MostShare-1)), ImageShare([]Square{{}}, func(Square) float64 { return 0 }), 1e-12)
}

// The coefficients of both networks fit together, and say one thing.
func TestNetworksFit(t *testing.T) {
	for name, n := range map[string][][][]float32{"colour": learnedShare.Rows, "grey": learnedGreyShare.Rows} {
		inputs := len(learnedShare.Shift)
		if name == "grey" {
			inputs = len(learnedGreyShare.Shift)
		}
		require.NotEmpty(t, n)
		for _, rows := range n {
			for _, row := range rows {
				require.Len(t, row, inputs+1, name)
			}
			inputs = len(rows)
		}
		require.Equal(t, 1, inputs, name)
	}
}
