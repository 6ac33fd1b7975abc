package cameranoise

import "math"

// largestInverted is the mean up to which Poisson numbers are found by inversion.
const largestInverted = 20

// poisson returns a number with mean and variance mean ≥ 0, from u uniform in [0,1) and g standard
// normal. Up to largestInverted it has exactly the Poisson distribution, by inversion of u; above,
// it is μ + √(μ−1/18)·g + (g²−1)/6, the expansion of Cornish and Fisher (1938), which is not
// rounded to whole numbers: its third moment is right too, to 1/(54μ) of it.
func poisson(mean, u float64, g float32) float64 {
	if mean > largestInverted {
		z := float64(g)
		return max(mean+float64(math.Sqrt(mean-1./18)*z)+(float64(z*z)-1)/6, 0)
	}
	n, p := 0.0, exponential(-mean)
	for sum := p; sum <= u; sum += p {
		n++
		p = float64(p * (mean / n)) // not fused with the sum
		if p < 1e-18 {
			break // beyond the last of u's bits; a sum of rounded numbers may not reach u
		}
	}
	return n
}

// exponential returns e^x for x from −64 to 0 with a relative error of 1e-13, and 0 below: the series at
// x/64, squared six times. math.Exp has other bits on other processors.
func exponential(x float64) float64 {
	if x < -64 {
		return 0
	}
	x /= 64
	sum := 1.0
	for k := 18.0; k >= 1; k-- { // |x| ≤ 1: the next term is below 1e-16
		sum = 1 + float64(float64(sum*x)/k)
	}
	for range 6 {
		sum *= sum
	}
	return sum
}
