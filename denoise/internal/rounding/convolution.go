package rounding

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
)

const (
	// Unit is float32's unit roundoff: an operation changes its result by at most that much
	// of it.
	Unit = 0x1p-24
	// least bounds the error of an operation whose result is subnormal.
	least = 0x1p-150
)

// Error bounds the rounding of a linear map A: ‖fl(Az) − Az‖ ≤ Relative·‖z‖ + Absolute·√pixels.
type Error struct{ Relative, Absolute float64 }

// of returns the bound per pixel for ‖z‖ of that many pixels' root.
func (e Error) of(norm float64) float64 { return e.Relative*norm + e.Absolute }

// Convolution is a filter with what rounding does to it.
type Convolution struct {
	// Norm is an upper bound of ‖A‖.
	Norm float64
	// Forward and Adjoint are for A and Aᵀ, First for A of images whose channels are zero but
	// for the first few.
	Forward, Adjoint, First Error
	// Growth is that of the function Growth.
	Growth float64
}

// growth covers errors of second and higher order: a computed partial sum is no larger than the
// exact one and the errors before it, so that an error of first order e, in units, becomes at
// most e/(1 − e·Unit) for each of the factors that a term passes through.
func growth(units float64) float64 {
	if units*Unit > 0.1 {
		return math.Inf(1) // nothing is known of sums of more than a million terms
	}
	return 1 / (1 - 2*units*Unit)
}

// newConvolution analyses a filter w of shape (Out, In, KH, KW) in the layout of backend.Filter,
// with an upper bound of its norm, computed by an algorithm. first is how many input channels
// are not zero in Convolution.First. The context ends it.
func newConvolution(ctx context.Context, w []float32, shape backend.Shape, norm float64, a backend.ConvolutionAlgorithm, first int) (Convolution, error) {
	if a.Tiles != nil {
		return tiled(ctx, w, shape, norm, a.Tiles, first)
	}
	c := Convolution{Norm: norm, Growth: Growth(w, shape, a)}
	forward, taps := moduli(w, shape), shape.H*shape.W
	c.Forward = direct(forward, norm, taps)
	c.First = direct(forward.firstRows(first), norm, taps)
	c.Adjoint = direct(forward.transposed(), norm, taps)
	return c, ctx.Err()
}

// Growth bounds the modulus of every number that is met on the way to Az and Aᵀz, by the largest
// modulus in z. It takes far less time than newConvolution.
func Growth(w []float32, shape backend.Shape, a backend.ConvolutionAlgorithm) float64 {
	m := moduli(w, shape)
	sums := max(m.largestColumn(), m.largestRow())
	if a.Tiles == nil {
		return 2 * sums
	}
	input, filter, output := largestSum(a.Tiles.Input), largestSum(a.Tiles.Filter), largestSum(a.Tiles.Output)
	return 2 * max(1, input*input) * max(1, filter*filter*sums) * max(1, output*output)
}

// moduli returns Σ|w| over the taps, a row for each input channel. The convolution with |w| is
// largest at frequency 0, where it is this matrix.
func moduli(w []float32, s backend.Shape) matrix {
	taps := s.H * s.W
	m := newMatrix(s.C, s.N)
	for o := range s.N {
		for i := range s.C {
			sum := 0.0
			for _, v := range w[(o*s.C+i)*taps:][:taps] {
				sum += math.Abs(float64(v))
			}
			m.data[i*s.N+o] = sum
		}
	}
	return m
}

func (m matrix) transposed() matrix {
	t := newMatrix(m.cols, m.rows)
	for i := range m.rows {
		for j, v := range m.row(i) {
			t.data[j*m.rows+i] = v
		}
	}
	return t
}

// direct bounds the definition, of whose moduli in has a row for each input channel that is not
// zero. A partial sum is A restricted to some channels, of a norm of at most norm, plus some
// taps of one more channel, which are at most their moduli; products are rounded once. The sum
// of the moduli alone is another bound, and the smaller one for few terms.
func direct(in matrix, norm float64, taps int) Error {
	terms := float64(in.rows * taps)
	absolute := in.norm()
	running := terms*norm + absolute
	if taps > 1 {
		for i := range in.rows {
			running += float64(taps) * matrix{1, in.cols, in.row(i)}.frobenius()
		}
	}
	units := min(running, (terms+1)*absolute)
	return Error{
		Relative: up(units * Unit * growth(terms+1)),
		Absolute: 2 * terms * least * math.Sqrt(float64(in.cols)),
	}
}
