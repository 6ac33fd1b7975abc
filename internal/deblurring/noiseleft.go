package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/noiselevel"
)

// A run for too little noise fits what it does not know of: noise under a blur comes back far stronger and coarse, as
// inverting the blur makes it, where the right strength leaves next to none. A camera that smooths its noise makes it
// look like what is blurred, so that the estimate misses it, and the result shows it.
//
// Texture looks like noise to any measure. Noise goes as the level rises, and texture stays.
const (
	cleanBelow, cleanRatio = 0.004, 0.5 // a result has no noise below that, and below as many times the level of its run
	noTexture              = 0.03       // more is no texture in most photographs
	louder, farLouder      = 2.0, 4.0   // factors on the level of a run that is made again
	farNoisier             = 4.0        // times as noisy as the run was for, for the latter
	quieter                = 2.0        // factor by which noise falls from run to run
	maxRaises              = 3          // of the level
	afterwards             = 1.5        // factor when the noise is gone: too high a level costs less than too low a one
)

// noiseLeft is what the results of runs for an estimated noise level hold.
type noiseLeft struct {
	first   float64   // level of noise in the first result that was noisy, 0 for none
	last    float64   // the same of the one before
	raised  []float64 // factors by which the level was raised
	settled bool      // no result is looked at any more
}

// judge returns the factor on the level of the next run, and whether that is the same run again, after a run for noise
// of sigma whose result holds noise of a level.
func (n *noiseLeft) judge(level, sigma float64) (factor float64, again bool) {
	times := len(n.raised)
	if n.settled {
		return 1, false
	}
	clean := level <= max(cleanBelow, cleanRatio*sigma)
	switch {
	case clean && times == 0:
		return 1, false
	case times == 0:
		n.first = level
	case level > cleanBelow && level <= noTexture && level*quieter > n.last:
		n.settled = true
		return 1 / n.raised[times-1], true
	case clean:
		n.settled = true
		return afterwards, false
	case times == maxRaises:
		n.settled = true
		if level*quieter*quieter <= n.first {
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

// noiseIn is the level of the noise of an image: of its white part, at full or at half resolution.
func (r *retuning) noiseIn(ctx context.Context, x backend.Buffer) (float64, error) {
	s := x.Shape()
	p := imageplanes.New(s.C, s.H, s.W)
	if err := r.dev.Download(p.Pix, x); err != nil {
		return 0, err
	}
	fine, err := noiselevel.Estimate(p.Pix, s.C, s.H, s.W)
	if err != nil || s.H < 2 || s.W < 2 {
		return fine.Sigma, err
	}
	half := p.Halved()
	coarse, err := noiselevel.Estimate(half.Pix, s.C, half.Height, half.Width)
	return max(fine.Sigma, coarse.Sigma), err
}
