package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/backend/devicekit"
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
	b, err := devicekit.PreparedBlur(d.Device, k)
	if err != nil {
		return 0, err
	}
	return b.(*blur).Rounding(), nil
}
