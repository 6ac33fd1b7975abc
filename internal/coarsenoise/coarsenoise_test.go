package coarsenoise

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestNoiseOfBand: noise and image are told apart in a band of which both powers are known, also where that of the image follows
// another power of the response.
func TestNoiseOfBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := math.Exp(rapid.Float64Range(-18, -2).Draw(t, "log n"))
		s := n * math.Exp(rapid.Float64Range(-3, 9).Draw(t, "log s/n"))
		of := func(power float64) (b band) {
			for i := range b {
				r := math.Exp2(-(float64(i) + 0.5) / binsPerOctave)
				b[i] = bin{count: 50, response: 50 * r, log: 50 * math.Log(s*math.Pow(r, power)+n)}
			}
			return b
		}
		plain := of(1)
		log, weight := plain.noise(1)
		if !(math.Abs(log-math.Log(n)) < 0.15) { // the ratios that are tried are half an octave apart
			t.Fatalf("log n is %v, want %v", log, math.Log(n))
		}
		if !(weight > 90) {
			t.Fatalf("weight is %v", weight)
		}
		other := of(float64(rapid.IntRange(int(20*minPower), 20).Draw(t, "power in twentieths")) / 20)
		if log, weight := other.noise(minPower); !(weight > 0 && math.Abs(log-math.Log(n)) < 0.2+2/math.Sqrt(weight)) {
			t.Fatalf("log n is %v with a weight of %v and any power, want %v", log, weight, math.Log(n))
		}
		one := band{7: plain[7]}
		for _, least := range []float64{1, minPower} {
			if _, weight := one.noise(least); weight > 1e-6 {
				t.Fatalf("weight is %v where the response says nothing", weight)
			}
		}
	})
}
