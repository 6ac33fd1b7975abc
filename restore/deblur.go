package restore

import (
	"context"
	"errors"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/deblurring"
	"github.com/averaged/imaging/internal/outcome"
)

// Deblur removes a known blur, and noise, from an image (non-blind deconvolution); DeblurBlind removes one that is not
// known. It runs the plug-and-play iteration of package pnp,
//
//	x ← P_C(Φ(D(x))),
//
// where D is a step towards the photograph y, Φ is the denoiser, and C is the box [0,1]ⁿ unless Constraint says
// otherwise, or [0,16]ⁿ if samples are clipped at white. Report.Iteration.Run holds the certificate of the run. With a
// certified denoiser this iteration is proven to converge, and its residual is bounded.
//
// The default denoiser is the first of "original", "guided", "deblur", "general", "strict" and "tv" that the program
// has. Method, Weights or Prior choose another. Its strength follows from the noise level times Strength. The noise
// level is estimated unless Sigma gives it.
//
// With method "tv", D is the gradient step x − τ∇½‖Kx − y‖², where K is the blur (package deblur) and τ = 1/‖K‖².
// With Constraint(pnp.Unconstrained) the iteration solves min ½‖Kx − y‖² + λ·TV(x), where λ is Report.Weight. It has
// momentum with summable moves (pnp.Momentum).
//
// With a network, D is the proximal step argmin over v of ½‖v − x‖² + τ·½‖Kv − y‖² with τ = 10/‖K‖²
// (pnp.ProximalStep). A network with a guide uses a smaller τ for strong noise, at least 5/‖K‖². Φ is the network for
// noise of standard deviation 3.24·σ·(1 − 0.3·min(‖k‖₂², 1)) times Strength, where σ is the noise level and k the
// kernel; with another StepSize it is proportional to √τ. A network for one noise level is rescaled as in Denoise. A
// network that is nonexpansive but not averaged, such as one of Heun's method, is relaxed: 0.1·x + 0.9·Φ(x) is
// 0.9-averaged. An uncertified network runs too, and the certificate says that nothing is proven. Anderson's method
// accelerates the iteration, with a safeguard that keeps the proof (pnp.Anderson).
//
// A network with a guide runs once, frozen. Annealed steps for less and less noise move its start; nothing is proven
// of them. The guide then looks at the first data step and sets the radii of the run. They are for about half of that
// noise level, times Strength. What is proven of the run holds for any radii.
//
// A network without a guide runs twice. The first fixed point x₁ is too smooth, because the residual y − Kx₁ holds
// detail as well as noise. The second run starts at x₁ and is for the photograph y + (y − Kx₁) (Tukey's twicing,
// 1977; the first Bregman iteration of Osher, Burger, Goldfarb, Xu and Yin, 2005). Its proof is that of any run. Its
// strength follows the image that the first one shows (Adaptation).
//
// The noise level is estimated at frequencies that the kernel removes, and checked against the result. If both the
// residual and an estimate of the noise contradict a given one, the first run, or the annealed steps, are repeated at
// the estimate. A dark image is brightened for the run, unless light was blurred.
//
// With the boundary deblur.Unknown, the unknown image is larger than the photograph, and the result is cropped to it.
// The type of the result, invisible pixels and errors are as in Denoise. Invisible pixels are no data. An invalid kernel is an error too.
func Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Deblur(ctx, img, kernel)
}

// Deblur is the function Deblur with the options of r.
func (r *Restorer) Deblur(ctx context.Context, img image.Image, kernel deblur.Kernel, options ...Option) (image.Image, *Report, error) {
	blur := deblurring.OneKernel(kernel)
	return r.run(ctx, taskDeblur, img, options, underBlur(blur), removing(blur))
}

// removing is what a run does about a blur.
func removing(blur deblurring.Blur) solving {
	return func(ctx context.Context, c plan, p *opened, report *outcome.Report) ([]float32, error) {
		light, err := c.asked.showsLight(ctx, p.planes, blur.Kernels(), c.device.Description().Threads)
		if err != nil {
			return nil, err
		}
		job := c.deblurring()
		job.LinearLight, report.LinearLight = light, light
		out, err := job.Deblur(ctx, p.planes, blur, report)
		if errors.Is(err, deblurring.ErrBoundary) {
			err = &OptionError{Option: "Boundary", Value: c.boundary, Want: "deblur.Unknown, where the blur varies"}
		}
		return out, err
	}
}

// DeblurVarying is Deblur for a blur that varies over the frame, such as that of a camera that turned
// (deblur.Varying). The grid has one kernel for the middle of each part of the image. The options are those of
// Deblur, but the boundary must be deblur.Unknown. The rules of strength use the grid's typical kernel.
func DeblurVarying(ctx context.Context, img image.Image, grid deblur.Grid, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskDeblur, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DeblurVarying(ctx, img, grid)
}

// DeblurVarying is the function DeblurVarying with the options of r.
func (r *Restorer) DeblurVarying(ctx context.Context, img image.Image, grid deblur.Grid, options ...Option) (image.Image, *Report, error) {
	if err := grid.Check(); err != nil {
		return nil, nil, err
	}
	blur := deblurring.ManyKernels(grid)
	return r.run(ctx, taskDeblur, img, options, underBlur(blur), removing(blur))
}
