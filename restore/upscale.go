package restore

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/upscale"
)

// Antialias says which blur preceded the downsampling of the image that Upscale is given. The default is
// upscale.Bicubic. upscale.NoAntialias is for a Kernel that is the whole blur.
func Antialias(a upscale.Antialias) Option {
	return option{"Antialias", func(c *request) error {
		if a > upscale.NoAntialias {
			return fmt.Errorf("restore: antialias %d does not exist", a)
		}
		c.antialias = a
		return nil
	}}
}

// Upscale enlarges an image by a factor of 2, 3 or 4 (super-resolution). It looks for the image that gives img when
// scaled down, by the plug-and-play proximal gradient iteration of Deblur, where K is a blur followed by downsampling
// (upscale.Downsampling). It starts from cubic interpolation. Antialias sets the blur. Kernel adds one of the scene,
// in pixels of the result. Boundary says what lies beyond the frame: by default deblur.Reflect, close to what
// programs that scale images assume. With an asymmetric Kernel, deblur.Unknown has a better bound and takes fewer
// iterations.
//
// The noise level is estimated unless Sigma gives it, and the noise is removed too. The default prior is the first of
// "original", "guided", "general", "strict" and "tv" that the program has; Method, Weights or Prior choose another.
// Strength, Iterations, Tolerance, StepSize and Constraint act as in Deblur. A dark image is brightened for the run.
//
// The type of the result and errors are as in Denoise; the size is factor times that of img. Another factor is an
// error. Alpha is enlarged by cubic interpolation, and invisible pixels get colours that continue those of visible
// ones.
func Upscale(ctx context.Context, img image.Image, factor int, options ...Option) (image.Image, *Report, error) {
	r, err := forOne(taskUpscale, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.Upscale(ctx, img, factor)
}

// Upscale is the function Upscale with the options of r.
func (r *Restorer) Upscale(ctx context.Context, img image.Image, factor int, options ...Option) (image.Image, *Report, error) {
	if factor < 2 || factor > 4 {
		return nil, nil, fmt.Errorf("restore: upscaling by %d, want 2, 3 or 4", factor)
	}
	return r.run(ctx, taskUpscale, img, options, enlargedNoise,
		func(ctx context.Context, c plan, p *opened, report *outcome.Report) ([]float32, error) {
			kernel, err := c.asked.upscalingKernel(factor)
			if err != nil {
				return nil, err
			}
			k, err := upscale.NewDownsampling(c.device, kernel, c.boundary, factor, p.planes.Height, p.planes.Width)
			if err != nil {
				return nil, err
			}
			defer k.Free()
			out, err := inRange(p.planes, c, report, func(p *imageplanes.Planes, peak float64) ([]float32, error) {
				return solveUpscaling(ctx, p, k, peak, c, report)
			})
			if err != nil {
				return nil, err
			}
			return out, p.enlarge(factor, c.device.Description().Threads)
		})
}

// upscalingKernel is the blur before an image was scaled down.
func (c *request) upscalingKernel(factor int) (deblur.Kernel, error) {
	if c.antialias == upscale.NoAntialias && c.kernel == nil {
		return deblur.Kernel{}, errors.New("restore: upscale.NoAntialias needs a Kernel, which says how the image was blurred before it was scaled down; if it was not, its pixels lie far apart in the result, which is a case for Inpaint")
	}
	kernel, err := c.antialias.Kernel(factor)
	if err != nil || c.kernel == nil {
		return kernel, err
	}
	return deblur.Convolve(*c.kernel, kernel)
}

// enlargedNoise measures the noise of an image that is to be enlarged. One in which the map has no noise has none. Its level is
// that of the map if that is coarse noise of noise.MinCoarse and noise.Coarser times the white part, times noise.Enlarged: what
// a camera has smoothed has little white noise left. Otherwise it is that of the white part. In an image of less than
// noise.MinSide² each of both may be detail, and the level is the lower one.
func enlargedNoise(m denoising.Meter, ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
	e, err := m.Map(ctx, p)
	if err != nil || e.Kind == outcome.NoNoise {
		return e, err
	}
	white, err := denoising.White(p)
	if p.Height*p.Width < noise.MinSide*noise.MinSide {
		white.Sigma = min(white.Sigma, e.Sigma)
	} else if e.Kind == outcome.CoarseNoise && e.Sigma >= max(noise.MinCoarse, noise.Coarser*white.Sigma) {
		e.Sigma *= noise.Enlarged
		return e, err
	}
	return white, err
}

func solveUpscaling(ctx context.Context, p *imageplanes.Planes, k *upscale.Downsampling, peak float64, c plan, report *outcome.Report) ([]float32, error) {
	factor := k.Factor()
	out := make([]float32, len(p.Pix)*factor*factor)
	if err := upscale.Interpolate(out, p.Pix, p.Height, p.Width, factor, c.device.Description().Threads); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h, w := k.Domain()
	start := make([]float32, p.Channels*h*w)
	if err := k.Extend(start, out); err != nil {
		return nil, err
	}
	problem := inverse.Problem{K: k, Channels: p.Channels, Y: p.Pix, Start: start, Prior: inverse.Upscaling(report.Noise.Sigma, factor, p.Channels), Peak: peak}
	whole, err := problem.Solve(ctx, c.device, c.choice, c.iteration(), report)
	if err != nil {
		return nil, err
	}
	return out, k.Crop(out, whole)
}

// enlarge makes the picture, without its samples, one of the fine size.
func (p *opened) enlarge(factor, threads int) (err error) {
	h, w := p.planes.Height, p.planes.Width
	enlarged := &imageplanes.Planes{Width: factor * w, Height: factor * h, Channels: p.planes.Channels}
	if p.planes.Alpha != nil {
		if enlarged.Alpha, err = imageplanes.EnlargeAlpha(p.planes.Alpha, h, w, factor, threads); err != nil {
			return err
		}
	}
	p.planes, p.hidden = enlarged, nil
	if p.source != nil {
		p.source.Width, p.source.Height, p.source.Alpha = enlarged.Width, enlarged.Height, enlarged.Alpha
	}
	return nil
}
