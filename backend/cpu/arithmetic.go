package cpu

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

var _ backend.Arithmetic = (*Device)(nil)

// ConvolutionAlgorithm implements backend.Arithmetic. It is the same at all levels.
func (d *Device) ConvolutionAlgorithm(filter backend.Shape) backend.ConvolutionAlgorithm {
	if !winogradApplies(filter) {
		return backend.ConvolutionAlgorithm{}
	}
	a := &backend.TileAlgorithm{InputRoundings: winograd.InputRoundings, OutputRoundings: winograd.OutputRoundings}
	a.Input, a.Filter, a.Output = winograd.Algorithm()
	return backend.ConvolutionAlgorithm{Tiles: a}
}

// BlurRounding implements backend.Arithmetic.
func (d *Device) BlurRounding(k backend.Blur) (float64, error) {
	b, err := d.ownBlur(k)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range b.spec.Kernel {
		sum += math.Abs(float64(v))
	}
	// The extension copies samples, and its adjoint adds up what the copies got.
	copies := float64(b.y.copies() * b.x.copies())
	relative := sum * directUnits(len(b.taps)) * 0x1p-24
	if b.method == backend.FourierBlur {
		relative = b.fourier.Rounding(sum)
	}
	folds := sum * 2 * float64(b.y.copies()+b.x.copies()) * 0x1p-24
	return math.Sqrt(copies) * (relative + folds), nil
}

// directUnits is how many roundings a term of sumTaps passes through at most: a product, three
// sums in its group of eight, one for each group and for each tap that is left.
func directUnits(taps int) float64 {
	units := float64(1 + 3 + taps/8 + taps%8)
	return units / (1 - 2*units*0x1p-24)
}

// copies returns how often a sample of the image stands in the extended one, at most.
func (e *extension) copies() int {
	count, most := make([]int, e.n), 1
	for _, at := range e.from {
		if at >= 0 {
			count[at]++
			most = max(most, count[at])
		}
	}
	return most
}
