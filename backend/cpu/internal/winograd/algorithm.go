package winograd

// Algorithm returns Bᵀ, G and Aᵀ as the kernels have them, each a row after the other. All levels
// make the same sums, with and without fused products.
func Algorithm() (input, filter, output [][]float64) {
	input, output = make([][]float64, Patch), make([][]float64, Tile)
	for j := range Patch {
		var one [Patch]float32
		one[j] = 1
		points := one
		interpolate(&points)
		for k, v := range points {
			input[k] = append(input[k], float64(v))
		}
		var outputs [Tile]float32
		evaluate(&outputs, &one)
		for k, v := range outputs {
			output[k] = append(output[k], float64(v))
		}
		filter = append(filter, filterTransform[j][:])
	}
	return input, filter, output
}

// InputRoundings and OutputRoundings are how many operations that round a number passes through at
// most in one multiplication with Bᵀ and with Aᵀ: products with powers of 2 do not.
const InputRoundings, OutputRoundings = 3, 4
