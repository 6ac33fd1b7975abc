package deblur

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/internal/response"
)

// Convolve returns the kernel of two blurs, first b, then a; the order does not matter. The centres add up.
// If the weights of both sum to 1, so do those of the result, up to rounding.
func Convolve(a, b Kernel) (Kernel, error) {
	for _, k := range []Kernel{a, b} {
		if err := k.Check(); err != nil {
			return Kernel{}, err
		}
	}
	c := Kernel{H: a.H + b.H - 1, W: a.W + b.W - 1, CY: a.CY + b.CY, CX: a.CX + b.CX}
	if err := checkSize(c.H, c.W); err != nil {
		return Kernel{}, err
	}
	if float64(len(a.Weights))*float64(len(b.Weights)) > 64*response.Affordable {
		return Kernel{}, fmt.Errorf("deblur: kernels of %d×%d and %d×%d are too large to be convolved", a.H, a.W, b.H, b.W)
	}
	sums := make([]float64, c.H*c.W)
	for i, v := range a.Weights {
		if v == 0 {
			continue
		}
		for j := range b.H {
			row := sums[(i/a.W+j)*c.W+i%a.W:][:b.W]
			for x, w := range b.Weights[j*b.W : (j+1)*b.W] {
				row[x] += float64(v) * float64(w)
			}
		}
	}
	c.Weights = slices.Grow(c.Weights, len(sums))
	for _, v := range sums {
		c.Weights = append(c.Weights, float32(v))
	}
	return c, nil
}
