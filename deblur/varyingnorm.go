package deblur

import (
	"math"
	"slices"

	"github.com/averaged/imaging/internal/response"
)

// Norm returns a proven upper bound of ‖K‖, and the reason. It is for the weights and windows as stored, and
// for exact arithmetic. ‖K‖² is at most the largest row sum of |K| times its largest column sum (Schur's
// test). If no weight is negative, these are the largest samples of K and of Kᵀ applied to ones. A column sum
// is at most Σᵢ wᵢ·Σ|kᵢ|. Row sums are computed at closely spaced samples of the photograph, each with windows
// so large that it bounds the row sums of the samples around it. The bound is computed on the first call.
func (v *Varying) Norm() (bound float64, reason string) {
	v.normOnce.Do(func() {
		column := 0.0
		for _, k := range v.grid.Kernels {
			column = max(column, response.SumAbove(k.Weights))
		}
		// Both windows of a product are rounded to float32, and sums of nonnegative terms to float64.
		const rounding = 1 + 0x1p-21
		v.norm = math.Sqrt(v.largestRow(v.rowSpacing())*column*rounding) * (1 + 4*response.Unit)
		v.normReason = "varying: Schur's test, the root of the largest row sum of |K| times its largest column sum"
	})
	return v.norm, v.normReason
}

// rowSpacing is how far apart row sums are computed, odd: as close as can be afforded.
func (v *Varying) rowSpacing() int {
	h, w := v.Range()
	kh, kw := v.frame.kernel.H, v.frame.kernel.W
	// A window of a row and one of a column are not 0 at about two parts each.
	step := 1
	cost := func() float64 {
		return float64(h/step+1) * (4*float64(kw)*float64(w/step+1) + 4*float64(kh*kw))
	}
	for cost() > 4*response.Affordable {
		step += 2
	}
	return step
}

// largestRow bounds the row sums. The one of sample p is Σᵢ Σₜ |kᵢ(t)|·wᵢ(p−t). No p is farther than step/2 from
// a centre c, in rows and in columns, so that wᵢ(p−t) is at most the largest value of wᵢ that near to c−t.
func (v *Varying) largestRow(step int) float64 {
	h, w := v.Range()
	kh, kw := v.frame.kernel.H, v.frame.kernel.W
	rows, columns := widened(v.rows, step/2), widened(v.columns, step/2)
	largest := 0.0
	for y := range centres(h, step) {
		// rows[j] are the windows of columns under what is left of a kernel, summed along its rows.
		sums := make([]float64, w)
		for i, k := range v.grid.Kernels {
			a := rows[i/v.grid.Columns][y : y+kh]
			if a[0] == 0 && a[kh-1] == 0 && allZero(a) {
				continue
			}
			of := make([]float64, kw)
			for j, t := range k.Weights {
				of[j%kw] += math.Abs(float64(t)) * a[kh-1-j/kw]
			}
			b := columns[i%v.grid.Columns]
			for x := range centres(w, step) {
				if b[x] == 0 && b[x+kw-1] == 0 && allZero(b[x:x+kw]) {
					continue
				}
				for j, t := range of {
					sums[x] += t * b[x+kw-1-j]
				}
			}
		}
		for _, s := range sums {
			largest = max(largest, s)
		}
	}
	return largest
}

func allZero(a []float64) bool {
	for _, v := range a {
		if v != 0 {
			return false
		}
	}
	return true
}

// centres yields samples such that all n are at most step/2 away from one, step odd.
func centres(n, step int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := step / 2; ; i += step {
			if !yield(min(i, n-1)) || i+step/2 >= n-1 {
				return
			}
		}
	}
}

// widened are the largest values of windows within so many samples of each.
func widened(windows [][]float64, reach int) [][]float64 {
	all := make([][]float64, len(windows))
	for i, w := range windows {
		for s := range w {
			all[i] = append(all[i], slices.Max(w[max(0, s-reach):min(len(w), s+reach+1)]))
		}
	}
	return all
}
