package train

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/strength"
)

// sight is where a network with a guide learns in a deblurring as restore.Deblur makes it: in annealed step
// number step, or after all of them in a run with the radii for what it sees first, after so many
// steps of that.
type sight struct{ step, after int }

// longestAfter bounds sight.after: about as many steps the run takes in use.
const longestAfter = 6

// sight draws one. Half of them are in the run, whose fixed point is the result.
func (d *Deblurring) sight(g *generator) sight {
	if g.uniform() < 0.5 {
		return sight{step: g.below(strength.AnnealedSteps)}
	}
	return sight{strength.AnnealedSteps, g.below(longestAfter)}
}

// guidedPrior is a network with a guide. look has the guide set the radii for the image in in, and apply
// sets out to what the network, with those radii, makes of it.
type guidedPrior struct {
	tune        func(level float64) error
	look, apply func() error
}

// approach blurs clean images, adds the noise, and deblurs them as far as the sight, where it leaves in in
// what the network sees, tuned to its level, and with the radii that are frozen there.
func (p *plugAndPlay) approach(ctx context.Context, q *devicequeue.Queue, e exposure, clean, noise []float32, to sight, in, out backend.Buffer, phi guidedPrior) error {
	f, err := p.filters(e, p.tau)
	if err != nil {
		return err
	}
	if err := p.photograph(f, clean, noise); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i <= strength.AnnealedSteps {
			factor := strength.Annealed(e.level, i) // 1 for the run
			if f, err = p.filters(e, p.tau*factor*factor); err != nil {
				return err
			}
			if err := p.apply(f.data, p.fixed, p.y); err != nil {
				return err
			}
			q.Do(func() error { return phi.tune(factor * e.level) })
		}
		if err := p.dataStep(f, q, in); err != nil {
			return err
		}
		if i <= strength.AnnealedSteps {
			q.Do(phi.look)
		}
		if i == to.step+to.after {
			return q.Err
		}
		q.Do(phi.apply)
		q.Download(p.x, out)
		if q.Err != nil {
			return q.Err
		}
		clip(p.x)
	}
}
