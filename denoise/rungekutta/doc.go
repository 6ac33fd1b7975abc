// Package rungekutta has Runge–Kutta methods as tableaux, their radii of circle contractivity,
// which are proven, and the numbers of steps that follow.
//
// Let ⟨f(x) − f(y), x − y⟩ ≤ −ν‖f(x) − f(y)‖², as for a block with ν = 1/(‖A‖²L) (package
// activation). A step of Euler's method is h/(2ν)-averaged (averaged.EulerStep). A step of
// another explicit method evaluates f at the points Y_i. With the differences Δ and Q of two runs,
// as in Tableau.Radius, it makes
//
//	‖Δz⁺‖² = ‖Δz‖² + 2h Σ b_i⟨Δf_i, ΔY_i⟩ − h² Σ Q_ij⟨Δf_i, Δf_j⟩
//	       ≤ ‖Δz‖² − h² Σ (Q + (2ν/h)·diag b)_ij⟨Δf_i, Δf_j⟩,
//
// where the last sum, the inner product of two positive semidefinite matrices, is 0 or more if
// h ≤ 2rν. All that this uses of f is the inequality, for the pairs of points Y_i.
//
// Sources: Dahlquist and Jeltsch, Generalized disks of contractivity for explicit and implicit
// Runge-Kutta methods (1979); Sherry, Celledoni, Ehrhardt, Murari, Owren and Schönlieb,
// Designing stable neural networks using convex analysis and ODEs (2024), called the paper.
package rungekutta
