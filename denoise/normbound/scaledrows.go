package normbound

import (
	"errors"
	"math"

	"github.com/averaged/imaging/backend"
)

// ScaledRows returns W, the float32s next to (1−κ)·diag(d)·V, for d in [0, 1]: of a filter V
// of the given shape, row o is multiplied by d_o. κ is 0 if all d_o are 0 or 1 and there
// is nothing to round; else it is so large that
//
//	‖W‖ ≤ max d · ‖V‖,
//
// as norms of convolutions on the infinite grid, whatever the rounding. For with
// E = W − (1−κ)·diag(d)·V,
//
//	‖W‖ ≤ (1−κ)·max d·‖V‖ + ‖E‖,   ‖E‖ ≤ u·max d·√(RC) + τ   and   ‖V‖ ≥ ℓ,
//
// where R is the largest sum of |V| over a row, C over a column (Schur's test), ℓ the
// largest Euclidean norm of a row, which Vᵀ makes of a unit impulse, u the relative error
// of a rounding, and τ the same test of what rounding to multiples of 2⁻¹⁴⁹ can add. So
// κ ≥ (u·√(RC) + τ/max d)/ℓ is enough: about 1e-6 for 64 channels and 3×3 pixels.
func ScaledRows(v []float32, shape backend.Shape, d []float64) ([]float32, error) {
	top, exact := 0.0, true
	for _, x := range d {
		top = max(top, x)
		exact = exact && (x == 0 || x == 1)
	}
	shorten := 1.0
	if !exact {
		kappa := roundingShare(v, shape, top)
		if !(kappa < maxShortened) {
			return nil, errors.New("its weights are too small to be multiplied by a gain within float32")
		}
		shorten = 1 - kappa
	}
	w := make([]float32, len(v))
	row := len(v) / shape.N
	for o, x := range d {
		x *= shorten
		for k, weight := range v[o*row:][:row] {
			w[o*row+k] = float32(x * float64(weight))
		}
	}
	return w, nil
}

// maxShortened is a share of the weights that nobody would notice. It is only passed
// where they are near the end of float32's range.
const maxShortened = 1e-3

// roundingShare returns κ.
func roundingShare(v []float32, shape backend.Shape, top float64) float64 {
	taps := shape.H * shape.W
	columns := make([]float64, shape.C)
	rows, longest := 0.0, 0.0
	for o := range shape.N {
		sum, squares := 0.0, 0.0
		for i := range shape.C {
			part := 0.0
			for _, weight := range v[(o*shape.C+i)*taps:][:taps] {
				x := math.Abs(float64(weight))
				part += x
				squares += x * x
			}
			columns[i] += part
			sum += part
		}
		rows, longest = max(rows, sum), max(longest, squares)
	}
	if longest == 0 {
		return 0 // nothing but zeros, which stay
	}
	column := 0.0
	for _, sum := range columns {
		column = max(column, sum)
	}
	// A product is rounded to float64 and then to float32, and (1−κ)·d before: less than
	// 2⁻²⁴(1 + 2⁻²⁷) in all. The sums are right to len(v)+2 units, and what follows adds a
	// few more.
	const u = 0x1p-24 * (1 + 0x1p-26)
	slack := 1 + float64(len(v)+32)*4*unit
	tiny := 0x1p-149 * float64(taps) * math.Sqrt(float64(shape.N)*float64(shape.C))
	// κ itself is rounded, and 1−κ: 4 units more.
	return (u*math.Sqrt(rows*column)+tiny/top)/math.Sqrt(longest)*slack + 4*unit
}

// LongestRow returns a lower bound of the norm of a filter of so many rows: the largest
// Euclidean norm of its rows, which are what the adjoint makes of unit impulses.
func LongestRow(w []float32, rows int) float64 {
	longest, n := 0.0, len(w)/rows
	for o := range rows {
		squares := 0.0
		for _, v := range w[o*n:][:n] {
			squares += float64(v) * float64(v)
		}
		longest = max(longest, squares)
	}
	return math.Sqrt(longest) * (1 - float64(n+8)*2*unit)
}
