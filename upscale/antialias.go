package upscale

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/deblur"
)

// Antialias is the blur before an image is scaled down.
type Antialias uint8

const (
	// Bicubic is Keys's cubic convolution with a = −½, stretched by the factor, as in image programs and in
	// the functions of that name in Python and MATLAB.
	Bicubic Antialias = iota
	// Area is the mean over the square of fine samples that becomes a coarse one, as in a sensor's pixels.
	Area
	// GaussianBlur is a Gaussian with a standard deviation of 0.4 of the factor (0.8 fine
	// samples for 2, 1.2 for 3, 1.6 for 4, as is usual in super-resolution).
	GaussianBlur
	// NoAntialias keeps samples as they are.
	NoAntialias
)

var antialiasNames = [...]string{Bicubic: "bicubic", Area: "area", GaussianBlur: "gaussian", NoAntialias: "none"}

// String returns the name that ParseAntialias takes.
func (a Antialias) String() string {
	if int(a) < len(antialiasNames) {
		return antialiasNames[a]
	}
	return fmt.Sprintf("Antialias(%d)", uint8(a))
}

// ParseAntialias returns the blur with that name: bicubic, area, gaussian or none.
func ParseAntialias(name string) (Antialias, error) {
	for a, n := range antialiasNames {
		if n == name {
			return Antialias(a), nil
		}
	}
	return Bicubic, fmt.Errorf("upscale: no blur before downsampling is called %q, want bicubic, area, gaussian or none", name)
}

// Kernel returns the kernel for a factor, 1 to MaxFactor, in fine samples. It is separable and symmetric
// about the middle of its square, and of even size for an even factor, as Downsampling needs it. Its weights
// sum to 1 up to rounding; some of the bicubic ones are negative.
func (a Antialias) Kernel(factor int) (deblur.Kernel, error) {
	if factor < 1 || factor > MaxFactor {
		return deblur.Kernel{}, fmt.Errorf("upscale: downsampling by %d, want 1 to %d", factor, MaxFactor)
	}
	q := float64(factor)
	switch a {
	case Bicubic:
		return separable(factor, 2*factor, func(d float64) float64 { return cubic(d / q) }), nil
	case Area:
		return separable(factor, factor, func(d float64) float64 {
			if 2*math.Abs(d) < q {
				return 1
			}
			return 0
		}), nil
	case GaussianBlur:
		std := 0.4 * q
		return separable(factor, int(math.Ceil(4*std)), func(d float64) float64 { return math.Exp(-d * d / (2 * std * std)) }), nil
	case NoAntialias:
		return deblur.Kernel{H: 1, W: 1, Weights: []float32{1}}, nil
	}
	return deblur.Kernel{}, fmt.Errorf("upscale: antialias %d, want Bicubic, Area, GaussianBlur or NoAntialias", uint8(a))
}

// cubic is Keys's cubic convolution kernel (1981) with a = −½.
func cubic(t float64) float64 {
	switch t = math.Abs(t); {
	case t < 1:
		return (1.5*t-2.5)*t*t + 1
	case t < 2:
		return ((-.5*t+2.5)*t-4)*t + 2
	}
	return 0
}

// separable samples f at the distances of fine samples from the middle of a square of
// factor×factor, as far as they are not 0 or a given reach, and scales the weights to sum 1.
func separable(factor, reach int, f func(distance float64) float64) deblur.Kernel {
	n, shift := 2*reach+1, 0.0
	if factor%2 == 0 {
		n, shift = 2*reach, .5
	}
	line := make([]float64, n)
	sum := 0.0
	for i := range line {
		line[i] = f(float64(i-n/2) + shift)
		sum += line[i]
	}
	for len(line) > 2 && line[0] == 0 && line[len(line)-1] == 0 {
		line = line[1 : len(line)-1]
	}
	n = len(line)
	k := deblur.Kernel{H: n, W: n, CY: n / 2, CX: n / 2, Weights: make([]float32, n*n)}
	for i := range k.Weights {
		k.Weights[i] = float32(line[i/n] / sum * (line[i%n] / sum))
	}
	return k
}
