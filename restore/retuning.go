package restore

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/pnp"
)

// retuning chooses the network of a run of twicing by what the one before left of the
// photograph, y − Kx₁.
//
// A noise level that was given is tested by that and by the estimate of the noise, of which
// neither tells noise from texture by itself. Where both speak against the level, the first run
// is made again for the estimate, and where what that one leaves speaks against the estimate,
// again for what was given. So a level that is about right is kept, and one that is wrong by a
// factor of two costs little.
//
// The second run is for another level by the factor of Planar.deblurringAdaptation.
type retuning struct {
	dev     backend.Device
	planar  *Planar // the photograph
	energy  float64 // ‖k‖² of the kernel, 0 if the strength is not to follow the photograph
	given   bool    // the noise level was given, not estimated
	sigma   float64 // noise level that the run before was for
	factor  float64 // of the estimate over the one that was given
	network *fitted // of the first run, which is the caller's
	other   *fitted // for the estimate, where the level is doubted; or nil
	adapted *fitted // of the second run; or nil
	current *fitted // one of these

	adaptation float64   // of the second run, 0 where there is none
	left       []float64 // root mean square of what each run left
}

// next returns the network for the run to come, nil for the same as before, and whether that is
// to be the first run again. x is the result of the last run, and left the root mean square of
// what it left.
func (r *retuning) next(ctx context.Context, x backend.Buffer, left float64) (phi pnp.Denoiser, again bool, err error) {
	r.left = append(r.left, left)
	if r.given {
		if doubted, err := r.test(ctx, left/r.sigma); err != nil || doubted {
			return r.current.Denoiser, true, err
		}
	}
	if r.energy == 0 {
		return nil, false, nil
	}
	first, err := brightness(r.dev, x)
	if err != nil {
		return nil, false, err
	}
	r.adaptation = first.deblurringAdaptation(r.energy)
	if r.adapted, err = r.current.retuned(ctx, r.planar.Channels, r.adaptation); err != nil {
		return nil, false, err
	}
	r.current = r.adapted
	return r.current.Denoiser, false, nil
}

// brightness returns the mean of the channels.
func brightness(dev backend.Device, x backend.Buffer) (*Planar, error) {
	s := x.Shape()
	mean := NewPlanar(1, s.H, s.W)
	to, fetch, err := borrow(dev, backend.Image(1, s.H, s.W), mean.Pix)
	if err != nil {
		return nil, err
	}
	defer to.Free()
	terms := make([]backend.Term, s.C)
	for c := range terms {
		channel, err := dev.Channels(x, c, 1)
		if err != nil {
			return nil, err
		}
		terms[c] = backend.Term{A: 1 / float32(s.C), X: channel}
	}
	if err := dev.LinearCombination(to, terms...); err != nil {
		return nil, err
	}
	return mean, fetch()
}

// test puts another network in the place of the current one where the noise level is doubted.
// left is what is left, in units of that level.
func (r *retuning) test(ctx context.Context, left float64) (doubted bool, err error) {
	switch {
	case r.other == nil:
		estimate, err := r.planar.whiteNoise()
		if err != nil {
			return false, err
		}
		r.factor = min(max(estimate.Sigma/r.sigma, 1/mostRatio), mostRatio)
		if !doubtful(left, r.factor, estimate.Reliable) {
			return false, nil
		}
		if r.other, err = r.network.retuned(ctx, r.planar.Channels, r.factor); err != nil {
			return false, err
		}
		r.current, r.sigma = r.other, r.factor*r.sigma
	case r.current == r.other && !holds(left, r.factor):
		r.current, r.sigma = r.network, r.sigma/r.factor
	default:
		return false, nil
	}
	return true, nil
}

func (r *retuning) free() {
	for _, f := range []*fitted{r.adapted, r.other} {
		if f != nil {
			f.free()
		}
	}
}

// What a run for the right noise level leaves of the photographs of val under camera shakes
// is 1.02 to 1.43 times the noise, for half of it 1.80 to 2.08 times what was said and for twice it
// 0.53 to 1.13 times; what is estimated is nearly always within 0.98 and 1.02 of the truth.
const (
	leastLeft = 0.95
	usualLeft = 1.25
	mostLeft  = 1.6

	leastRight = 0.95 // of an estimate that says nothing against a level
	mostRight  = 1.25
	mostRatio  = 4.0 // an estimate beyond it is taken for that
)

// doubtful says whether a noise level should be tested against an estimate: a run for it left left
// times as much of the photograph, and estimated times as much was estimated.
func doubtful(left, estimated float64, reliable bool) bool {
	switch {
	case estimated < leastRight:
		return left < usualLeft
	case estimated > mostRight:
		// An estimate that is not reliable is most often an upper bound.
		return left > mostLeft || reliable && left > usualLeft
	}
	return false
}

// holds says whether an estimate, factor times the doubted level, is believed where a run for it
// left left times as much as it says.
func holds(left, factor float64) bool {
	if factor < 1 {
		return left < mostLeft
	}
	return left > leastLeft
}
