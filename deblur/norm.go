package deblur

import (
	"fmt"

	"github.com/averaged/imaging/internal/response"
)

// Norm returns a proven upper bound of the operator norm ‖K‖ (the largest ‖Kx‖/‖x‖), and the reason why it
// holds. It is for the weights as stored and for exact arithmetic: the rounding of a device is not included.
// With S = Σ|k| and M the largest modulus of the kernel's frequency response:
//
//   - Circular, no negative weight: ‖K‖ = S, attained by a constant image. For a
//     kernel of this package that is exactly 1. Otherwise K is diagonal in the
//     discrete Fourier basis and ‖K‖ = max |k̂| over the image's frequencies.
//   - Zero and Unknown: K is a compression of the convolution on ℓ²(Z²), whose norm
//     is M, at most S (Young's inequality).
//   - Reflect, kernel symmetric in both directions: K is diagonal in the discrete
//     cosine basis with values of k̂, so again at most M.
//   - Reflect, any kernel: ‖K‖ ≤ ‖|K|‖, and for a matrix A ≥ 0 and any vector v > 0
//     ‖A‖² ≤ max (AᵀAv)ᵢ/vᵢ (Collatz 1942, Wielandt 1950; with v = 1 it is Schur's test,
//     the largest row sum times the largest column sum). A few steps of power
//     iteration make v. Also ‖K‖ ≤ 2M, because the four copies of the reflected image
//     have twice its norm.
//
// If M differs from S, it is bounded by samples of k̂: for a trigonometric polynomial of degree d, N > 2d
// equidistant samples per variable reach at least max |k̂|·cos(πd/N). Norm returns the smallest bound that
// applies, and computes it on the first call.
func (o *Operator) Norm() (bound float64, reason string) {
	o.normOnce.Do(func() { o.norm, o.normReason = normBound(o.kernel, o.boundary, o.h, o.w) })
	return o.norm, o.normReason
}

func normBound(k Kernel, boundary Boundary, h, w int) (bound float64, reason string) {
	sum := response.SumAbove(k.Weights)
	weights, nonnegative := "the sum of the weights' magnitudes", true
	for _, v := range k.Weights {
		nonnegative = nonnegative && v >= 0
	}
	if nonnegative {
		weights = "the sum of the weights, none of which is negative"
	}
	bound = sum
	symmetric := boundary == Reflect && k.symmetric()
	switch {
	case boundary == Circular && nonnegative:
		return sum, fmt.Sprintf("circular: %s, attained by a constant image", weights)
	case boundary == Circular:
		reason = fmt.Sprintf("circular: %s (Young's inequality)", weights)
		if m, ok := response.Largest(k.Weights, k.W, h, w, sum); ok && m < bound {
			bound, reason = m, "circular: the largest modulus of the kernel's discrete Fourier transform"
		}
	case boundary == Reflect && !symmetric:
		bound, reason = reflectBound(k, h, w)
	case symmetric:
		reason = fmt.Sprintf("reflect, symmetric kernel: diagonal in the discrete cosine basis, %s", weights)
	default:
		reason = fmt.Sprintf("%v: %s (Young's inequality)", boundary, weights)
	}
	if nonnegative {
		return bound, reason // k̂ is largest at frequency 0, where it is the sum
	}
	if m, ok := response.Bound(k.Weights, k.W, sum); ok {
		if boundary == Reflect && !symmetric {
			m *= 2
		}
		if m < bound {
			bound, reason = m, fmt.Sprintf("%v: the kernel's frequency response, bounded by its samples on a grid", boundary)
			switch {
			case symmetric:
				reason += " (reflected and symmetric: diagonal in the discrete cosine basis)"
			case boundary == Reflect:
				reason += ", times 2 for the reflected copies"
			}
		}
	}
	return bound, reason
}

// symmetric tells whether k[CY+i, CX+j] stays the same when i or j changes its sign.
func (k Kernel) symmetric() bool {
	at := func(i, j int) float32 {
		if i < 0 || i >= k.H || j < 0 || j >= k.W {
			return 0
		}
		return k.Weights[i*k.W+j]
	}
	for i := range k.H {
		for j := range k.W {
			v := at(i, j)
			if v != at(2*k.CY-i, j) || v != at(i, 2*k.CX-j) {
				return false
			}
		}
	}
	return true
}
