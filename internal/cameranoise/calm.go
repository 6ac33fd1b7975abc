package cameranoise

import "math"

// Smoothed returns planes of h×w without a part of its noise where it is calm, as
// cameras take it away: details of a width of some pixels are weakened, the more the weaker they are
// around. A strength of 1 is a usual one.
func Smoothed(pix []float32, h, w int, strength float64) []float32 {
	return SmoothedAs(pix, pix, h, w, strength)
}

// SmoothedAs weakens the details of pix as much as Smoothed does those of like, another shot of the
// same scene. With a shot without noise for pix that is about the mean of many shots that are smoothed.
func SmoothedAs(pix, like []float32, h, w int, strength float64) []float32 {
	n := h * w
	channels := len(pix) / n
	light := make([]float64, n)
	for i := range light {
		sum := float32(0)
		for c := range channels {
			sum += like[c*n+i]
		}
		light[i] = float64(sum) / float64(channels)
	}
	coarse := blurredPlane(light, h, w, 1.2)
	square := make([]float64, n)
	mean := 0.0
	for i := range square {
		d := light[i] - coarse[i]
		square[i] = d * d
		mean += d * d / float64(n)
	}
	square = blurredPlane(square, h, w, 2)
	out := make([]float32, channels*n)
	for c := range channels {
		plane := float64s(pix[c*n:][:n])
		low := blurredPlane(plane, h, w, 1.2)
		for i := range plane {
			keep := 0.0
			if square[i] > 0 {
				keep = square[i] / (square[i] + 0.2*strength*mean)
			}
			out[c*n+i] = float32(low[i] + max(keep, 0.25)*(plane[i]-low[i]))
		}
	}
	return out
}

// Blurred returns planes of h×w convolved with a Gaussian of a standard deviation in pixels, the
// frame repeated outward, within [0,1].
func Blurred(pix []float32, h, w int, std float64) []float32 {
	n := h * w
	out := make([]float32, 0, len(pix))
	for plane := pix; len(plane) > 0; plane = plane[n:] {
		for _, v := range blurredPlane(float64s(plane[:n]), h, w, std) {
			out = append(out, float32(min(max(v, 0), 1)))
		}
	}
	return out
}

// blurredPlane returns one plane, convolved as Blurred does, of any values.
func blurredPlane(f []float64, h, w int, std float64) []float64 {
	radius := int(3*std + 1)
	taps := make([]float64, 2*radius+1)
	sum := 0.0
	for i := range taps {
		d := float64(i - radius)
		taps[i] = math.Exp(-d * d / (2 * std * std))
		sum += taps[i]
	}
	pass := func(src []float64, at func(line, i int) int, lines, length int) []float64 {
		dst := make([]float64, len(src))
		for line := range lines {
			for i := range length {
				v := 0.0
				for k, t := range taps {
					v += t * src[at(line, min(max(i+k-radius, 0), length-1))]
				}
				dst[at(line, i)] = v / sum
			}
		}
		return dst
	}
	f = pass(f, func(y, x int) int { return y*w + x }, h, w)
	return pass(f, func(x, y int) int { return y*w + x }, w, h)
}

func float64s(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
