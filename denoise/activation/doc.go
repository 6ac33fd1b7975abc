// Package activation has the activations σ that networks may use, and what theorems need of
// them.
//
// An activation that is applied to every element, as the paper's are, is the gradient of a
// convex function if it increases, and L is its largest slope. A projection of vectors of
// channels onto balls (Balls) is one with L = 1. The proofs about a block need no more of σ than
// that. For with f(z) = −Aᵀσ(Az + b) = −∇g(z), g(z) = ψ(Az + b) and σ = ∇ψ,
//
//	⟨f(x) − f(y), x − y⟩ = −⟨σ(u) − σ(v), u − v⟩    where u = Ax + b, v = Ay + b
//	                     ≤ −‖σ(u) − σ(v)‖²/L        (Baillon and Haddad 1977)
//	                     ≤ −ν‖f(x) − f(y)‖²         with ν = 1/(‖A‖²L),
//
// so that ∇g is ν-cocoercive (Bauschke and Combettes 2017, corollary 18.17 and proposition
// 4.12). Packages rungekutta and averaged go on from there.
package activation
