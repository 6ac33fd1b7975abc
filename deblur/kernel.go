package deblur

import (
	"fmt"
	"math"
)

// MaxKernelSize is the largest height and width of a kernel, in samples.
const MaxKernelSize = 2047

// Kernel is the picture of a point: H×W weights, row by row, with the sample (CY, CX) on the point itself.
//
// The functions of this package make kernels with weights that are not negative and sum to 1 exactly: all are
// multiples of one power of two, so that a sum of them in float64 has no rounding error. The centre is at CY
// = ⌊H/2⌋, CX = ⌊W/2⌋. There is no margin of zeros that could be cut off equally on both sides of the centre.
// A Kernel written by hand may have any finite weights, including negative ones, and any centre inside it.
type Kernel struct {
	H, W    int
	CY, CX  int
	Weights []float32
}

// NewKernel makes a kernel of h×w weights, row by row, of any scale. It divides them by their sum and cuts
// margins of zeros off. The centre is in the middle. An even number n of rows or columns has it at number
// n/2, counted from 0, so the blurred image is shifted by half a sample towards the top or the left; no
// choice of a centre avoids this. The weights must be finite, not negative and not all zero, and h and w in
// 1…MaxKernelSize.
func NewKernel(weights []float32, h, w int) (Kernel, error) {
	if err := checkSize(h, w); err != nil {
		return Kernel{}, err
	}
	if len(weights) != h*w {
		return Kernel{}, fmt.Errorf("deblur: %d weights for a kernel of %d×%d, want %d", len(weights), h, w, h*w)
	}
	wide := make([]float64, len(weights))
	for i, v := range weights {
		wide[i] = float64(v)
	}
	return normalised(wide, h, w)
}

// Check returns an error unless the sizes, the centre and the number of weights fit together and all weights
// are finite.
func (k Kernel) Check() error {
	if err := checkSize(k.H, k.W); err != nil {
		return err
	}
	if len(k.Weights) != k.H*k.W {
		return fmt.Errorf("deblur: %d weights in a kernel of %d×%d, want %d", len(k.Weights), k.H, k.W, k.H*k.W)
	}
	if k.CY < 0 || k.CY >= k.H || k.CX < 0 || k.CX >= k.W {
		return fmt.Errorf("deblur: centre (%d,%d) is outside the kernel of %d×%d", k.CY, k.CX, k.H, k.W)
	}
	for i, v := range k.Weights {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("deblur: kernel weight in row %d, column %d is %v, want a finite number", i/k.W, i%k.W, v)
		}
	}
	return nil
}

func checkSize(h, w int) error {
	if h < 1 || w < 1 {
		return fmt.Errorf("deblur: kernel of %d×%d samples has none, want 1×1 or more", h, w)
	}
	if h > MaxKernelSize || w > MaxKernelSize {
		return fmt.Errorf("deblur: kernel of %d×%d samples is too large, want at most %d×%d (is it a photograph?)",
			h, w, MaxKernelSize, MaxKernelSize)
	}
	return nil
}

// normalised makes a kernel of weights of any scale, which it overwrites.
func normalised(weights []float64, h, w int) (Kernel, error) {
	sum, top := 0.0, 0.0
	for i, v := range weights {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return Kernel{}, fmt.Errorf("deblur: kernel weight in row %d, column %d is %v, want a finite number", i/w, i%w, v)
		case v < 0:
			return Kernel{}, fmt.Errorf("deblur: kernel weight in row %d, column %d is %v, want none below 0", i/w, i%w, v)
		}
		sum += v
		top = max(top, v)
	}
	if sum == 0 {
		return Kernel{}, fmt.Errorf("deblur: kernel of %d×%d is all black or transparent, want at least one weight above 0", h, w)
	}

	// Weights are m·q with integers m ≤ 2²³ and q a power of two, so float32 holds
	// them exactly. What their rounding leaves of the sum goes to the centre, which
	// keeps a symmetric kernel symmetric, or, where the centre is too dark to take
	// it, to the largest weight; that is at least 2²²·q, and the rest at most
	// h·w·q/2 < 2²¹·q, so the result is positive and below 2²⁴·q.
	_, exponent := math.Frexp(top / sum)
	q := math.Ldexp(1, exponent-23)
	rest := 1 / q
	centre, largest := h/2*w+w/2, 0
	for i, v := range weights {
		weights[i] = math.Round(v / sum / q)
		rest -= weights[i]
		if weights[i] > weights[largest] {
			largest = i
		}
	}
	if 2*weights[centre] >= weights[largest] && 2*math.Abs(rest) <= weights[centre] {
		weights[centre] += rest
	} else {
		weights[largest] += rest
	}

	t, b := margins(h, func(y int) bool { return allZero(weights[y*w : (y+1)*w]) })
	l, r := margins(w, func(x int) bool {
		for y := range h {
			if weights[y*w+x] != 0 {
				return false
			}
		}
		return true
	})
	k := Kernel{H: b - t, W: r - l, CY: h/2 - t, CX: w/2 - l}
	k.Weights = make([]float32, 0, k.H*k.W)
	for y := t; y < b; y++ {
		for x := l; x < r; x++ {
			k.Weights = append(k.Weights, float32(weights[y*w+x]*q))
		}
	}
	return k, nil
}

// margins returns the range [from, to) of 0…n−1 that stays when as many lines as
// possible are cut off, the same number on both sides of line ⌊n/2⌋. If n
// is even, the first line has no counterpart and goes first.
func margins(n int, zero func(i int) bool) (from, to int) {
	c := n / 2
	for r := c; r > 0; r-- {
		if !zero(c-r) || (c+r < n && !zero(c+r)) {
			return c - r, min(c+r+1, n)
		}
	}
	return c, c + 1
}

// Energy returns ‖k‖₂²: 1 for no blur at all, and less for a wider blur.
func (k Kernel) Energy() float64 {
	sum := 0.0
	for _, w := range k.Weights {
		sum += float64(w) * float64(w)
	}
	return sum
}
