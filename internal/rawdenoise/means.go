package rawdenoise

// meanRadius is half the side, in samples, of the squares whose means are kept: noise of standard deviation σ
// has one of σ/33 in the mean of 33×33 samples.
const meanRadius = 16

// keepMeans adds to light what its local means lack of those of what was measured. A denoiser that smooths roots of light
// makes texture darker, since the root of a mean is above the mean of roots.
func keepMeans(light, measured []float32, width int, white float32) {
	height := len(light) / width
	lack := make([]float32, len(light))
	for i, v := range measured {
		if v < white { // what is saturated is not replaced
			lack[i] = v - light[i]
		}
	}
	line := make([]float32, max(width, height))
	for range 2 { // the second time smooths the edges of the squares
		for y := range height {
			smooth(lack[y*width:(y+1)*width], 1, line[:width])
		}
		for x := range width {
			smooth(lack[x:], width, line[:height])
		}
	}
	for i, v := range lack {
		light[i] += v
	}
}

// smooth replaces len(room) values, step apart, by means over meanRadius on both sides, as far as there are any.
func smooth(v []float32, step int, room []float32) {
	n := len(room)
	for i := range n {
		room[i] = v[i*step]
	}
	sum, from, to := 0., 0, 0 // of room[from:to]
	for i := range n {
		for to < min(i+meanRadius+1, n) {
			sum += float64(room[to])
			to++
		}
		for from < i-meanRadius {
			sum -= float64(room[from])
			from++
		}
		v[i*step] = float32(sum / float64(to-from))
	}
}
