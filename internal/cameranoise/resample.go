package cameranoise

import "math"

// resampled makes channels planes of h×w smaller by a factor, from src to dst, which holds the
// sizes that reduced gives. room has the size of one plane.
func resampled(dst, src, room []float32, channels, h, w int, factor float64, way Resampling) {
	newH, newW := reduced(h, factor), reduced(w, factor)
	for c := range channels {
		in, out := src[c*h*w:(c+1)*h*w], dst[c*newH*newW:(c+1)*newH*newW]
		alongRows(room, in, h, w, newW, way)
		alongColumns(out, room, h, newH, newW, way)
	}
}

// alongRows changes the width of a plane.
func alongRows(dst, src []float32, h, w, newW int, way Resampling) {
	for x := range newW {
		for y := range h {
			dst[y*newW+x] = 0
		}
		t := window(x, w, newW, way)
		for k := t.low; k < t.high; k++ {
			weight, from := t.weight(k), min(max(k, 0), w-1)
			for y := range h {
				dst[y*newW+x] += float32(weight * src[y*w+from])
			}
		}
	}
}

// alongColumns changes the height of a plane of width w.
func alongColumns(dst, src []float32, h, newH, w int, way Resampling) {
	for y := range newH {
		t := window(y, h, newH, way)
		out := dst[y*w : (y+1)*w]
		clear(out)
		for k := t.low; k < t.high; k++ {
			weight := t.weight(k)
			for x, v := range src[min(max(k, 0), h-1)*w:][:w] {
				out[x] += float32(weight * v)
			}
		}
	}
}

// taps are the source samples low…high−1 of one new sample.
type taps struct {
	low, high    int
	way          Resampling
	centre, step float64
	scale        float64 // one over the sum of the raw weights
}

// window is the part of n samples that new sample i of newN is made of.
func window(i, n, newN int, way Resampling) taps {
	step := float64(n) / float64(newN)
	t := taps{way: way, step: step, centre: float64((float64(i) + 0.5) * step), scale: 1}
	reach := step / 2
	switch way {
	case Nearest:
		t.low = min(int(t.centre), n-1)
		t.high = t.low + 1
		return t
	case Bicubic:
		reach = 2 * step
	}
	t.low, t.high = int(math.Floor(t.centre-reach)), int(math.Ceil(t.centre+reach))
	sum := 0.0
	for k := t.low; k < t.high; k++ {
		sum += t.raw(k)
	}
	t.scale = 1 / sum
	return t
}

func (t *taps) weight(k int) float32 { return float32(t.raw(k) * t.scale) }

func (t *taps) raw(k int) float64 {
	switch t.way {
	case Nearest:
		return 1
	case Area: // what of pixel k is covered
		return max(min(float64(k+1), t.centre+t.step/2)-max(float64(k), t.centre-t.step/2), 0)
	default:
		return keys((float64(k) + 0.5 - t.centre) / t.step)
	}
}

// keys is the cubic convolution kernel with a = −½ (Keys 1981).
func keys(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x < 1:
		return float64(float64(float64(1.5*x)-2.5)*float64(x*x)) + 1
	case x < 2:
		return float64(float64(float64(float64(float64(2.5-float64(0.5*x))*x)-4)*x)) + 2
	}
	return 0
}
