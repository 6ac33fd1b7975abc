package jpegblock

// standardSteps are the quantisation steps of luma and chroma at quality 50, in rows.
var standardSteps = [2][64]int{
	{
		16, 11, 10, 16, 24, 40, 51, 61,
		12, 12, 14, 19, 26, 58, 60, 55,
		14, 13, 16, 24, 40, 57, 69, 56,
		14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77,
		24, 35, 55, 64, 81, 104, 113, 92,
		49, 64, 78, 87, 103, 121, 120, 101,
		72, 92, 95, 98, 112, 100, 103, 99,
	},
	{
		17, 18, 24, 47, 99, 99, 99, 99,
		18, 21, 26, 66, 99, 99, 99, 99,
		24, 26, 56, 99, 99, 99, 99, 99,
		47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
	},
}

// Steps returns the quantisation steps of luma and chroma for a quality from 1 to
// 100, in rows: those of annex K.1, scaled as the Independent JPEG Group does, so
// that a quality means what it means elsewhere.
func Steps(quality int) (steps [2][64]int) {
	scale := 200 - 2*quality
	if quality < 50 {
		scale = 5000 / quality
	}
	for t := range steps {
		for i, s := range standardSteps[t] {
			steps[t][i] = min(max((s*scale+50)/100, 1), 255)
		}
	}
	return steps
}
