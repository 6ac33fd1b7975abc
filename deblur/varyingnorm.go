package deblur

import (
	"math"

	"github.com/averaged/imaging/internal/response"
)

// Norm returns a proven upper bound of ‖K‖, and the reason. It is for the weights and windows as stored, and
// for exact arithmetic. ‖K‖² is at most the largest row sum of |K| times its largest column sum (Schur's
// test). If no weight is negative, these are the largest samples of K and of Kᵀ applied to ones. A column sum
// is at most Σᵢ wᵢ·Σ|kᵢ|. Row sums are computed at closely spaced samples of the photograph; between these
// they change by at most as much as the windows do. The bound is computed on the first call.
func (v *Varying) Norm() (bound float64, reason string) {
	v.normOnce.Do(func() {
		column := 0.0
		for _, k := range v.grid.Kernels {
			column = max(column, response.SumAbove(k.Weights))
		}
		// Both windows of a product are rounded to float32, and sums of nonnegative terms to float64.
		const rounding = 1 + 0x1p-21
		v.norm = math.Sqrt(v.largestRow(column)*column*rounding) * (1 + 4*response.Unit)
		v.normReason = "varying: Schur's test, the root of the largest row sum of |K| times its largest column sum"
	})
	return v.norm, v.normReason
}

// largestRow bounds the row sums, for kernels whose weights' magnitudes sum to sum at most.
func (v *Varying) largestRow(sum float64) float64 {
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
	largest := 0.0
	for y := range centres(h, step) {
		// rows[j] are the windows of columns under what is left of a kernel, summed along its rows.
		sums := make([]float64, w)
		for i, k := range v.grid.Kernels {
			a := v.rows[i/v.grid.Columns][y : y+kh]
			if a[0] == 0 && a[kh-1] == 0 && allZero(a) {
				continue
			}
			of := make([]float64, kw)
			for j, t := range k.Weights {
				of[j%kw] += math.Abs(float64(t)) * a[kh-1-j/kw]
			}
			b := v.columns[i%v.grid.Columns]
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
	return largest + float64(step/2)*(change(v.rows)+change(v.columns))*sum
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

// change is the most by which windows change from one sample to the next, all together.
func change(windows [][]float64) float64 {
	most := 0.0
	for s := range len(windows[0]) - 1 {
		sum := 0.0
		for _, w := range windows {
			sum += math.Abs(w[s+1] - w[s])
		}
		most = max(most, sum)
	}
	return most
}
