package backend

// UniformAt returns element i of a sequence of independent numbers, uniform in
// [0, 1), that belongs to seed: multiples of 2⁻⁵³ with the same bits on every
// processor. It is independent of the sequence of GaussianAt for the same seed.
func UniformAt(seed, i uint64) float64 {
	base := mix64(seed ^ 0xd1b54a32d192ed03)
	return float64(mix64(base+(i+1)*0x9e3779b97f4a7c15)>>11) * 0x1p-53
}
