package deblur

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// Rounding implements operator.Rounded. The bound is +Inf on a device that does not say how it computes
// (backend.Arithmetic).
func (o *Operator) Rounding() (r float64, err error) {
	a, ok := o.device.(backend.Arithmetic)
	if !ok {
		return math.Inf(1), nil
	}
	return a.BlurRounding(o.blur)
}
