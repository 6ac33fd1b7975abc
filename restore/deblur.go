package restore

import (
	"context"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/outcome"
)

// Deblur removes a known blur, and noise, from an image (non-blind
// deconvolution) by a plug-and-play iteration of package pnp:
//
//	x ← P_C(Φ(D(x))),
//
// with D a step towards the photograph y, Φ the denoiser of Method, and C the box [0,1]ⁿ
// unless options say otherwise. The report holds the certificate of the run: with a
// certified denoiser convergence of this iteration is proven, and its residual bounded.
//
// The denoiser is DefaultPrior unless Method names another or weights are given. Its
// strength follows from the noise level, which is estimated unless Sigma gives it, and is
// multiplied by Strength.
//
// With method "tv" D is a gradient step, x − τ∇½‖Kx − y‖² with K the blur (package deblur)
// and τ = 1/‖K‖². With Constraint(pnp.Unconstrained) the iteration solves
// min ½‖Kx − y‖² + λ·TV(x), and Report.Weight is λ; it has momentum, whose moves are kept
// summable (pnp.Momentum).
//
// With a network D is a proximal step, argmin over v of ½‖v − x‖² + τ·½‖Kv − y‖² with
// τ = 10/‖K‖² (pnp.ProximalStep), down to 5/‖K‖² for strong noise if the network has a guide, and
// Φ is what Denoise would apply for the noise level DeblurLevel times Strength: Φ_s(x) = s·Φ(x/s)
// with s that level over the one that the network is for, or the one for that level of a network
// for all of them. One that is
// proven to be nonexpansive but not averaged, such as of Heun's method, is relaxed:
// 0.1·x + 0.9·Φ_s(x) is 0.9-averaged. With one of which nothing is proven the iteration
// runs all the same, and the certificate says that nothing is promised. It is accelerated
// by Anderson's method, with a safeguard that keeps the proof (pnp.Anderson).
//
// A network without a guide is run twice. One with a guide is run once, after steps like the
// iteration's for less and less noise, each with radii of its own: nothing is proven of them,
// and they say where the run begins. For it the network is frozen, with the radii that the guide
// gives to D(x₀), x₀ where the run begins and D(x₀) what the network then sees first; it is for
// about half of DeblurLevel, and Strength is a factor on the radii. What is proven of the run is proven
// for the radii that are frozen in it, whatever they are.
//
// Of one without a guide the fixed point x₁ of the first run is too smooth: the residual
// y − Kx₁ holds noise, and detail that was taken for noise. The second run, from x₁, is for
// the photograph y + (y − Kx₁), in which that detail counts twice (Tukey's twicing, 1977;
// the first step of the Bregman iteration of Osher, Burger, Goldfarb, Xu and Yin, 2005). It is
// a run like any other, with the same proof, whatever x₁ is; Report.Iteration.Run is about it.
// That run follows the image that the first one shows (Adaptation).
//
// With a guide or without, the size of the residual tells whether the noise level that was given
// is right: where both it and an estimate of the noise say that it is far from that, the first run,
// or those steps, are made again for the estimate (Report.Network), so that a noise
// level that is wrong by a factor of two costs little. Noise is estimated at frequencies that the kernel removes. Whoever wants a smoother or a sharper result has Strength.
//
// What is said of the result of Denoise holds here too. With the boundary
// deblur.Unknown the unknown image is larger than the photograph; the part that
// the photograph shows is returned.
func Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Deblur(ctx, img, kernel)
}

// Deblur does what the function Deblur does.
func (r *Restorer) Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	blur := deblurring.OneKernel(kernel)
	return r.run(ctx, taskDeblur, img, options, underBlur(blur),
		func(ctx context.Context, c plan, p *picture, report *outcome.Report) ([]float32, error) {
			return c.deblurring().Deblur(ctx, p.planar.planes(), blur, report)
		})
}

// DeblurVarying is Deblur for a blur that varies over the frame (deblur.Varying), as of a camera that turned: the
// grid has a kernel for the middle of each part of the image. The options are those of Deblur; the boundary is
// deblur.Unknown, and no other. The rules of strength go by the grid's typical kernel.
func DeblurVarying(ctx context.Context, img image.Image, grid deblur.Grid, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DeblurVarying(ctx, img, grid)
}

// DeblurVarying does what the function DeblurVarying does.
func (r *Restorer) DeblurVarying(ctx context.Context, img image.Image, grid deblur.Grid, options ...Option) (image.Image, *Report, error) {
	if err := grid.Check(); err != nil {
		return nil, nil, err
	}
	blur := deblurring.ManyKernels(grid)
	return r.run(ctx, taskDeblur, img, options, underBlur(blur),
		func(ctx context.Context, c plan, p *picture, report *outcome.Report) ([]float32, error) {
			if c.boundary != deblur.Unknown {
				return nil, &OptionError{Option: "Boundary", Value: c.boundary, Want: "deblur.Unknown, where the blur varies"}
			}
			return c.deblurring().Deblur(ctx, p.planar.planes(), blur, report)
		})
}
