// Package rounding bounds what float32 adds to averaged networks: ‖fl(Φ(x)) − Φ(x)‖ for every
// image x of a given norm, of any size. It is mathematics on filters, biases, radii and steps in
// float64, and knows of a device only which algorithm its convolutions are
// (backend.ConvolutionAlgorithm) and that it rounds as backend.Arithmetic says.
//
// # Norms
//
// Errors are Euclidean norms over all elements. They grow with the size of an image like the
// norm of the image does, so that everything here is per pixel: divided by the root of the
// number of pixels on which the blocks work. An error of ε there is a root mean square error
// of ε/√C over the samples of an image with C channels.
//
// # Convolutions
//
// Every operation is fl(a∘b) = (a∘b)(1+δ) with |δ| ≤ u = 2⁻²⁴. What an error that is made on
// the way becomes in the result is a linear map of it, so that to first order
//
//	‖fl(Az) − Az‖ ≤ u Σ ‖L_g‖·‖V_g‖·‖z‖
//
// over groups g of operations of the same kind at all places of the image, where V_g is the
// map from z to the values that the group rounds and L_g the map from there to the result. This is
// a running error analysis (Wilkinson 1963; Higham 2002, section 3.3) with operator norms in
// place of the numbers of one run. The groups of a sum over channels are its partial sums,
// of which none is a larger operator than the sum: they are A restricted to the first
// channels. Errors of second order are covered by a factor (growth).
//
// For an algorithm on tiles (backend.TileAlgorithm) let p be the pairs of points, a_p the tile that
// the output transform makes of a 1 at p, U_p the matrix of the transformed filter and V_p z the
// transformed patches. For any positive s_p
//
//	‖Σ_p a_p ⊗ (X_p V_p z)‖ ≤ ‖(‖X_p‖ s_p a_p)_p‖ · ‖(V_p/s_p)_p‖ · ‖z‖,
//
// the first a matrix with the columns a_p, the second a matrix of the input transform whose
// patches overlap: sample j of a patch that another patch shares counts with weight ½ in either,
// which makes Σ over patches of the weighted squares ‖z‖². X_p is U_p with an error of its own,
// or its partial sums. Both are spectral norms of small matrices (matrix.go).
//
// # Blocks
//
// A block's exact step is nonexpansive, so errors of earlier steps are not enlarged: those of
// the steps add up. A step of several stages is followed stage by stage. A projection onto
// balls, LeakyReLU and the clip have the Lipschitz constant 1.
//
// # Range
//
// Check refuses a network in which a number could overflow for an image of Euclidean norm
// MaxNorm and of up to MaxPixels pixels. Underflow is in the bounds: every operation may be off
// by 2⁻¹⁵⁰, and a norm whose squares underflow by the root of that.
package rounding
