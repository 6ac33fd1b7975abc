// Package pnp solves inverse problems by fixed-point iterations on a denoiser (plug-and-play), and says what
// is proven about each run.
//
// Given measurements y = Kx + noise and a denoiser Φ, the plug-and-play proximal gradient iteration (Sherry
// et al., Algorithm 1) is
//
//	x ← T(x) = P_C(Φ(x − τ∇E(x))),   E(x) = ½‖Kx − y‖²,   ∇E(x) = Kᵀ(Kx − y),
//
// with P_C the projection onto a convex set C, here the box [0,1]ⁿ or the whole space. If Φ is averaged and τ
// < 2/‖K‖², T is averaged, and x converges to a fixed point of T if T has one; with the box it always has. A
// Certificate holds what follows for a given denoiser and operator.
//
// DataStep chooses the step before Φ: this gradient step, or the proximal map of τE for any τ. Acceleration
// chooses the next point after T(x). Every choice keeps the proof:
//
//	Plain     T(x_k)                              Krasnoselskii–Mann: residual O(1/√k)
//	Momentum  T(x_k) and a shortened move         the same, with summable errors
//	Halpern   (x₀ + (k+1)·T(x_k))/(k+2)           T nonexpansive is enough: residual O(1/k)
//	Anderson  a combination of T(xᵢ), safeguarded the same as Plain, with summable errors
//
// The package knows no particular denoiser or operator. They satisfy the interfaces Denoiser and
// operator.Linear.
package pnp

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// Denoiser is what an iteration needs of Φ. It has two of the methods of a denoiser of package denoise, so
// that a program's own denoiser needs no certificate and no device.
type Denoiser interface {
	// Apply sets dst = Φ(src), of the same shape and in other memory.
	Apply(ctx context.Context, dst, src backend.Buffer) error
	// Averagedness returns the α in (0, 1] for which Φ is α-averaged (1: nonexpansive), and whether that is
	// proven. Without a proof nothing is claimed of the iteration, and α is ignored.
	Averagedness() (alpha float64, proven bool)
}

// InexactDenoiser is a Denoiser that is itself computed by an iteration, such as a proximal map, and that
// bounds its error.
type InexactDenoiser interface {
	Denoiser
	// ApplyWithin sets dst to Φ(src) with an error of at most maxError in the Euclidean norm over all
	// elements, and returns a bound of the actual error. The bound is above maxError only if float32 allows
	// no smaller error.
	ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (errorBound float64, err error)
}

// ContractiveDenoiser is a Denoiser that can be proven to be a contraction. The iteration then has exactly
// one fixed point, and the residual bounds the distance to it (Report.ErrorBar).
type ContractiveDenoiser interface {
	Denoiser
	// Contraction returns a bound q in [0, 1] of the Lipschitz constant of Φ, and whether it is proven. It
	// adds to Averagedness only if it is below 1.
	Contraction() (q float64, proven bool)
}
