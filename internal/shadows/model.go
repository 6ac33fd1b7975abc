package shadows

import (
	"math"
	"sort"
	"sync"
)

// gamma is the exponent of tone curves, about that of sRGB. With 1.9 and 2.5 in its place results on SIDD are
// within 0.05 dB.
const gamma = 2.2

// outcome is what becomes of light of 1 with normal noise, limited at black, under the tone curve.
type outcome struct {
	ratio    float64 // standard deviation over mean
	factor   float64 // what comes out without noise over the mean
	skewness float64
}

// model returns outcomes for all strengths of noise, by rising ratio.
var model = sync.OnceValue(func() []outcome {
	const points, reach = 1200, 6.0 // of the integral, and standard deviations on either side
	var table []outcome
	for sigma := 0.02; sigma < 60; sigma *= 1.1 {
		var sum, first, second, third float64
		for i := range points {
			z := reach * (2*(float64(i)+0.5)/points - 1)
			density := math.Exp(-z * z / 2)
			v := math.Pow(max(1+sigma*z, 0), 1/gamma)
			sum += density
			first += density * v
			second += density * v * v
			third += density * v * v * v
		}
		mean := first / sum
		variance := second/sum - mean*mean
		cubed := third/sum - 3*mean*second/sum + 2*mean*mean*mean
		table = append(table, outcome{math.Sqrt(variance) / mean, 1 / mean, cubed / math.Pow(variance, 1.5)})
	}
	return table
})

// outcomeAt returns the outcome with that ratio, at most the largest there is: that of no light at all.
func outcomeAt(ratio float64) outcome {
	table := model()
	i := sort.Search(len(table), func(i int) bool { return table[i].ratio >= ratio })
	switch i {
	case 0: // the shift grows with the square of the noise, the skewness with the noise
		first := table[0]
		share := ratio / first.ratio
		return outcome{ratio, 1 + (first.factor-1)*share*share, first.skewness * share}
	case len(table):
		return table[i-1]
	}
	low, high := table[i-1], table[i]
	share := (ratio - low.ratio) / (high.ratio - low.ratio)
	between := func(a, b float64) float64 { return a + (b-a)*share }
	return outcome{ratio, between(low.factor, high.factor), between(low.skewness, high.skewness)}
}
