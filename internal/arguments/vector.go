package arguments

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// CheckTerms returns an error that wraps ErrArgument unless a LinearCombination may have n
// terms.
func CheckTerms(n int) error {
	if n < 1 || n > backend.MaxTerms {
		return fmt.Errorf("%w: linear combination of %d terms, 1 to %d are possible", backend.ErrArgument, n, backend.MaxTerms)
	}
	return nil
}

// CheckClip returns an error that wraps ErrArgument unless lo ≤ hi; neither is NaN then.
func CheckClip(lo, hi float32) error {
	if !(lo <= hi) {
		return fmt.Errorf("%w: clip to [%v, %v]", backend.ErrArgument, lo, hi)
	}
	return nil
}

// CheckMixing returns an error that wraps ErrShape unless dst and src differ in channels
// only and m has a number for every pair of them, and one that wraps ErrArgument where
// either has more than MaxMixed channels.
func CheckMixing(dst, src backend.Shape, m []float32) error {
	if dst.N != src.N || dst.H != src.H || dst.W != src.W || len(m) != dst.C*src.C {
		return fmt.Errorf("%w: %d coefficients from %v to %v", backend.ErrShape, len(m), src, dst)
	}
	if dst.C > backend.MaxMixed || src.C > backend.MaxMixed {
		return fmt.Errorf("%w: mixing %d into %d channels, at most %d are possible", backend.ErrArgument, src.C, dst.C, backend.MaxMixed)
	}
	return nil
}

// CheckReductions returns an error that wraps ErrShape unless out has room for one number
// per reduction, and one that wraps ErrArgument where a kind is none of those above. The
// shapes of X and Y it leaves to CheckSameShape.
func CheckReductions(out []float64, rs []backend.Reduction) error {
	if len(out) != len(rs) {
		return fmt.Errorf("%w: room for %d of %d reductions", backend.ErrShape, len(out), len(rs))
	}
	for _, r := range rs {
		if r.Kind > backend.DiffSquares {
			return fmt.Errorf("%w: reduction kind %d", backend.ErrArgument, r.Kind)
		}
	}
	return nil
}

// CheckGaussian returns an error that wraps ErrArgument unless mean is finite, and std
// finite and at least 0.
func CheckGaussian(mean, std float32) error {
	if !(std >= 0) || math.IsInf(float64(std), 0) || math.IsNaN(float64(mean)) || math.IsInf(float64(mean), 0) {
		return fmt.Errorf("%w: Gaussian with mean %v and standard deviation %v", backend.ErrArgument, mean, std)
	}
	return nil
}
