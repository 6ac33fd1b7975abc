package backend

import "math"

// GaussianAt returns element i of the standard normal sequence of seed. Every device computes it with exactly
// these operations, each rounded to float64 separately (no fused multiply-add, no library logarithm or
// cosine), so noise has the same bits on every device and processor.
//
// Elements 2k and 2k+1 are the two results of the Box–Muller transform of the k-th pair of uniform numbers
// from a counter-based generator: two outputs of SplitMix64's mixing function (Steele, Lea and Flood 2014) at
// the counter.
func GaussianAt(seed, i uint64) float32 {
	c, s := gaussianPair(seed, i/2)
	if i%2 == 0 {
		return c
	}
	return s
}

// GaussianPair returns elements 2k and 2k+1 of the sequence of GaussianAt at the cost of one.
func GaussianPair(seed, k uint64) (even, odd float32) { return gaussianPair(seed, k) }

func gaussianPair(seed, k uint64) (float32, float32) {
	base := mix64(seed ^ 0x9e3779b97f4a7c15)
	a := mix64(base + (2*k+1)*0x9e3779b97f4a7c15)
	b := mix64(base + (2*k+2)*0x9e3779b97f4a7c15)
	// 53 bits each: u in (0, 1], v in [0, 1).
	u := float64((a>>11)+1) * 0x1p-53
	v := float64(b>>11) * 0x1p-53
	r := math.Sqrt(-2 * logarithm(u))
	sin, cos := sinCosTurn(v)
	return float32(r * cos), float32(r * sin)
}

// mix64 is the finaliser of SplitMix64.
func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// logarithm returns ln u for u in (0, 1] with a relative error of about 1e-14:
// u = m·2^e with m in [√½, √2), and ln m = 2·artanh((m−1)/(m+1)) by its series.
func logarithm(u float64) float64 {
	bits := math.Float64bits(u)
	e := int(bits>>52) - 1022
	m := math.Float64frombits(bits&(1<<52-1) | 1022<<52) // [½, 1)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	t := (m - 1) / (m + 1)
	t2 := float64(t * t)
	sum := 0.0
	for k := 19; k >= 1; k -= 2 { // |t| ≤ 0.172: the next term is below 1e-17
		sum = float64(sum*t2) + 1/float64(k)
	}
	return float64(float64(2*t)*sum) + float64(float64(e)*math.Ln2)
}

// sinCosTurn returns the sine and cosine of 2πv for v in [0, 1) by their series
// on an eighth of a turn.
func sinCosTurn(v float64) (sin, cos float64) {
	quarter := math.Floor(float64(4*v) + 0.5) // 0…4: the nearest multiple of ¼ turn
	x := float64(float64(v-float64(quarter*0.25)) * (2 * math.Pi))
	x2 := float64(x * x)
	s, c := 0.0, 0.0
	for k := 15.0; k >= 1; k -= 2 { // |x| ≤ π/4: the next terms are below 1e-16
		s = 1 - float64(float64(s*x2)/float64((k+1)*(k+2)))
		c = 1 - float64(float64(c*x2)/float64(k*(k+1)))
	}
	s = float64(s * x)
	switch int(quarter) % 4 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	default:
		return -c, s
	}
}
