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
	parallel.Concurrently(3, func(axis int) {
		values := make([]float32, plane)
		for i := range values {
			r, g, b := pix[i], pix[plane+i], pix[2*plane+i]
			switch axis {
			case 0:
				values[i] = (r + g + b) * (1 / 1.7320508)
			case 1:
				values[i] = (r - b) * (1 / math.Sqrt2)
			default:
				values[i] = (r - 2*g + b) * (1 / 2.4494897)
			}
		}
		height, width := h, w
		for scale := range bandScales {
			found := Magnitudes(secondDifferences(values, height, width), 1, height, width, Square*height/h)
			copy(out[(axis*bandScales+scale)*squares:], found)
			values, height, width = halved(values, height, width)
		}
	})
	return out
}

// secondDifferences returns those of rows and columns, over the norm of the filter; the edges go on.
func secondDifferences(x []float32, h, w int) []float32 {
	out := make([]float32, len(x))
	rows := make([]float32, w)
	for y := range h {
		above, here, below := x[max(y-1, 0)*w:][:w], x[y*w:][:w], x[min(y+1, h-1)*w:][:w]
		for i := range rows {
			rows[i] = above[i] - 2*here[i] + below[i]
		}
		to := out[y*w:][:w]
		for i := 1; i+1 < w; i++ {
			to[i] = (rows[i-1] - 2*rows[i] + rows[i+1]) * (1. / 6)
		}
		to[0], to[w-1] = (rows[1]-rows[0])*(1./6), (rows[w-2]-rows[w-1])*(1./6)
	}
	return out
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
