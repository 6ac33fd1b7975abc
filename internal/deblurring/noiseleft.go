package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
)

// A run for too little noise fits what it does not know of: noise under a blur comes back far stronger and coarse, as
// inverting the blur makes it, where the right strength leaves next to none. A camera that smooths its noise makes it
// look like what is blurred, so that the estimate misses it, and the result shows it.
//
// In colour results for the right level hold 0.000 to 0.023 by denoising.Meter, which is texture, for weak noise up to
// 0.019, and of ten photographs whose noise was missed 0.025 to 0.19, 4 to 53 times what the run was for. As the level
// rises noise goes all at once, and texture stays. Of grey images, which have no colour to tell by, the result says
// nothing: texture is up to 0.06 there.
const (
	noisyFrom, noisyRatio = 0.022, 2.0 // a result is noisy above that, and above as many times the level of the run
	stillNoisy            = 0.012      // the result of a run that was made again is, above that
	noTexture             = 0.03       // more is no texture in most photographs
	louder, farLouder     = 2.0, 4.0   // factors of the level for which a run is made again
	farNoisier            = 20.0       // times as noisy as the run was for, for the latter
	quieter, mostQuieter  = 2.0, 4.0   // by which the noise has to fall, and after mostLouder, or it is texture
	mostLouder            = 3          // how often the level is raised at most
	afterwards            = 1.5        // factor when the noise is gone: too much costs less than too little
)

// noiseLeft is what the results of runs for an estimated noise level hold.
type noiseLeft struct {
	first   float64   // level of noise in the first result that was noisy, 0 for none
	last    float64   // the same of the one before
	raised  []float64 // factors by which the level was raised
	settled bool      // no result is looked at any more
}

// judge returns the factor by which the level of the next run is another, 1 for none, and whether it is to be made
// again, where the result of one for noise of sigma holds noise of a level.
func (n *noiseLeft) judge(level, sigma float64) (factor float64, again bool) {
	times := len(n.raised)
	switch {
	case n.settled:
		return 1, false
	case times == 0 && (level <= noisyFrom || level <= noisyRatio*sigma):
		return 1, false
	case times == 0:
		n.first = level
	case level <= stillNoisy:
		n.settled = true
		return afterwards, false
	case level <= noTexture && level*quieter > n.last:
		n.settled = true
		return 1 / n.raised[times-1], true
	case times == mostLouder:
		n.settled = true
		if level*mostQuieter <= n.first {
			return afterwards, false
		}
		factor = 1
		for _, f := range n.raised {
			factor /= f
		}
		return factor, true
	}
	n.last, factor = level, louder
	if level > farNoisier*sigma {
		factor = farLouder
	}
	n.raised = append(n.raised, factor)
	return factor, true
}

// quieten puts the network for more noise in the place of the current one where the result x of a run is noisy, and
// says whether the run is to be made again. Where that did not help it puts the one before back.
func (r *retuning) quieten(ctx context.Context, x backend.Buffer) (again bool, err error) {
	if r.noise.settled || r.planar.Channels == 1 {
		return false, nil
	}
	level, err := r.noiseIn(ctx, x)
	if err != nil {
		return false, err
	}
	factor, again := r.noise.judge(level, r.sigma)
	if factor != 1 {
		err = r.change(ctx, factor*r.sigma)
	}
	return again, err
}

// noiseIn is the level of the noise of an image (denoising.Meter).
func (r *retuning) noiseIn(ctx context.Context, x backend.Buffer) (float64, error) {
	s := x.Shape()
	p := imageplanes.New(s.C, s.H, s.W)
	if err := r.dev.Download(p.Pix, x); err != nil {
		return 0, err
	}
	e, err := r.meter.Map(ctx, p)
	return e.Sigma, err
}
