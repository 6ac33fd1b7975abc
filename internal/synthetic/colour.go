package synthetic

// Rec. 709 weights of linear light are used on encoded values here, as most programs do that make a
// photograph grey.
const redWeight, greenWeight, blueWeight = 0.2126, 0.7152, 0.0722

// Grey returns one plane, the brightness of a picture of three.
func Grey(rgb []float32) []float32 {
	n := len(rgb) / 3
	out := make([]float32, n)
	for i := range out {
		out[i] = redWeight*rgb[i] + greenWeight*rgb[n+i] + blueWeight*rgb[2*n+i]
	}
	return out
}

// Tinted returns three planes: the grey plane times the factor of each colour, clipped to [0,1].
// Factors of 1 give three equal planes.
func Tinted(grey []float32, tint [3]float64) []float32 {
	out := make([]float32, 0, 3*len(grey))
	for _, factor := range tint {
		for _, v := range grey {
			out = append(out, clipped(v*float32(factor)))
		}
	}
	return out
}

// Sepia is the tint of old prints.
var Sepia = [3]float64{1, 0.89, 0.69}

// Nudged returns a picture in which the sample with the given number differs by 1/255, up or down
// towards the middle of the range.
func Nudged(pix []float32, sample int) []float32 {
	out := append([]float32(nil), pix...)
	if out[sample] < 0.5 {
		out[sample] += 1. / 255
	} else {
		out[sample] -= 1. / 255
	}
	return out
}

func clipped(v float32) float32 { return min(max(v, 0), 1) }
