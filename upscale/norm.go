package upscale

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/response"
)

// Norm returns a proven upper bound of ‖K‖, and the reason; the comment of deblur.Operator.Norm applies here
// too. It is far below the blur's, about 1/factor: an iteration with τ = 1/‖K‖² is faster by the square of
// the factor.
//
// On ℓ²(Z²) KKᵀ = S·B·Bᵀ·Sᵀ is the convolution with the kernel's autocorrelation at multiples of the factor,
// g[m] = Σ k[i]·k[i + factor·m]. So ‖K‖² is the largest value G of its frequency response: the energy of all
// frequencies that downsampling merges into one. Then:
//
//   - Circular: KKᵀ is the circular convolution with g, and ‖K‖² the largest response among
//     the photograph's frequencies. This holds for a kernel larger than the image too,
//     because g wraps around as k does.
//   - Zero and Unknown: K is a compression of the operator on ℓ²(Z²): ‖K‖² ≤ G.
//   - Reflect: the reflected image has four times the energy, and the photograph is a
//     quarter of the result of the circular operator: ‖K‖² ≤ 4G. If the kernel is
//     symmetric about the middle of the square, that result is the photograph reflected, with
//     four times its energy: ‖K‖² ≤ G.
//   - Always ‖K‖ ≤ ‖S‖·‖B‖ = ‖B‖.
//
// The response is a trigonometric polynomial of degree d = ⌊(size − 1)/factor⌋ and not negative: N > 2d
// equidistant samples per variable reach at least G·cos(πd/N).
func (d *Downsampling) Norm() (bound float64, reason string) {
	d.normOnce.Do(func() { d.norm, d.normReason = d.bound() })
	return d.norm, d.normReason
}

func (d *Downsampling) bound() (bound float64, reason string) {
	bound, reason = d.blur.Norm()
	reason = "downsampling keeps some samples of the blur: " + reason
	g, ok := newAliasing(d.blur.Kernel(), d.factor)
	if !ok {
		return bound, reason
	}
	square, ok := 0.0, false
	what := "bounded by its samples on a grid"
	switch {
	case d.blur.Boundary() == deblur.Circular:
		square, ok = g.largest(d.h, d.w)
		what = "at the photograph's frequencies"
	case d.blur.Boundary() == deblur.Reflect && !symmetricInSquare(d.blur.Kernel(), d.factor):
		square, ok = g.sup()
		square *= 4
		what += ", times 4 for the reflected copies"
	default:
		square, ok = g.sup()
	}
	if norm := math.Sqrt(square) * (1 + 4*response.Unit); ok && norm < bound {
		return norm, fmt.Sprintf("%v, downsampled by %d: the largest energy of the frequencies that become one, %s", d.blur.Boundary(), d.factor, what)
	}
	return bound, reason
}

// symmetricInSquare tells whether a kernel is the same upside down and from right to left
// with regard to the middle of a square of factor×factor.
func symmetricInSquare(k deblur.Kernel, factor int) bool {
	if k.CY != k.H/2 || k.CX != k.W/2 || k.H%2 != factor%2 || k.W%2 != factor%2 {
		return false
	}
	for i, v := range k.Weights {
		y, x := i/k.W, i%k.W
		if v != k.Weights[(k.H-1-y)*k.W+x] || v != k.Weights[y*k.W+k.W-1-x] {
			return false
		}
	}
	return true
}

// aliasing is g, for offsets of −dy…dy rows and −dx…dx columns of the photograph. It is
// symmetric about 0, so that its frequency response is real.
type aliasing struct {
	dy, dx int
	g      []float64
	slack  float64 // what rounding may have taken from any value of the response
}

// newAliasing computes g; ok is false where that takes too long.
func newAliasing(k deblur.Kernel, factor int) (a aliasing, ok bool) {
	a.dy, a.dx = (k.H-1)/factor, (k.W-1)/factor
	rows, columns := 2*a.dy+1, 2*a.dx+1
	if float64(len(k.Weights))*float64(rows)*float64(columns) > 4*response.Affordable {
		return a, false
	}
	a.g = make([]float64, rows*columns)
	for i := range a.g {
		oy, ox := factor*(i/columns-a.dy), factor*(i%columns-a.dx)
		sum := 0.0
		for y := max(0, -oy); y < min(k.H, k.H-oy); y++ {
			from, to := max(0, -ox), min(k.W, k.W-ox)
			if from >= to {
				continue
			}
			other := k.Weights[(y+oy)*k.W+from+ox:]
			for x, v := range k.Weights[y*k.W+from : y*k.W+to] {
				sum += float64(v) * float64(other[x])
			}
		}
		a.g[i] = sum
	}
	// A sum of n exact products (24 bits each) has an error below n units of the sum of
	// their magnitudes, and Σ over m of those is at most (Σ|k|)². The two nested sums of
	// largest add less than 4(rows + columns + 8) units of Σ|g|, no more than that
	// (response.Largest).
	sum := response.SumAbove(k.Weights)
	a.slack = float64(len(k.Weights)+4*(rows+columns+8)+8) * 2 * response.Unit * sum * sum
	return a, true
}

// largest returns the largest response at the frequencies of ny×nx samples, and no less;
// ok is false where that takes too long.
func (a aliasing) largest(ny, nx int) (top float64, ok bool) {
	rows, columns := 2*a.dy+1, 2*a.dx+1
	half := nx/2 + 1 // the response is the same at −θ
	if float64(half)*(float64(rows)*float64(columns)+float64(ny)*float64(rows)) > response.Affordable {
		return 0, false
	}
	ry, rx := response.RootsOfUnity(ny), response.RootsOfUnity(nx)
	line := make([]complex128, rows)
	for fx := range half {
		for i := range line {
			line[i] = 0
			for j, v := range a.g[i*columns : (i+1)*columns] {
				line[i] += complex(v, 0) * rx.At((j-a.dx)*fx)
			}
		}
		for fy := range ny {
			value := 0.0
			for i, v := range line {
				root := ry.At((i - a.dy) * fy)
				value += real(v)*real(root) - imag(v)*imag(root)
			}
			top = max(top, value)
		}
	}
	return top + a.slack, true
}

// sup returns a bound of the response at all frequencies.
func (a aliasing) sup() (bound float64, ok bool) {
	// 64 samples for each degree exceed the supremum by 0.25 percent at most, 16 by 4.
	for _, density := range []int{64, 16} {
		ny, nx := max(1, density*a.dy), max(1, density*a.dx)
		if top, ok := a.largest(ny, nx); ok {
			return top / response.Reach(a.dy, ny) / response.Reach(a.dx, nx) * (1 + 8*response.Unit), true
		}
	}
	return 0, false
}
