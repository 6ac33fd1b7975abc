package deblurring

import (
	"context"

	"github.com/averaged/imaging/internal/coarsenoise"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/strength"
)

// Noise measures the noise of a photograph under the blur. Where it is coarse the level is that of white noise as strong
// as it is at the lowest frequency that is measured, along the axis where that is highest, by strength.CoarseNoise: a
// denoiser knows noise that is as strong at all frequencies and along all axes, and leaves what is stronger.
func (b Blur) Noise(ctx context.Context, p *imageplanes.Planes, threads int) (outcome.Estimate, error) {
	white, err := denoising.White(p)
	if err != nil {
		return white, err
	}
	var planes [][]float32
	for c := range p.Channels {
		planes = append(planes, p.Plane(c))
	}
	pool := parallel.New(threads)
	defer pool.Close()
	n, err := coarsenoise.Measure(ctx, pool, planes, p.Height, p.Width, b.kernels)
	if err != nil || !n.Coarse(white.InChannels) {
		return white, err
	}
	return outcome.Estimate{Kind: outcome.CoarseNoise, Sigma: strength.CoarseNoise(n.Lowest), Reliable: true}, nil
}
