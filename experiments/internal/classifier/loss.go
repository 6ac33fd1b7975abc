package classifier

import "math"

// Hinge returns the multi-class hinge loss of a batch, the mean over pictures of
//
//	Σ over k ≠ y of max(0, μ − (s_y − s_k)),
//
// and sets gradient to that with respect to the scores, Outputs a picture. (The paper prints
// μ − s_y − s_k, which would not be a margin.)
func Hinge(gradient, scores []float32, labels []uint8, mu float64) float64 {
	clear(gradient)
	sum, share := 0.0, 1/float32(len(labels))
	for i, y := range labels {
		s, g := scores[i*Outputs:][:Outputs], gradient[i*Outputs:][:Outputs]
		for k, v := range s {
			if k == int(y) {
				continue
			}
			if excess := mu - (float64(s[y]) - float64(v)); excess > 0 {
				sum += excess
				g[k] += share
				g[y] -= share
			}
		}
	}
	return sum / float64(len(labels))
}

// CrossEntropy sets gradient to that of −log softmax(s)_y of each picture, and returns their sum.
func CrossEntropy(gradient, scores []float32, labels []uint8) float64 {
	sum := 0.0
	for i, y := range labels {
		s, g := scores[i*Outputs:][:Outputs], gradient[i*Outputs:][:Outputs]
		top := math.Inf(-1)
		for _, v := range s {
			top = math.Max(top, float64(v))
		}
		total := 0.0
		for _, v := range s {
			total += math.Exp(float64(v) - top)
		}
		for k, v := range s {
			g[k] = float32(math.Exp(float64(v)-top) / total)
		}
		g[y]--
		sum += math.Log(total) + top - float64(s[y])
	}
	return sum
}

// Margin returns s_y − max over k ≠ y of s_k: above 0 where a picture is classified as y.
func Margin(scores []float32, y uint8) float64 {
	other := math.Inf(-1)
	for k, v := range scores {
		if k != int(y) {
			other = math.Max(other, float64(v))
		}
	}
	return float64(scores[y]) - other
}

// CertifiedRadius returns the Euclidean distance within which no image is classified otherwise, 0
// for one that is wrong already: margin/(√2·L), where L is a Lipschitz constant of the scores
// (Tsuzuku, Sato and Sugiyama 2018, proposition 1). The difference of two scores changes by at
// most √2 times the change of all. It is rounded down.
func CertifiedRadius(margin, lipschitz float64) float64 {
	if !(margin > 0) {
		return 0
	}
	return math.Nextafter(margin/math.Nextafter(math.Sqrt2*lipschitz, math.Inf(1)), 0)
}
