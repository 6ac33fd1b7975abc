// Package response bounds the frequency responses of kernels, rounding included.
package response

import "math"

// SumAbove returns Σ|v|, or a little more if float64 cannot hold it. The rounding
// error of every addition is computed exactly (Knuth's two-sum).
func SumAbove(weights []float32) float64 {
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

// Unit is the unit roundoff of float64.
const Unit = 0x1p-53

// Affordable is how many multiplications a bound may cost.
const Affordable = 1 << 28

// Largest returns the largest |k̂| over the frequencies of ny×nx samples, and no less, of a
// kernel whose rows have width weights and whose weights' magnitudes have the sum sum; ok is
// false where that takes too long.
func Largest(weights []float32, width, ny, nx int, sum float64) (top float64, ok bool) {
	height := len(weights) / width
	half := nx/2 + 1 // k̂(−θ) is the conjugate of k̂(θ)
	if cost := float64(half) * (float64(height)*float64(width) + float64(ny)*float64(height)); cost > Affordable {
		return 0, false
	}
	ry, rx := RootsOfUnity(ny), RootsOfUnity(nx)
	column := make([]complex128, height)
	for fx := range half {
		for i := range column {
			column[i] = 0
			for j, v := range weights[i*width : (i+1)*width] {
				column[i] += complex(float64(v), 0) * rx.At(j*fx)
			}
		}
		for fy := range ny {
			value := complex(0, 0)
			for i, v := range column {
				value += v * ry.At(i*fy)
			}
			top = max(top, math.Hypot(real(value), imag(value)))
		}
	}
	// Two nested sums of KW and KH terms, each a product with a root. The roots are off by √2·RootError each, 23
	// units together, the products by 3 each, and a sum of n complex terms by √2·n (Higham 2002, section 3.1):
	// together less than 4(KH+KW+8) units of Σ|k|.
	return top + float64(4*(height+width+8))*Unit*sum, true
}

// Bound returns a bound of |k̂| over all frequencies, for arguments as those of Largest. The real part of k̂, in any
// direction, is of degree ⌊KH/2⌋ and ⌊KW/2⌋ about the middle of the kernel.
func Bound(weights []float32, width int, sum float64) (bound float64, ok bool) {
	dy, dx := len(weights)/width/2, width/2
	ny, nx := max(1, 16*dy), max(1, 16*dx)
	top, ok := Largest(weights, width, ny, nx, sum)
	if !ok {
		return 0, false
	}
	return top / Reach(dy, ny) / Reach(dx, nx) * (1 + 8*Unit), true
}

// Reach returns a lower bound of cos(πd/n), d ≥ 0, n > 2d: n equidistant samples of a real trigonometric polynomial
// of degree d reach at least that share of its largest modulus (Bernstein and Szegő's inequality). Of several
// variables one is sampled after the other, and the shares are multiplied.
func Reach(d, n int) float64 {
	cos, _ := UnitRoot(d, 2*n)
	return cos - RootError
}
