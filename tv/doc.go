// Package tv solves the proximal problem of total variation, the model of Rudin, Osher and Fatemi,
//
//	prox(y) = argmin over u of ½‖u − y‖² + α·TV(u),
//
// to a certified duality gap. TV(u) is a sum over pixels of Euclidean norms of the discrete gradient (forward
// differences, zero at the far edges). A Coupling says which colour channels, or combinations of them, share
// a norm. As a proximal map, prox is firmly nonexpansive, that is ½-averaged, for every coupling.
//
// The solver is the accelerated primal-dual algorithm of Chambolle and Pock (2011, algorithm 2), and its
// iterations run on a backend.Device. It ends at a pair (u, p) of a primal and a dual point. The gap of the
// pair is computed, not estimated. The objective is strongly convex, so
//
//	‖u − prox(y)‖ ≤ √(2·gap).
//
// # What limits the gap
//
// The iterates are float32, the terms and sums of the gap float64. In flat parts of the solution,
// neighbouring pixels of u may differ by the rounding of u, up to 2⁻²⁴·|u|, and each such difference adds up
// to α times its size to the gap. Elsewhere p is on the surface of its ball only to 2⁻²³. On photographs the
// gap stops falling at 2e-8 to 1e-7 of the primal objective: a relative gap of 1e-6 is attained, 1e-8 is not. Under a large α, where
// little of the image is left, it stops at more.
// The solver notices that the gap no longer falls, stops, and reports what it has reached.
package tv
