// Package pullback goes through the steps of an averaged network and back: the one place where
// their derivatives are made, for training and for attacks.
//
// # Forward
//
// A step of size h along −Aᵀσ(Az + b) with s stages is, for i = 1 … s,
//
//	Y_i = z − h Σ_j a_ij k_j,   u_i = σ(AY_i + b),   k_i = Aᵀu_i,   z⁺ = z − h Σ_i b_i k_i.
//
// # Backward
//
// Let g be the gradient of a function with respect to z⁺, and that with respect to k_i be
// −h·κ_i. Backward through the stages, i = s … 1,
//
//	κ_i  = b_i g + Σ_{l>i} a_li η_l
//	p_i  = σ'(AY_i + b) ⊙ Aκ_i
//	η_i  = −h Aᵀp_i                               with respect to Y_i
//	∂A  += −h (∂⟨p_i, AY_i⟩/∂A + ∂⟨u_i, Aκ_i⟩/∂A)      through A and through Aᵀ
//	∂b  += −h Σ p_i                               over pixels
//
// and the gradient with respect to z is g + Σ η_i. The factor −h is left to the scale of the
// operations, so that it costs no pass over memory; the gradients of b and of the radii lack
// it. Y_i and u_i are kept from the way forward, two arrays a stage, and σ' is read off u_i;
// or three with AY_i + b, where σ is a projection onto balls, whose radii have a gradient like
// that of b.
package pullback
