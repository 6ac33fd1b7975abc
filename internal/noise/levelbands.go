package noise

import (
	"math"

	"github.com/averaged/imaging/internal/parallel"
)

const (
	bandScales = 3
	// BandsOf is the number of magnitudes that Bands returns for a square.
	BandsOf = 3 * bandScales
)

// Bands returns the mean magnitude of second differences in both directions for each square of three planes of h×w
// samples, multiples of Square: at full, half and quarter resolution, of brightness and of the two axes of colour
// orthogonal to it. Noise of standard deviation σ that is white has about 0.8·σ in all nine; edges and texture have
// little along the axes of colour.
func Bands(pix []float32, h, w int) []float32 {
	squares := h / Square * (w / Square)
	out := make([]float32, BandsOf*squares)
	plane := h * w
	axes := [3][3]float32{{0.57735027, 0.57735027, 0.57735027}, {1 / math.Sqrt2, 0, -1 / math.Sqrt2}, {0.40824829, -0.81649658, 0.40824829}}
	parallel.Concurrently(3, func(axis int) {
		a, values := axes[axis], make([]float32, plane)
		for i := range values {
			values[i] = float32(a[0]*pix[i]) + float32(a[1]*pix[plane+i]) + float32(a[2]*pix[2*plane+i])
		}
		height, width := h, w
		for scale := range bandScales {
			secondDifferences(out[(axis*bandScales+scale)*squares:][:squares], values, height, width, Square*height/h)
			values, height, width = halved(values, height, width)
		}
	})
	return out
}

// secondDifferences adds to means in cells of side×side the magnitudes of those of rows and columns, over the norm of
// the filter; the edges go on.
func secondDifferences(means, x []float32, h, w, side int) {
	rows, both := make([]float32, w), make([]float32, w)
	for y := range h {
		above, here, below := x[max(y-1, 0)*w:][:w], x[y*w:][:w], x[min(y+1, h-1)*w:][:w]
		for i := range rows {
			rows[i] = above[i] - 2*here[i] + below[i]
		}
		for i := 1; i+1 < w; i++ {
			both[i] = (rows[i-1] - 2*rows[i] + rows[i+1]) * (1. / 6)
		}
		both[0], both[w-1] = (rows[1]-rows[0])*(1./6), (rows[w-2]-rows[w-1])*(1./6)
		addMagnitudes(means[y/side*(w/side):][:w/side], both, side)
	}
}

// halved returns sums of 2×2 over 2: white noise keeps its standard deviation.
func halved(x []float32, h, w int) ([]float32, int, int) {
	out := make([]float32, 0, len(x)/4)
	for y := 0; y < h; y += 2 {
		a, b := x[y*w:][:w], x[(y+1)*w:][:w]
		for i := 0; i < w; i += 2 {
			out = append(out, (a[i]+a[i+1]+b[i]+b[i+1])/2)
		}
	}
	return out, h / 2, w / 2
}
