package deblur

import (
	"math"
	"slices"
)

// The border of a kernel's picture that tells its background is borderWidth samples wide: many kernels end in one even
// line, as a box of even size does. Three quarters of it have to be even, because a kernel may touch the edge.
const borderWidth = 2

// Foreground returns the kernel that a picture on an even background shows: on grey that is brighter than black, or dark
// on white. The background is the median of the border, and the weights are the differences from it. ok is false if the
// border is black or not even, and if most of what differs from it is in the border itself. The kernel is normalised,
// and its centre is in the middle, as that of NewKernel.
func (k Kernel) Foreground() (foreground Kernel, ok bool) {
	if k.Check() != nil {
		return Kernel{}, false
	}
	inside := func(i int) bool {
		y, x := i/k.W, i%k.W
		return min(y, k.H-1-y, x, k.W-1-x) >= borderWidth
	}
	var border []float32
	for i, v := range k.Weights {
		if !inside(i) {
			border = append(border, v)
		}
	}
	slices.Sort(border)
	background := border[len(border)/2]
	top := slices.Max(k.Weights)
	// Four levels of 8 bits are what JPEG adds, and a border that is faint is even by its own measure.
	tolerance := min(top/64, background/4)
	even := 0
	for _, v := range border {
		if background-tolerance <= v && v <= background+tolerance {
			even++
		}
	}
	if background <= 0 || 4*even < 3*len(border) {
		return Kernel{}, false
	}
	sign := float32(1)
	if background > top/2 {
		sign = -1
	}
	weights := make([]float32, len(k.Weights))
	all, most := 0.0, 0.0
	for i, v := range k.Weights {
		if d := sign * (v - background); d > tolerance {
			weights[i] = d
			all += float64(d)
			if inside(i) {
				most += float64(d)
			}
		}
	}
	if all == 0 || most < all/2 || math.IsInf(all, 1) {
		return Kernel{}, false
	}
	foreground, err := NewKernel(weights, k.H, k.W)
	return foreground, err == nil
}
