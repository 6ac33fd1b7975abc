package cameranoise

import "math"

// Weights of brightness (ITU-R BT.601), as in JPEG files.
var lumaWeights = weights{0.299, 0.587, 0.114}

// largestRadius is that of a Gaussian of the largest deviation that Check allows.
const largestRadius = 24

// gaussian fills the weights at the distances 0…radius, which add up to 1 with both sides, and
// returns the radius: three standard deviations.
func gaussian(std float64, taps *[largestRadius + 1]float32) int {
	radius := int(math.Ceil(3 * std))
	var raw [largestRadius + 1]float64
	sum := 0.0
	for k := range radius + 1 {
		raw[k] = exponential(-float64(k*k) / (2 * std * std))
		sum += raw[k]
		if k > 0 {
			sum += raw[k]
		}
	}
	for k := range radius + 1 {
		taps[k] = float32(raw[k] / sum)
	}
	return radius
}

// smooth replaces a plane of h×w by its convolution with a Gaussian; beyond the edges the last
// samples are repeated. room has the size of the plane.
func smooth(plane, room []float32, h, w int, std float64) {
	if std*std == 0 { // also where that is too small for a float64
		return
	}
	var taps [largestRadius + 1]float32
	radius := gaussian(std, &taps)
	for y := range h {
		in, out := plane[y*w:(y+1)*w], room[y*w:(y+1)*w]
		for x := range out {
			sum := float32(taps[0] * in[x])
			for k := 1; k <= radius; k++ {
				sum += float32(taps[k] * (in[max(x-k, 0)] + in[min(x+k, w-1)]))
			}
			out[x] = sum
		}
	}
	for y := range h {
		in, out := room[y*w:(y+1)*w], plane[y*w:(y+1)*w]
		for x, v := range in {
			out[x] = float32(taps[0] * v)
		}
		for k := 1; k <= radius; k++ {
			above, below := room[max(y-k, 0)*w:][:w], room[min(y+k, h-1)*w:][:w]
			for x := range out {
				out[x] += float32(taps[k] * (above[x] + below[x]))
			}
		}
	}
}

// retouch smooths three planes of h×w on the axes of brightness and of red and blue without it,
// and sharpens brightness, as Camera says. room has the size of two planes.
func (c Camera) retouch(planes, room []float32, h, w int) {
	if c.LumaSmoothing == 0 && c.ChromaSmoothing == 0 && c.Sharpening == 0 {
		return
	}
	n := h * w
	red, luma, blue := planes[:n], planes[n:2*n], planes[2*n:3*n]
	for i := range n {
		y := lumaWeights.of(red[i], luma[i], blue[i])
		red[i], luma[i], blue[i] = red[i]-y, y, blue[i]-y
	}
	smooth(red, room, h, w, c.ChromaSmoothing)
	smooth(blue, room, h, w, c.ChromaSmoothing)
	smooth(luma, room, h, w, c.LumaSmoothing)
	if c.Sharpening > 0 {
		blurred := room[n : 2*n]
		copy(blurred, luma)
		smooth(blurred, room, h, w, 1)
		amount := float32(c.Sharpening)
		for i, b := range blurred {
			luma[i] += float32(amount * (luma[i] - b))
		}
	}
	for i := range n {
		y := luma[i]
		g := y - (float32(lumaWeights[0]*red[i])+float32(lumaWeights[2]*blue[i]))/lumaWeights[1]
		red[i], luma[i], blue[i] = red[i]+y, g, blue[i]+y
	}
	for i, v := range planes[:3*n] {
		planes[i] = min(max(v, 0), 1)
	}
}
