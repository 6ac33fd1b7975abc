package deblur

import (
	"fmt"
	"math"
)

// Norm returns an upper bound of the operator norm ‖K‖ (the largest ‖Kx‖/‖x‖) that
// is a proof, and the reason why it holds. It is a bound of K with the weights as
// they are stored, and in exact arithmetic: how a device rounds is not in it. With
// S = Σ|k| and M the largest modulus of the kernel's frequency response:
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
// Where M is not S it is bounded by samples of k̂: of a trigonometric polynomial of
// degree d, N > 2d equidistant samples per variable hold max |k̂|·cos(πd/N) or more.
// The smallest bound that applies is returned. It is computed on the first call.
func (o *Operator) Norm() (bound float64, reason string) {
	o.normOnce.Do(func() { o.norm, o.normReason = normBound(o.kernel, o.boundary, o.h, o.w) })
	return o.norm, o.normReason
}

func normBound(k Kernel, boundary Boundary, h, w int) (bound float64, reason string) {
	sum := sumAbove(k.Weights)
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
		if m, ok := largestResponse(k, h, w, sum); ok && m < bound {
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
	if m, ok := responseBound(k, sum); ok {
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

// sumAbove returns Σ|v|, or a little more if float64 cannot hold it. The rounding
// error of every addition is computed exactly (Knuth's two-sum).
func sumAbove(weights []float32) float64 {
	sum, rest := 0.0, 0.0
	for _, v := range weights {
		a := math.Abs(float64(v))
		next := sum + a
		shadow := next - sum
		rest += math.Abs((sum - (next - shadow)) + (a - shadow))
		sum = next
	}
	if rest > 0 {
		sum = math.Nextafter(sum+2*rest, math.Inf(1))
	}
	return sum
}

// unit is the unit roundoff of float64.
const unit = 0x1p-53

// affordable is how many multiplications a bound may cost.
const affordable = 1 << 28

// largestResponse returns the largest |k̂| over the frequencies of ny×nx samples,
// and no less; ok is false where that takes too long.
func largestResponse(k Kernel, ny, nx int, sum float64) (top float64, ok bool) {
	half := nx/2 + 1 // k̂(−θ) is the conjugate of k̂(θ)
	if cost := float64(half) * (float64(k.H)*float64(k.W) + float64(ny)*float64(k.H)); cost > affordable {
		return 0, false
	}
	ry, rx := roots(ny), roots(nx)
	column := make([]complex128, k.H)
	for fx := range half {
		for i := range column {
			column[i] = 0
			for j, v := range k.Weights[i*k.W : (i+1)*k.W] {
				column[i] += complex(float64(v), 0) * rx[j*fx%nx]
			}
		}
		for fy := range ny {
			response := complex(0, 0)
			for i, v := range column {
				response += v * ry[i*fy%ny]
			}
			top = max(top, math.Hypot(real(response), imag(response)))
		}
	}
	// Two nested sums of KW and KH terms, each a product with a rounded root: the error
	// of the whole is below 4(KH+KW+4) units of Σ|k| (Higham 2002, section 3.1).
	return top + float64(4*(k.H+k.W+4))*unit*sum, true
}

func roots(n int) []complex128 {
	r := make([]complex128, n)
	for i := range r {
		s, c := math.Sincos(-2 * math.Pi * float64(i) / float64(n))
		r[i] = complex(c, s)
	}
	return r
}

// responseBound returns a bound of |k̂| over all frequencies.
func responseBound(k Kernel, sum float64) (bound float64, ok bool) {
	dy, dx := k.H/2, k.W/2
	ny, nx := max(1, 16*dy), max(1, 16*dx)
	top, ok := largestResponse(k, ny, nx, sum)
	if !ok {
		return 0, false
	}
	shrink := math.Cos(math.Pi*float64(dy)/float64(ny)) * math.Cos(math.Pi*float64(dx)/float64(nx))
	return top / shrink * (1 + 8*unit), true
}
