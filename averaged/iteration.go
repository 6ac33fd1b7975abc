package averaged

import "math"

// ResidualBound returns the bound of the smallest residual ‖x_i − T(x_i)‖ among the first k+1 iterates
// x_{i+1} = T(x_i) of an α-averaged map T,
//
//	√(α/((1−α)(k+1)))·distance,
//
// where distance bounds ‖x_0 − x*‖ for some fixed point x*: ‖Tx − x*‖² ≤ ‖x − x*‖² − (1−α)/α·‖x − Tx‖²,
// summed over the iterates (Krasnoselskii 1955, Mann 1953; Bauschke and Combettes 2017, theorem 5.15). The
// residuals of a nonexpansive map never grow, so the last one is the smallest. The bound is +Inf for α = 1,
// and rounded to nearest.
func ResidualBound(alpha float64, k int, distance float64) float64 {
	if !(alpha >= 0 && alpha < 1) {
		return math.Inf(1)
	}
	return math.Sqrt(alpha/(1-alpha)/float64(k+1)) * distance
}

// HalpernBound returns the bound 2·distance/(k+1) of ‖x_k − T(x_k)‖ for a nonexpansive T and
// Halpern's iteration x_{k+1} = (x_0 + (k+1)·T(x_k))/(k+2) (Lieder, On the convergence rate of
// the Halpern-iteration, 2021).
func HalpernBound(k int, distance float64) float64 { return 2 * distance / float64(k+1) }

// FixedPointBound returns a bound of ‖T(x) − x*‖, where T has the Lipschitz constant q < 1 and the fixed
// point x*. residual is ‖x − T(x)‖. Then ‖x − x*‖ ≤ residual/(1−q) (Banach 1922), and T shortens that
// distance by the factor q. The bound is +Inf for q = 1 or more.
func FixedPointBound(q, residual float64) float64 {
	if !(q >= 0 && q < 1) {
		return math.Inf(1)
	}
	return q * residual / (1 - q)
}
