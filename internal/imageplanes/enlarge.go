package imageplanes

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/upscale"
)

// EnlargeAlpha returns what Upscale makes of the opacities, 0 to 65535, of an image of h
// rows and w columns, cubic interpolation, rounded. An
// opaque image stays opaque. threads is 0 for all; the result does not depend on it.
func EnlargeAlpha(alpha []uint16, h, w, factor, threads int) ([]uint16, error) {
	switch {
	case factor < 2 || factor > 4:
		return nil, fmt.Errorf("restore: upscaling by %d, want 2, 3 or 4", factor)
	case h < 1 || w < 1 || w > len(alpha)/h || len(alpha) != h*w:
		return nil, fmt.Errorf("restore: %d opacities for an image of %d×%d pixels", len(alpha), w, h)
	}
	plane, wide := make([]float32, len(alpha)), make([]float32, len(alpha)*factor*factor)
	for i, a := range alpha {
		plane[i] = float32(a)
	}
	if err := upscale.Interpolate(wide, plane, h, w, factor, threads); err != nil {
		return nil, err
	}
	out := make([]uint16, len(wide))
	for i, v := range wide {
		out[i] = uint16(math.Round(float64(min(max(v, 0), 0xffff))))
	}
	return out, nil
}
