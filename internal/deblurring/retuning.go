package deblurring

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/pnp"
)

// retuning chooses the network of the second run by what the one before left of the
// photograph, y − Kx₁.
//
// Two things test a noise level that was given: that root mean square, and the estimate of the noise. Neither tells noise from
// texture by itself. If both contradict the level, the first run is repeated at the estimated level. If what it leaves contradicts the
// estimate, the first run is repeated at the given level. So a level that is about right is kept, and one that is wrong by a factor of
// two costs little.
//
// The second run is for another level by the factor of adaptation.
type retuning struct {
	dev     backend.Device
	planar  *imageplanes.Planes // the photograph
	blur    Blur
	adapts  bool               // the strength is to follow the photograph
	given   bool               // the noise level was given, not estimated
	sigma   float64            // noise level that the run before was for
	factor  float64            // of the estimate over the one that was given
	network *networks.Fitted   // of the first run, which is the caller's
	others  []*networks.Fitted // for other levels than that, where it is doubted
	adapted *networks.Fitted   // of the second run; or nil
	current *networks.Fitted   // one of these
	first   float64            // noise level that network is for
	// exposure is what the photograph was brightened by. What is told of levels is about the photograph before that.
	exposure float64

	adaptation float64   // of the second run, 0 where there is none
	left       []float64 // root mean square of what each run left
}

// next returns the network for the run to come, nil for the same as before, and whether that is
// to be the first run again. x is the result of the last run, and left the root mean square of
// what it left.
func (r *retuning) next(ctx context.Context, x backend.Buffer, left float64) (phi pnp.Denoiser, again bool, err error) {
	r.left = append(r.left, left)
	test := r.raise
	if r.given {
		test = r.test
	}
	if doubted, err := test(ctx, left/r.sigma); err != nil || doubted {
		return r.current.Denoiser, true, err
	}
	if !r.adapts {
		return r.current.Denoiser, false, nil
	}
	first, err := imageplanes.MeanOnDevice(r.dev, x)
	if err != nil {
		return nil, false, err
	}
	r.adaptation = adaptation(first, r.blur.typical.Energy())
	if r.adapted, err = r.current.Retuned(ctx, r.planar.Channels, r.adaptation); err != nil {
		return nil, false, err
	}
	r.current = r.adapted
	return r.current.Denoiser, false, nil
}

// raise puts a stronger network in place of the current one where a run for an estimated noise
// level left far more of the photograph than that: the kernel is wrong, or the noise not white.
func (r *retuning) raise(ctx context.Context, left float64) (doubted bool, err error) {
	if left <= r.leaving().Max || r.sigma >= strength.MaxRatio*r.first {
		return false, nil
	}
	return true, r.change(ctx, min(left/r.leaving().Usual*r.sigma, strength.MaxRatio*r.first))
}

// change makes the network for a noise level the current one.
func (r *retuning) change(ctx context.Context, sigma float64) error {
	other, err := r.network.Retuned(ctx, r.planar.Channels, sigma/r.first)
	if err != nil {
		return err
	}
	r.others = append(r.others, other)
	r.current, r.sigma = other, sigma
	return nil
}

// test puts another network in place of the current one where the noise level is doubted.
// left is what is left, in units of that level.
func (r *retuning) test(ctx context.Context, left float64) (doubted bool, err error) {
	switch {
	case len(r.others) == 0:
		estimate, err := r.blur.Noise(ctx, r.planar, r.dev.Description().Threads)
		if err != nil {
			return false, err
		}
		r.factor = min(max(disturbance(r.planar, estimate.Sigma, r.blur.typical.Energy())/r.sigma, 1/strength.MaxRatio), strength.MaxRatio)
		if !r.leaving().Doubts(left, r.factor, estimate.Reliable) {
			return false, nil
		}
		if err := r.change(ctx, r.factor*r.sigma); err != nil {
			return false, err
		}
	case r.current != r.network && !r.leaving().Believes(left, r.factor):
		r.current, r.sigma = r.network, r.first
	default:
		return false, nil
	}
	return true, nil
}

// explain says in the report what became of the noise level.
func (r *retuning) explain(report *outcome.Report) {
	if r.sigma == r.first {
		return
	}
	report.Noise.Disturbance = r.sigma
	first, left, used := r.first/r.exposure, r.left[0]/r.exposure, r.sigma/r.exposure
	doubt := fmt.Sprintf(
		"a run for noise of %.2g left %.2g of the photograph, so the kernel is not exact, or the noise not white: the strength is for %.2g",
		first, left, used)
	if r.given {
		report.Noise.Sigma = r.sigma
		doubt = fmt.Sprintf(
			"sigma: %.3g was given, but a run for it left %.2g of the photograph and the noise is estimated otherwise: %.3g was used in its place",
			first, left, used)
	}
	report.Doubts = append(report.Doubts, outcome.Doubt{Text: doubt})
}

// looks is how often a guide set radii.
func (r *retuning) looks() int {
	n := r.network.Looks
	for _, f := range r.others {
		n += f.Looks
	}
	return n
}

func (r *retuning) free() {
	for _, f := range append(r.others, r.adapted) {
		if f != nil {
			f.Free()
		}
	}
}

// leaving is that of the network.
func (r *retuning) leaving() strength.Leaving {
	if r.network.Network.Guided() {
		return strength.LeftGuided
	}
	return strength.LeftUnguided
}
