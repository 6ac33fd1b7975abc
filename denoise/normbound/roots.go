package normbound

import "github.com/averaged/imaging/internal/response"

// unit is the unit roundoff of float64: fl(a∘b) = (a∘b)(1+δ) with |δ| ≤ unit.
const unit = 0x1p-53

// roots is a table of e^{2πij/n}, 0 ≤ j < n. The one of n = 0 has only 1.
type roots struct {
	cos, sin []float64
}

func newRoots(n int) roots {
	if n == 0 {
		return roots{[]float64{1}, []float64{0}}
	}
	r := roots{make([]float64, n), make([]float64, n)}
	for j := range n {
		r.cos[j], r.sin[j] = response.UnitRoot(j, n)
	}
	return r
}

// power returns e^{2πijk/n} for any integer k.
func (r roots) power(j, k int) (cos, sin float64) {
	n := len(r.cos)
	i := ((j*k)%n + n) % n
	return r.cos[i], r.sin[i]
}
