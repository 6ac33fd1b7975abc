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

// sight draws one. Half of them are in the run, whose fixed point is the result; with terms of the series
// three of four, and all of these are near it.
func (d *Deblurring) sight(g *generator) sight {
	annealed := 0.5
	if d.Terms > 0 {
		annealed = 0.25
	}
	if g.uniform() < annealed {
		return sight{step: g.below(strength.AnnealedSteps)}
	}
	after := g.below(longestAfter)
	if d.Terms > 0 {
		after += longestAfter
	}
	return sight{strength.AnnealedSteps, after}
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
	f, err := p.filters(e, e.step)
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
			if f, err = p.filters(e, e.step*factor*factor); err != nil {
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
			if p.own = nil; to.step == strength.AnnealedSteps {
				p.own = f.own
			}
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
