package inverse

// MaxBrightness is how bright what is found may be, where 1 is white, if the image shows or hides light above that: the upper
// end of the box that the iterates stay in.
const MaxBrightness = 16

// farFromNoise is how many standard deviations of noise no sample of an image is away from the truth.
const farFromNoise = 6

// Peak is the upper end of the box for an image of these samples, with noise of standard deviation sigma: 1, or MaxBrightness
// if a sample is brighter than white by more than noise.
func Peak(pix []float32, sigma float64) float64 {
	limit := float32(1 + farFromNoise*sigma)
	for _, v := range pix {
		if v > limit {
			return MaxBrightness
		}
	}
	return 1
}
