package restore

import (
	"math"

	"github.com/averaged/imaging/internal/strength"
)

// Grain sets the noise as coarse noise of the given root mean square in units of the full intensity
// range, as a photograph has it that a camera has developed: Sigma(2.8·s). It must be positive and
// finite.
func Grain(s float64) Option {
	return option{"Grain", func(c *settings) error {
		if !(s > 0) || math.IsInf(s, 0) {
			return &OptionError{Option: "Grain", Value: s, Want: "a finite root mean square above 0"}
		}
		err := Sigma(strength.GrainShare * s).change(c)
		c.grain = true
		return err
	}}
}

// Strengths that have a name, for those who judge by eye.
const (
	LightStrength  = 0.65
	NormalStrength = 1.0
	StrongStrength = 1.6
)
