package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// RangePoint is an iteration of RangeTest.
type RangePoint struct {
	LearningRate float64
	Loss         float64 // of the iteration
	Smoothed     float64 // a moving average of the loss, without bias towards the beginning
}

// RangeReport is the result of RangeTest.
type RangeReport struct {
	Points []RangePoint
	// Maximum is the rate for a schedule's maximum: the one with the minimum of the smoothed loss, beyond
	// which it rises. Minimum is a tenth of it, as Smith and Topin suggest for the beginning.
	Minimum, Maximum float64
	// Diverged tells that the test ended early because the loss had risen far above its minimum.
	Diverged bool
}

// The loss is averaged over about rangeMemory iterations, and rangeExcess times its least
// ends the test.
const (
	rangeMemory = 20
	rangeExcess = 4
)

// RangeTest finds the learning rates of a schedule as Smith and Topin (2018) do: it trains a new network of
// the configuration while the rate rises from one value to another by equal factors over the iterations, and
// finds where the loss falls and where it begins to rise. The schedule and iterations of the configuration
// are ignored.
func RangeTest(ctx context.Context, dev backend.Device, c Config, training *Pictures, from, to float64, iterations int) (RangeReport, error) {
	c.Schedule = Schedule{Name: Exponential, Minimum: from, Maximum: to}
	c.Iterations, c.AverageDecay = iterations, 0
	if err := cmp.Or(c.Check(), ctx.Err()); err != nil {
		return RangeReport{}, err
	}
	t, err := newTrainer(dev, c, training)
	if err != nil {
		return RangeReport{}, err
	}
	defer t.release()
	if err := t.initialise(nil); err != nil {
		return RangeReport{}, err
	}
	var r RangeReport
	sum, least := 0.0, math.Inf(1)
	const keep = 1 - 1./rangeMemory
	for i := range iterations {
		step, err := t.iterate(ctx)
		if errors.Is(err, ErrDiverged) {
			r.Diverged = true
			break
		}
		if err != nil {
			return RangeReport{}, err
		}
		sum = keep*sum + (1-keep)*step.loss
		p := RangePoint{step.rate, step.loss, sum / (1 - math.Pow(keep, float64(i+1)))}
		r.Points = append(r.Points, p)
		if p.Smoothed < least {
			least, r.Maximum = p.Smoothed, p.LearningRate
		}
		if p.Smoothed > rangeExcess*least {
			r.Diverged = true
			break
		}
	}
	if len(r.Points) < 2 {
		return RangeReport{}, fmt.Errorf("the loss diverged at the learning rate %v already: begin with a smaller one", from)
	}
	r.Minimum = r.Maximum / 10
	return r, nil
}
