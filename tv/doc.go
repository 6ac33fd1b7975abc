// Package tv solves the proximal problem of total variation, the model of Rudin,
// Osher and Fatemi,
//
//	prox(y) = argmin over u of ½‖u − y‖² + α·TV(u),
//
// to a certified duality gap. TV(u) is a sum over pixels of Euclidean norms of
// the discrete gradient (forward differences, zero at the far edges); a Coupling
// says which colour channels, or which combinations of them, share a norm. Being
// a proximal map, prox is firmly nonexpansive, that is ½-averaged, whatever the
// coupling.
//
// The solver is the accelerated primal-dual algorithm of Chambolle and Pock (2011,
// algorithm 2), whose iterations run on a backend.Device. It ends at a pair (u, p)
// of a primal and a dual point whose gap is computed, not estimated; and since the
// objective is strongly convex,
//
//	‖u − prox(y)‖ ≤ √(2·gap).
//
// # What limits the gap
//
// The iterates are float32, the terms and sums of the gap float64. Where the
// solution is flat, neighbouring pixels of u may differ by the rounding of u, up
// to 2⁻²⁴·|u|, and each such difference adds up to α times its size to the gap;
// where it is not, p is on the surface of its ball to 2⁻²³ only. On photographs
// the gap stops falling at 2e-8 to 1e-7 of the primal objective: a relative gap of
// 1e-6 is attained, 1e-8 is not. The solver notices that the gap no longer falls,
// stops, and says what it has reached.
package tv
