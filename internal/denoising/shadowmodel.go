package denoising

import (
	"math"
	"sync"

	"github.com/averaged/imaging/internal/noise"
)

// tone is what becomes of light of 1 with normal noise, limited at black, under the tone curve.
type tone struct {
	ratio    float64 // standard deviation over mean
	factor   float64 // what comes out without noise over the mean
	skewness float64
}

// tones are many of them, by rising ratio.
type tones struct{ ratio, factor, skewness []float64 }

// toneModel returns outcomes for all strengths of noise, by rising ratio.
var toneModel = sync.OnceValue(func() tones {
	const points, reach = 1200, 6.0 // of the integral, and standard deviations on either side
	var table tones
	for sigma := 0.02; sigma < 60; sigma *= 1.1 {
		var sum, first, second, third float64
		for i := range points {
			z := reach * (2*(float64(i)+0.5)/points - 1)
			density := math.Exp(-z * z / 2)
			v := math.Pow(max(1+sigma*z, 0), 1/noise.ToneGamma)
			sum += density
			first += density * v
			second += density * v * v
			third += density * v * v * v
		}
		mean := first / sum
		variance := second/sum - mean*mean
		cubed := third/sum - 3*mean*second/sum + 2*mean*mean*mean
		table.ratio = append(table.ratio, math.Sqrt(variance)/mean)
		table.factor = append(table.factor, 1/mean)
		table.skewness = append(table.skewness, cubed/math.Pow(variance, 1.5))
	}
	return table
})

// toneAt returns the tone with that ratio, at most the largest there is: that of no light at all.
func toneAt(ratio float64) tone {
	table := toneModel()
	if first := table.ratio[0]; ratio <= first { // the shift grows with the square of the noise, the skewness with the noise
		share := ratio / first
		return tone{ratio, 1 + (table.factor[0]-1)*share*share, table.skewness[0] * share}
	}
	return tone{
		min(ratio, table.ratio[len(table.ratio)-1]),
		noise.Interpolate(table.ratio, table.factor, ratio), noise.Interpolate(table.ratio, table.skewness, ratio),
	}
}
