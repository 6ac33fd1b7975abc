package fallback

import "github.com/averaged/imaging/backend"

// Gaussian returns the n numbers that backend.Vectors' Gaussian stores.
func Gaussian(n int, seed uint64, mean, std float32) []float32 {
	numbers := make([]float32, n)
	for i := 0; i < n; i += 2 {
		first, second := backend.GaussianPair(seed, uint64(i/2))
		numbers[i] = mean + float32(std*first)
		if i+1 < n {
			numbers[i+1] = mean + float32(std*second)
		}
	}
	return numbers
}

// MixChannels returns what backend.Vectors' MixChannels makes of src, which has the shape of from, with the
// matrix m for an array of shape to. Each product and each sum is rounded, from the left.
func MixChannels(to, from backend.Shape, src, m []float32) []float32 {
	dst := make([]float32, to.Len())
	plane := from.Plane()
	for n := range to.N {
		for i := range to.C {
			sums := dst[(n*to.C+i)*plane:][:plane]
			for j := range from.C {
				a := m[i*from.C+j]
				for k, x := range src[(n*from.C+j)*plane:][:plane] {
					if product := float32(a * x); j == 0 {
						sums[k] = product
					} else {
						sums[k] += product
					}
				}
			}
		}
	}
	return dst
}
