package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/nn/tile"
)

// explicit is a network of steps of an explicit method, which a device makes in one
// call.
type explicit struct {
	dev     backend.Device
	tableau rungekutta.Tableau
	blocks  []deviceBlock
	steps   []backend.FlowStep
	reach   tile.Reach
}

func newExplicit(dev backend.Device, t rungekutta.Tableau, blocks []deviceBlock) *explicit {
	e := &explicit{dev: dev, tableau: t, blocks: blocks}
	for _, b := range blocks {
		step := backend.FlowStep{Filter: b.filter, Bias: b.bias, Activation: b.activation, Radius: b.balls, Size: b.step}
		if !t.IsEuler() {
			step.Tableau = backend.Tableau{A: t.A, B: t.B}
		}
		for range b.steps {
			e.steps = append(e.steps, step)
		}
		for range 2 * b.steps * t.Stages() {
			e.reach = append(e.reach, b.radius())
		}
	}
	return e
}

// exactly is the error of what is a formula, except for rounding.
func exactly() float64 { return 0 }

func (e *explicit) plan(backend.Buffer, backend.Shape, float64) (tile.Plan, func() float64, error) {
	return e, exactly, nil
}

func (e *explicit) Apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	return e.dev.GradientFlow(ctx, dst, src, r, e.steps)
}

// Side is the whole image: the device bounds the scratch memory of one call by itself,
// or refuses it.
func (e *explicit) Side(s backend.Shape, _ int) int { return max(s.H, s.W) }

// TakesWhole implements tile.Whole.
func (e *explicit) TakesWhole(backend.Shape) bool {
	return e.dev.MakesShuffledFlow(e.steps, nil)
}

// ApplyWhole implements tile.Whole.
func (e *explicit) ApplyWhole(ctx context.Context, dst, src backend.Buffer, factor int) error {
	return e.dev.ShuffledFlow(ctx, dst, src, factor, e.steps, nil)
}

func (e *explicit) Layers() tile.Reach { return e.reach }

func (e *explicit) free() { freeDeviceBlocks(e.blocks) }
